// SPDX-License-Identifier: GPL-2.0-only
/*
 * sample_files.c - see sample_files.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/caches.h"
#include "core/clock.h"
#include "core/random.h"
#include "measure/phase.h"
#include "workloads/sample_files/sample_files.h"

#define WORKLOAD "sample-files"

enum { PHASE_WRITE, PHASE_SYNC, PHASES };

static const char *const phase_names[PHASES] = {
	[PHASE_WRITE] = "write",
	[PHASE_SYNC] = "sync",
};

enum { OP_FILE, OPS };

static const char *const op_names[OPS] = { [OP_FILE] = "file" };

struct sample_files_run {
	const struct sample_files_params *params;
	struct phase_site site;
	unsigned char *data;	/* of every file */
	uint64_t done;		/* files */
	struct latency latencies[OPS];
	struct phase phases[PHASES];
};

/* Allocates and touches all memory before the first phase. */
static int reserve(struct sample_files_run *run, struct ffs_error *error)
{
	struct rng rng;
	int i;

	run->data = malloc(run->params->file_bytes);
	if (!run->data)
		return ffs_fail(error, ENOMEM, "no memory for a file");
	rng_seed(&rng, run->params->seed);
	rng_fill(&rng, run->data, run->params->file_bytes);
	for (i = 0; i < OPS; i++)
		latency_reset(&run->latencies[i]);
	for (i = 0; i < PHASES; i++)
		if (phase_reserve(&run->phases[i], &run->site, error))
			return -1;
	return 0;
}

/* Return: 0, or the errno. */
static int write_data(struct sample_files_run *run, int fd)
{
	uint64_t at = 0;

	while (at < run->params->file_bytes) {
		ssize_t n = write(fd, run->data + at,
				  run->params->file_bytes - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? errno : EIO;
		at += (uint64_t)n;
		run->phases[PHASE_WRITE].bytes_written += (uint64_t)n;
	}
	return 0;
}

static int write_file(struct sample_files_run *run, struct ffs_error *error)
{
	char path[PATH_MAX];
	uint64_t start;
	int fd, failed;

	snprintf(path, sizeof(path), "%s/sample_files.%llu", run->params->dir,
		 (unsigned long long)run->done);
	start = clock_now_ns();
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return ffs_fail(error, errno, "cannot create %s", path);
	failed = write_data(run, fd);
	if (close(fd) && !failed)
		failed = errno;
	if (failed)
		return ffs_fail(error, failed, "cannot write %s", path);
	latency_add(&run->latencies[OP_FILE], clock_now_ns() - start);
	run->phases[PHASE_WRITE].files_created++;
	run->done++;
	return 0;
}

static int write_files(struct sample_files_run *run, struct ffs_error *error)
{
	while (run->done < run->params->files)
		if (write_file(run, error))
			return -1;
	return 0;
}

static int sync_files(struct sample_files_run *run, struct ffs_error *error)
{
	return sync_filesystem(run->params->dir, error);
}

static int run_phase(struct sample_files_run *run, int id,
		     int (*body)(struct sample_files_run *run, struct ffs_error *error),
		     struct ffs_error *error)
{
	struct phase *phase = &run->phases[id];
	int result;

	if (phase_begin(phase, &run->site, error))
		return -1;
	result = body(run, error);
	phase->t_end_ns = clock_now_ns();
	return phase_end(phase, &run->site, result, error);
}

static void report(struct sample_files_run *run, const char *stopped,
		   struct record_sink *sink)
{
	const struct latency_list latencies = {
		.latencies = run->latencies, .names = op_names, .n = OPS,
	};

	if (run->phases[PHASE_WRITE].ran)
		phase_record(&run->phases[PHASE_WRITE], WORKLOAD,
			     phase_names[PHASE_WRITE], &latencies, sink);
	if (run->phases[PHASE_SYNC].ran)
		phase_record(&run->phases[PHASE_SYNC], WORKLOAD,
			     phase_names[PHASE_SYNC], NULL, sink);
	record_begin(sink, WORKLOAD);
	record_number(sink, "files", run->params->files);
	record_number(sink, "files_done", run->done);
	record_number(sink, "bytes", run->done * run->params->file_bytes);
	record_string(sink, "stopped", stopped);
	record_end(sink);
}

static void release(struct sample_files_run *run)
{
	int i;

	for (i = 0; i < PHASES; i++)
		phase_free(&run->phases[i]);
	free(run->data);
	free(run);
}

int sample_files_workload(const struct sample_files_params *params,
			  const struct flash_monitor *monitor,
			  struct record_sink *sink, struct ffs_error *error)
{
	struct sample_files_run *run = calloc(1, sizeof(*run));
	int result = -1;

	if (!run)
		return ffs_fail(error, ENOMEM, "no memory for the workload");
	run->params = params;
	run->site.root = params->dir;
	run->site.monitor = monitor;
	if (!reserve(run, error)) {
		result = run_phase(run, PHASE_WRITE, write_files, error);
		if (!result)
			result = run_phase(run, PHASE_SYNC, sync_files, error);
		report(run, result && error->errnum == ENOSPC ? "ENOSPC" : "",
		       sink);
	}
	release(run);
	return result;
}
