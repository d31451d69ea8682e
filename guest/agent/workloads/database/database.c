// SPDX-License-Identifier: GPL-2.0-only
/*
 * database.c - see database.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/caches.h"
#include "core/clock.h"
#include "flash/live.h"
#include "measure/phase.h"
#include "measure/tasks.h"
#include "workloads/database/files.h"
#include "workloads/prepare/left.h"

#define WORKLOAD "database"

enum { PHASE_INVALIDATE, PHASE_CREATE, PHASE_COMMIT, PHASE_CLOSE, PHASE_VERIFY, PHASES };

static const char *const phase_names[PHASES] = {
	[PHASE_INVALIDATE] = PHASE_NAME_INVALIDATE,
	[PHASE_CREATE] = "create",
	[PHASE_COMMIT] = "commit",
	[PHASE_CLOSE] = "close",
	[PHASE_VERIFY] = "verify",
};

static const char *const op_names[DATABASE_OPS] = {
	[DATABASE_OP_TRANSACTION] = "transaction",
	[DATABASE_OP_SYNC] = "sync",
	[DATABASE_OP_CHECKPOINT] = "checkpoint",
};

struct database_run {
	const struct database_params *params;
	struct phase_site site;
	struct database_files files;
	struct left_files left;
	uint64_t done;			/* transactions */
	uint64_t written;		/* bytes, for them and by the close */
	struct phase phases[PHASES];
	struct live live;
	struct live_snapshot before[PHASES], after[PHASES];
};

int database_params_check(const struct database_params *params,
			  struct ffs_error *error)
{
	uint64_t pages = params->database_bytes / params->page_bytes;

	if (params->page_bytes & (params->page_bytes - 1))
		return ffs_fail(error, 0, "page_bytes=%llu is no power of two",
				(unsigned long long)params->page_bytes);
	if (pages > UINT32_MAX || pages <= params->pages_per_transaction)
		return ffs_fail(error, 0,
			"a database of %llu pages; pages_per_transaction=%llu needs more of them than that, and page numbers have 32 bits",
			(unsigned long long)pages,
			(unsigned long long)params->pages_per_transaction);
	if (params->settle_ms && !params->remove)
		return ffs_fail(error, 0,
			"settle_ms=%llu is the sleep after a removal, and remove=0; set remove=1, or settle_ms=0",
			(unsigned long long)params->settle_ms);
	return content_choice_check(&params->contents, error);
}

static int reserve(struct database_run *run, struct ffs_error *error)
{
	int i;

	if (left_find(&run->left, run->params->dir, run->params->remove,
		      error) ||
	    database_files_init(&run->files, run->params, error))
		return -1;
	for (i = 0; i < PHASES; i++)
		if (phase_reserve(&run->phases[i], &run->site, error))
			return -1;
	if (live_open(&run->live, run->site.monitor, error))
		return -1;
	live_read(&run->live, &run->before[PHASE_CREATE]);
	return 0;
}

/* A database on a full partition can be created only after this. */
static int make_room(struct database_run *run, struct ffs_error *error)
{
	uint64_t settle_ms = run->params->settle_ms;

	if (!run->params->remove)
		return 0;
	if (left_know(&run->left, error) ||
	    left_invalidate(&run->left, &run->phases[PHASE_INVALIDATE],
			    &run->site, error))
		return -1;
	return settle_ms ? clock_sleep_ns(settle_ms * 1000000, error) : 0;
}

/* --- phases -------------------------------------------------------------- */

static int create(struct database_run *run, struct ffs_error *error)
{
	return database_create(&run->files, error);
}

static int commit(struct database_run *run, struct ffs_error *error)
{
	while (run->done < run->params->transactions) {
		database_draw(&run->files.pages);
		if (database_transaction(&run->files, error))
			return -1;
		run->done++;
	}
	return 0;
}

