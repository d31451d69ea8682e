// SPDX-License-Identifier: GPL-2.0-only
/*
 * ffsmark.c - the phases of the ffsmark workload; see ffsmark.h.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/caches.h"
#include "core/clock.h"
#include "workloads/ffsmark/ffsmark.h"
#include "workloads/ffsmark/file_io.h"

#define WORKLOAD "ffsmark"

const char *const ffsmark_phase_names[PHASES] = {
	[PHASE_PREPARE] = "prepare",
	[PHASE_INVALIDATE] = "invalidate",
	[PHASE_CREATION] = "creation",
	[PHASE_TRANSACTIONS] = "transactions",
	[PHASE_VERIFY] = "verify",
	[PHASE_DELETION] = "deletion",
};

struct run {
	const struct ffsmark_params *params;
	const struct ffsmark_outputs *outputs;
	struct ffsmark_result *result;
	struct phase *phase;		/* that runs */
	struct pool pool;
	struct ops_forecast forecast;
	struct file_io io;
	struct latency *latencies;	/* [LATENCY_OPS] */
	uint64_t available_bytes;	/* at launch */
	uint64_t valid_bytes, invalid_bytes;
	uint32_t directories_made;
	char valid_path[PATH_MAX], invalid_path[PATH_MAX];
};

typedef int (*phase_body)(struct run *run, struct ffs_error *error);

static void progress(const struct run *run, const char *what)
{
	if (run->outputs->progress)
		run->outputs->progress(run->outputs->progress_context, what);
}

/* --- what each phase does ------------------------------------------- */

/* What the pool's operations of the phase did: their latencies say how many. */
static void count_operations(const struct run *run)
{
	struct phase *phase = run->phase;
	const struct latency *of = run->latencies;

	phase->files_created += of[LATENCY_CREATE].histogram.count;
	phase->files_deleted += of[LATENCY_DELETE].histogram.count;
	phase->files_read += of[LATENCY_READ].histogram.count;
	phase->files_appended += of[LATENCY_APPEND].histogram.count;
}

/* The pool was ahead of the file system: as if it had stopped at the failure. */
static void turn_back_pool(struct run *run, const struct ffs_error *error)
{
	struct file_op failed;

	pool_replay(&run->pool, run->io.timed.operations + 1, &failed);
	/* A file that was there before us is not ours to tidy up. */
	if (failed.kind == OP_CREATE && error->errnum == EEXIST)
		run->pool.count--;
}

/* One file of the initial state; a share of 0 % makes none. */
static int fill(struct run *run, char *path,
		uint32_t serial, uint64_t bytes, struct ffs_error *error)
{
	if (!bytes)
		return 0;
	if (io_fill(&run->io, path, serial, bytes, error)) {
		if (error->errnum == EEXIST)
			*path = '\0';	/* not ours to tidy up */
		return -1;
	}
	run->phase->files_created++;
	return 0;
}

static int body_prepare(struct run *run, struct ffs_error *error)
{
	const char *root = run->params->locations[0].path;

	if (fill(run, run->valid_path, SERIAL_VALID_DATA,
		 run->valid_bytes, error) ||
	    fill(run, run->invalid_path, SERIAL_INVALID_DATA,
		 run->invalid_bytes, error))
		return -1;
	return sync_filesystem(root, error);
}

static int body_invalidate(struct run *run, struct ffs_error *error)
{
	if (!run->invalid_bytes)
		return 0;
	if (unlink(run->invalid_path))
		return ffs_fail(error, errno, "cannot delete %s",
				run->invalid_path);
	run->phase->files_deleted++;
	return 0;
}

static int body_creation(struct run *run, struct ffs_error *error)
{
	struct file_op op;
	uint32_t i;

	for (i = 0; i < run->params->number; i++) {
		pool_create(&run->pool, &op);
		if (io_perform(&run->io, &op, error))
			return -1;
	}
	return io_flush(&run->io, error);
}

static int body_transactions(struct run *run, struct ffs_error *error)
{
	struct file_op op;
	uint32_t i;

	for (i = 0; i < run->params->transactions; i++) {
		/* The forecast has shown that the pool does not run empty. */
		pool_access(&run->pool, &op);
		if (io_perform(&run->io, &op, error))
			return -1;
		pool_replace(&run->pool, &op);
		if (io_perform(&run->io, &op, error))
			return -1;
	}
	return io_flush(&run->io, error);
}

static int body_verify(struct run *run, struct ffs_error *error)
{
	size_t i;

	for (i = 0; i < run->pool.count; i++) {
		if (io_verify(&run->io, &run->pool.files[i], error))
			return -1;
		run->phase->files_read++;
	}
	if (!run->valid_bytes)
		return 0;
	run->phase->files_read++;
	return io_check(&run->io, run->valid_path, SERIAL_VALID_DATA,
			run->valid_bytes, error);
}

