// SPDX-License-Identifier: GPL-2.0-only
/*
 * micro.c - see micro.h.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/caches.h"
#include "core/clock.h"
#include "core/process.h"
#include "flash/live.h"
#include "measure/phase.h"
#include "measure/tasks.h"
#include "measure/workers.h"
#include "workloads/micro/micro.h"
#include "workloads/micro/report.h"
#include "workloads/prepare/left.h"
#include "workloads/prepare/prepare.h"

static_assert(MICRO_STREAMS_MAX <= WORKERS_MAX, "a process for each stream");

enum micro_phase { PHASE_INVALIDATE, PHASE_MEASURE, PHASE_FLUSH, PHASES };

static const char *const phase_names[PHASES] = {
	[PHASE_INVALIDATE] = PHASE_NAME_INVALIDATE,
	[PHASE_MEASURE] = MICRO_PHASE_MEASURE,
	[PHASE_FLUSH] = "flush",
};

struct micro {
	const struct micro_params *params;
	struct micro_facts facts;
	struct phase_site site;
	struct requests_site requests_site;
	struct content_source source;
	struct phase phases[PHASES];
	struct live live;
	/* At the edges of phases. */
	struct live_snapshot measure_start, measure_end, flush_start, flush_end;
	struct pattern patterns[MICRO_STREAMS_MAX];
	struct stream_set set;
	struct workers workers;	/* of parallel=N, a process for each stream */
	struct latency latencies[LATENCY_OPS];
	int fd;			/* test file, or -1 */
	struct left_files left;
	char test_path[PATH_MAX];
};

static bool any_reads(const struct micro_params *params)
{
	return micro_reads(params->kind) ||
	       (params->mix && micro_reads(params->mix_kind));
}

/* --- before the first phase ---------------------------------------------- */

static int make_paths(struct micro *m, struct ffs_error *error)
{
	const char *dir = m->params->dir;

	if (snprintf(m->test_path, PATH_MAX, "%s/%s", dir, LAB_FILE_TEST) >=
	    PATH_MAX)
		return ffs_fail(error, ENAMETOOLONG, "%.64s...", dir);
	return left_find(&m->left, dir, m->params->remove, error);
}

static int look_at_file(struct micro *m, struct ffs_error *error)
{
	struct stat info;

	m->facts.volume_bytes = m->params->volume_bytes;
	m->facts.file_bytes = m->params->file_bytes;
	if (!m->params->existing)
		return 0;
	if (stat(m->test_path, &info))
		return ffs_fail(error, errno,
			"existing=1, but there is no %s; a step prepare with test_file=1 writes it",
			m->test_path);
	m->facts.file_bytes = (uint64_t)info.st_size;
	/* A volume of once the file is that of the file as it was cut. */
	if (m->params->limit &&
	    m->params->volume_bytes == m->params->file_bytes &&
	    m->facts.volume_bytes > m->facts.file_bytes)
		m->facts.volume_bytes = m->facts.file_bytes;
	if (m->params->target_bytes > m->facts.file_bytes && !m->params->limit)
		return ffs_fail(error, 0,
			"target_bytes=%llu is larger than the file of %llu bytes that was prepared; lower it, or set limit=1 to cut it",
			(unsigned long long)m->params->target_bytes,
			(unsigned long long)m->facts.file_bytes);
	return 0;
}

static int lay_out(struct micro *m, struct ffs_error *error)
{
	return pattern_layout(m->params, m->facts.file_bytes,
			      m->facts.volume_bytes, m->patterns, error);
}

static int reserve(struct micro *m, struct ffs_error *error)
{
	int streams = lay_out(m, error), i;

	if (streams < 0 ||
	    streams_reserve(&m->set, m->patterns, (uint32_t)streams,
			    m->params->parallel > 1, error))
		return -1;
	for (i = 0; i < LATENCY_OPS; i++)
		latency_reset(&m->latencies[i]);
	for (i = 0; i < PHASES; i++)
		if (phase_reserve(&m->phases[i], &m->site, error))
			return -1;
	if (content_source_init(&m->source, &m->params->contents, error) ||
	    live_open(&m->live, m->site.monitor, error))
		return -1;
	live_read(&m->live, &m->measure_start);
	/* As init it is called after the file that the kernel has started. */
	(void)prctl(PR_SET_NAME, MICRO_TASK_NAME);
	return 0;
}