static int close_database(struct database_run *run, struct ffs_error *error)
{
	return database_close(&run->files, error) ?
	       -1 : sync_filesystem(run->params->dir, error);
}

static int verify(struct database_run *run, struct ffs_error *error)
{
	return database_verify(&run->files, error);
}

static int run_phase(struct database_run *run, int id,
		     int (*body)(struct database_run *run, struct ffs_error *error),
		     struct ffs_error *error)
{
	struct phase *phase = &run->phases[id];
	uint64_t *read = &run->files.bytes_read;
	uint64_t *written = &run->files.bytes_written;
	int result;

	*read = *written = 0;
	if (phase_begin(phase, &run->site, error))
		return -1;
	live_read(&run->live, &run->before[id]);
	result = body(run, error);
	phase_stop(phase);
	live_read(&run->live, &run->after[id]);
	phase->bytes_read = *read;
	if (id == PHASE_CREATE)
		phase->bytes_written = *written;
	else
		run->written += *written;
	return phase_end(phase, &run->site, result, error);
}

/* --- records ------------------------------------------------------------- */

static uint64_t changed_bytes(const struct database_run *run)
{
	return run->done * run->params->pages_per_transaction *
	       run->params->page_bytes;
}

static void report_phases(struct database_run *run, struct record_sink *sink)
{
	const struct latency_list latencies = {
		.latencies = run->files.latencies, .names = op_names,
		.n = DATABASE_OPS,
	};
	int id;

	/* What the user of the database wrote, not what it takes to keep it. */
	run->phases[PHASE_COMMIT].bytes_written = changed_bytes(run);
	for (id = 0; id < PHASES; id++) {
		if (!run->phases[id].ran)
			continue;
		phase_record(&run->phases[id], WORKLOAD, phase_names[id],
			     id == PHASE_COMMIT ? &latencies : NULL, sink);
		if (run->live.page && id != PHASE_INVALIDATE)
			tasks_record(WORKLOAD, phase_names[id],
				     &run->before[id], &run->after[id], sink);
	}
}

static void report(struct database_run *run, const char *stopped,
		   struct record_sink *sink)
{
	report_phases(run, sink);
	record_begin(sink, WORKLOAD);
	record_number(sink, "transactions", run->params->transactions);
	record_number(sink, "transactions_done", run->done);
	record_number(sink, "changed_bytes", changed_bytes(run));
	record_number(sink, "written_bytes", run->written);
	record_number(sink, "checkpoints", run->files.checkpoints);
	record_string(sink, "stopped", stopped);
	record_end(sink);
}

static int run_phases(struct database_run *run, struct ffs_error *error)
{
	if (make_room(run, error) ||
	    run_phase(run, PHASE_CREATE, create, error) ||
	    run_phase(run, PHASE_COMMIT, commit, error) ||
	    run_phase(run, PHASE_CLOSE, close_database, error))
		return -1;
	return run->params->verify ?
	       run_phase(run, PHASE_VERIFY, verify, error) : 0;
}

static void release(struct database_run *run)
{
	int i;

	left_release(&run->left);
	live_close(&run->live);
	for (i = 0; i < PHASES; i++)
		phase_free(&run->phases[i]);
	database_files_free(&run->files);
	free(run);
}

int database_workload(const struct database_params *params,
		      const struct flash_monitor *monitor,
		      struct record_sink *sink, struct ffs_error *error)
{
	struct database_run *run = calloc(1, sizeof(*run));
	int result = -1;

	if (!run)
		return ffs_fail(error, ENOMEM, "no memory for the workload");
	run->params = params;
	run->files.fd = run->files.journal_fd = -1;
	run->left.valid_fd = -1;
	run->site.root = params->dir;
	run->site.monitor = monitor;
	if (!reserve(run, error)) {
		result = run_phases(run, error);
		report(run, result && error->errnum == ENOSPC ? "ENOSPC" : "",
		       sink);
	}
	release(run);
	return result;
}