static int body_deletion(struct run *run, struct ffs_error *error)
{
	struct file_op op = { .kind = OP_DELETE };
	size_t i;

	for (i = 0; i < run->pool.count; i++) {
		op.file = run->pool.files[i];
		if (io_perform(&run->io, &op, error))
			return -1;
	}
	if (io_flush(&run->io, error))
		return -1;
	run->pool.count = 0;
	return 0;
}

static const phase_body bodies[PHASES] = {
	[PHASE_PREPARE] = body_prepare,
	[PHASE_INVALIDATE] = body_invalidate,
	[PHASE_CREATION] = body_creation,
	[PHASE_TRANSACTIONS] = body_transactions,
	[PHASE_VERIFY] = body_verify,
	[PHASE_DELETION] = body_deletion,
};

/* --- what is the same for every phase ---------------------------------- */

static void emit_phase(struct run *run, enum ffsmark_phase_id id)
{
	const struct latency_list latencies = latency_list_of(run->latencies);
	struct phase *phase = &run->result->phases[id];

	/* The latencies are those of the phase that ran last. */
	phase_record(phase, WORKLOAD, ffsmark_phase_names[id],
		     id == PHASE_INVALIDATE ? NULL : &latencies,
		     run->outputs->sink);
	if (!run->result->keep_snapshots)
		phase_free(phase);
}

static void begin_latencies(struct run *run)
{
	int op;

	for (op = 0; op < LATENCY_OPS; op++)
		latency_reset(&run->latencies[op]);
	run->io.timed.bytes_read = 0;
	run->io.timed.bytes_written = 0;
}

static void keep_latencies(struct run *run)
{
	int op;

	for (op = 0; op < LATENCY_OPS && run->result->histograms; op++)
		histogram_merge(&run->result->histograms[op],
				&run->latencies[op].histogram);
}

/* A full partition is the usual reason for a failure: say how full. */
static void explain_full(const struct run *run, struct ffs_error *error)
{
	size_t used = strlen(error->message);

	snprintf(error->message + used, sizeof(error->message) - used,
		 " (available at launch %llu bytes, valid data %llu, pool at its largest %llu: lower valid_percent, number or size_max, or take a larger partition)",
		 (unsigned long long)run->available_bytes,
		 (unsigned long long)run->valid_bytes,
		 (unsigned long long)run->forecast.peak_bytes);
}

static int run_phase(struct run *run, enum ffsmark_phase_id id,
		     struct ffs_error *error)
{
	struct phase *phase = &run->result->phases[id];
	const struct phase_site site = {
		.root = run->params->locations[0].path,
		.monitor = run->outputs->monitor,
	};
	int result;

	run->phase = phase;
	begin_latencies(run);
	if (phase_begin(phase, &site, error))
		return -1;
	result = bodies[id](run, error);
	phase_stop(phase);
	count_operations(run);
	phase->bytes_read = run->io.timed.bytes_read;
	phase->bytes_written = run->io.timed.bytes_written;
	if (result && (id == PHASE_CREATION || id == PHASE_TRANSACTIONS))
		turn_back_pool(run, error);
	if (result && error->errnum == ENOSPC)
		explain_full(run, error);
	keep_latencies(run);
	return phase_end(phase, &site, result, error);
}

static int run_and_emit(struct run *run, enum ffsmark_phase_id id,
			struct ffs_error *error)
{
	int result = run_phase(run, id, error);

	if (id == PHASE_CREATION)
		emit_phase(run, PHASE_INVALIDATE);
	if (id != PHASE_INVALIDATE || result)
		emit_phase(run, id);
	return result;
}

/* --- around the phases ------------------------------------------------- */

static uint32_t count_directories(const struct ffsmark_params *params)
{
	return (uint32_t)params->n_locations * params->subdirectories;
}

static int make_subdirectories(struct run *run, struct ffs_error *error)
{
	uint32_t i;

	if (count_directories(run->params))
		progress(run, "Creating subdirectories");
	for (i = 0; i < count_directories(run->params); i++) {
		if (io_directory(&run->io, i, error))
			return -1;
		if (mkdir(run->io.path, 0755) && errno != EEXIST)
			return ffs_fail(error, errno, "cannot create %s",
					run->io.path);
		run->directories_made = i + 1;
	}
	return 0;
}

static int remove_subdirectories(struct run *run, struct ffs_error *error)
{
	uint32_t i;

	if (run->directories_made)
		progress(run, "Deleting subdirectories");
	for (i = 0; i < run->directories_made; i++) {
		if (io_directory(&run->io, i, error))
			return -1;
		if (rmdir(run->io.path))
			return ffs_fail(error, errno, "cannot remove %s",
					run->io.path);
	}
	run->directories_made = 0;
	return 0;
}