static int open_existing(struct micro *m, struct ffs_error *error)
{
	if (m->params->existing) {
		m->fd = streams_open_file(&m->requests_site, error);
		if (m->fd < 0)
			return -1;
	}
	if (any_reads(m->params) && m->params->cache == MICRO_CACHE_DROP &&
	    caches_drop(CACHES_ALL, error))
		return -1;
	return left_know(&m->left, error);
}

/* --- phases -------------------------------------------------------------- */

/* A new file's size and volume are cut to what is available now. */
static int cut_to_available(struct micro *m, struct ffs_error *error)
{
	struct space space;
	uint64_t most;

	if (m->params->existing || m->params->until_full || !m->params->limit)
		return 0;
	if (space_read(&space, m->params->dir, error))
		return -1;
	most = space.available_bytes / LAB_CUT_BYTES * LAB_CUT_BYTES;
	if (m->facts.file_bytes > space.available_bytes)
		m->facts.file_bytes = most;
	if (m->facts.volume_bytes > space.available_bytes)
		m->facts.volume_bytes = most;
	if (m->facts.file_bytes && m->facts.volume_bytes)
		return 0;
	return ffs_fail(error, ENOSPC,
		"no room for the test file: %llu bytes are available, and it can be cut to multiples of %llu only; lower the share of valid data or volume_bytes, or take a larger partition",
		(unsigned long long)space.available_bytes,
		(unsigned long long)LAB_CUT_BYTES);
}

static int create_file(struct micro *m, struct ffs_error *error)
{
	if (m->params->existing)
		return 0;
	m->fd = open(m->test_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		     0644);
	if (m->fd < 0)
		return ffs_fail(error, errno, "cannot create %s%s",
			m->test_path, errno == EEXIST ?
			" (it is there already: set existing=1 to overwrite it, or remove it)" : "");
	return 0;
}

/* The first failure of a stream, their sums, and when the last one ended. */
static int gather(struct micro *m, struct phase *phase,
		  struct ffs_error *error)
{
	int result = 0;
	uint32_t i;

	/* Checking the last data and ending a process are no part of it. */
	phase->t_end_ns = phase->t_start_ns;
	for (i = 0; i < m->set.n; i++) {
		const struct stream *stream = &m->set.streams[i];

		if (stream->t_end_ns > phase->t_end_ns)
			phase->t_end_ns = stream->t_end_ns;
		if (micro_reads(stream->pattern.kind))
			phase->bytes_read += stream->bytes;
		else
			phase->bytes_written += stream->bytes;
		if (stream->failed && !result) {
			*error = stream->error;
			result = -1;
		}
	}
	return result;
}

static int run_stream(void *context, uint32_t i, int start_fd, int ready_fd)
{
	struct micro *m = context;
	struct stream *stream = &m->set.streams[i];
	int fd = streams_open_file(&m->requests_site, &stream->error);

	if (fd < 0) {
		stream->failed = true;
		return 1;
	}
	process_stay_in_memory();
	if (workers_ready(ready_fd))
		stream_run_own(stream, &m->requests_site, fd, start_fd);
	return 0;
}

static struct worker_fate fate_of_stream(void *context, uint32_t i)
{
	struct stream *stream = &((struct micro *)context)->set.streams[i];

	return (struct worker_fate){ &stream->failed, &stream->error };
}

static const struct worker_kind processes_of_streams = {
	"process", run_stream, fate_of_stream
};

static int run_processes(struct micro *m, struct ffs_error *error)
{
	int result = workers_start(&m->workers, error);

	workers_end(&m->workers);
	return result;
}