/* Leave nothing behind, whatever failed; errors are of no interest here. */
static void tidy_up(struct run *run)
{
	size_t i;

	for (i = 0; i < run->pool.count; i++)
		if (!io_file_path(&run->io, &run->pool.files[i], NULL))
			unlink(run->io.path);
	remove_subdirectories(run, NULL);
	if (run->valid_bytes && *run->valid_path)
		unlink(run->valid_path);
	if (run->invalid_bytes && *run->invalid_path)
		unlink(run->invalid_path);
}

static int set_initial_state(struct run *run, struct ffs_error *error)
{
	const struct ffsmark_params *params = run->params;
	const char *root = params->locations[0].path;
	struct space space;

	if (space_read(&space, root, error))
		return -1;
	run->available_bytes = space.available_bytes;
	run->valid_bytes = space.available_bytes / 100 * params->valid_percent;
	run->invalid_bytes =
		space.available_bytes / 100 * params->invalid_percent;
	if (strlen(root) + 32 > PATH_MAX)
		return ffs_fail(error, ENAMETOOLONG, "%.64s...", root);
	snprintf(run->valid_path, PATH_MAX, "%.*s/ffsmark.valid",
		 PATH_MAX - 32, root);
	snprintf(run->invalid_path, PATH_MAX, "%.*s/ffsmark.invalid",
		 PATH_MAX - 32, root);
	return 0;
}

static int allocate(struct run *run, struct ffs_error *error)
{
	const struct ffsmark_params *params = run->params;
	int op;

	if (pool_init(&run->pool, params, error))
		return -1;
	ops_forecast(&run->pool, &run->forecast);
	if (run->forecast.out_of_files_at)
		return ffs_fail(error, 0,
			"out of files at transaction %u; increase the number of files or decrease the number of transactions",
			run->forecast.out_of_files_at);
	run->latencies = calloc(LATENCY_OPS, sizeof(*run->latencies));
	if (!run->latencies)
		return ffs_fail(error, ENOMEM, "no memory for histograms");
	for (op = 0; op < LATENCY_OPS; op++)
		if (latency_reserve(&run->latencies[op], params->full ?
				    (size_t)run->forecast.most[op] : 0, error))
			return -1;
	if (file_io_init(&run->io, params, params->valid_percent +
			 params->invalid_percent ? UINT64_MAX :
			 run->forecast.peak_bytes, run->latencies, error))
		return -1;
	return set_initial_state(run, error);
}

static void release(struct run *run)
{
	int op;

	file_io_free(&run->io);
	for (op = 0; op < LATENCY_OPS && run->latencies; op++)
		latency_free(&run->latencies[op]);
	free(run->latencies);
	pool_free(&run->pool);
}

static int drop_if_asked(struct run *run, struct ffs_error *error)
{
	/* As its authors': what is known of names and inodes stays. */
	return run->params->drop_caches ? caches_drop(CACHES_PAGES, error) : 0;
}

static int run_phases(struct run *run, struct ffs_error *error)
{
	if (make_subdirectories(run, error))
		return -1;
	if (run->valid_bytes + run->invalid_bytes)
		progress(run, "Preparing the initial state");
	if (run_and_emit(run, PHASE_PREPARE, error) ||
	    drop_if_asked(run, error))
		return -1;
	progress(run, "Creating files");
	if (run_and_emit(run, PHASE_INVALIDATE, error) ||
	    run_and_emit(run, PHASE_CREATION, error) ||
	    drop_if_asked(run, error))
		return -1;
	progress(run, "Performing transactions");
	if (run_and_emit(run, PHASE_TRANSACTIONS, error))
		return -1;
	if (run->params->verify) {
		progress(run, "Verifying files");
		if (drop_if_asked(run, error) ||
		    run_and_emit(run, PHASE_VERIFY, error))
			return -1;
	}
	progress(run, "Deleting files");
	if (run_and_emit(run, PHASE_DELETION, error))
		return -1;
	return remove_subdirectories(run, error);
}

int ffsmark_run(const struct ffsmark_params *params,
		const struct ffsmark_outputs *outputs,
		struct ffsmark_result *result, struct ffs_error *error)
{
	struct run *run = calloc(1, sizeof(*run));
	int status;

	if (!run)
		return ffs_fail(error, ENOMEM, "no memory for the workload");
	run->params = params;
	run->outputs = outputs;
	run->result = result;
	status = allocate(run, error);
	if (!status) {
		status = run_phases(run, error);
		if (params->tidy)
			tidy_up(run);
	}
	release(run);
	free(run);
	return status;
}

void ffsmark_result_free(struct ffsmark_result *result)
{
	int id;

	for (id = 0; id < PHASES; id++)
		phase_free(&result->phases[id]);
	free(result->histograms);
	memset(result, 0, sizeof(*result));
}