static int measure(struct micro *m, struct ffs_error *error)
{
	struct phase *phase = &m->phases[PHASE_MEASURE];
	bool processes = m->params->parallel > 1;
	int result = 0;

	if (processes && workers_launch(&m->workers, &processes_of_streams, m,
					m->set.n, error))
		return -1;
	if (phase_begin(phase, &m->site, error)) {
		if (processes)
			workers_end(&m->workers);
		return -1;
	}
	live_read(&m->live, &m->measure_start);
	if (processes)
		result = run_processes(m, error);
	else
		streams_run(&m->set, &m->requests_site, m->fd);
	whose_time_end(&phase->whose);
	live_read(&m->live, &m->measure_end);
	phase->files_created += !m->params->existing;
	if (gather(m, phase, error))
		result = -1;
	return phase_end(phase, &m->site, result, error);
}

static int flush(struct micro *m, struct ffs_error *error)
{
	struct phase *phase = &m->phases[PHASE_FLUSH];
	int result;

	if (phase_begin(phase, &m->site, error))
		return -1;
	live_read(&m->live, &m->flush_start);
	result = sync_filesystem(m->params->dir, error);
	phase_stop(phase);
	live_read(&m->live, &m->flush_end);
	return phase_end(phase, &m->site, result, error);
}

static int run_phases(struct micro *m, struct ffs_error *error)
{
	if (left_invalidate(&m->left, &m->phases[PHASE_INVALIDATE], &m->site,
			    error))
		return -1;
	if (m->params->settle_ms &&
	    clock_sleep_ns(m->params->settle_ms * 1000000, error))
		return -1;
	if (cut_to_available(m, error) || lay_out(m, error) < 0)
		return -1;
	streams_set(&m->set, m->patterns);
	if (create_file(m, error) || measure(m, error))
		return -1;
	return flush(m, error);
}

/* --- after the last phase ------------------------------------------------ */

static void report(struct micro *m, struct record_sink *sink)
{
	const struct latency_list latencies = latency_list_of(m->latencies);
	struct phase *phases = m->phases;

	phase_record(&phases[PHASE_INVALIDATE], MICRO_WORKLOAD,
		     phase_names[PHASE_INVALIDATE], NULL, sink);
	if (!phases[PHASE_MEASURE].ran)
		return;
	fill_latencies(&m->set, m->latencies);
	phase_record(&phases[PHASE_MEASURE], MICRO_WORKLOAD,
		     phase_names[PHASE_MEASURE], &latencies, sink);
	report_micro(m->params, &m->facts, &m->set, sink);
	report_requests(&m->set, sink);
	if (m->live.page) {
		report_request_flash(&m->set, &m->measure_end, sink);
		tasks_record(MICRO_WORKLOAD, phase_names[PHASE_MEASURE],
			     &m->measure_start, &m->measure_end, sink);
	}
	phase_record(&phases[PHASE_FLUSH], MICRO_WORKLOAD,
		     phase_names[PHASE_FLUSH], NULL, sink);
	if (m->live.page && phases[PHASE_FLUSH].ran)
		tasks_record(MICRO_WORKLOAD, phase_names[PHASE_FLUSH],
			     &m->flush_start, &m->flush_end, sink);
}

static void release(struct micro *m)
{
	int i;

	if (m->fd >= 0)
		close(m->fd);
	left_release(&m->left);
	live_close(&m->live);
	streams_free(&m->set);
	content_source_free(&m->source);
	for (i = 0; i < PHASES; i++)
		phase_free(&m->phases[i]);
	free(m);
}

int micro_run(const struct micro_params *params,
	      const struct flash_monitor *monitor,
	      struct record_sink *sink, struct ffs_error *error)
{
	struct micro *m = calloc(1, sizeof(*m));
	int result = -1;

	if (!m)
		return ffs_fail(error, ENOMEM, "no memory for the workload");
	m->params = params;
	m->fd = -1;
	m->left.valid_fd = -1;
	m->site.root = params->dir;
	m->site.monitor = monitor;
	m->requests_site.params = params;
	m->requests_site.path = m->test_path;
	m->requests_site.source = &m->source;
	m->requests_site.live = &m->live;
	if (!make_paths(m, error) && !look_at_file(m, error) &&
	    !reserve(m, error) && !open_existing(m, error)) {
		result = run_phases(m, error);
		report(m, sink);
	}
	release(m);
	return result;
}
