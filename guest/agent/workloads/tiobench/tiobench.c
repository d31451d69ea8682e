// SPDX-License-Identifier: GPL-2.0-only
/*
 * tiobench.c - see tiobench.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/caches.h"
#include "core/clock.h"
#include "flash/live.h"
#include "measure/phase.h"
#include "measure/tasks.h"
#include "workloads/prepare/left.h"
#include "workloads/tiobench/threads.h"
#include "workloads/tiobench/tiobench.h"

#define WORKLOAD "tiobench"

enum { OP_REQUEST, OP_SYNC, OPS };

/* A phase of requests, and the flush behind one that writes. */
struct part {
	struct phase phase, flush;
	struct live_snapshot before, after, flush_before, flush_after;
	struct tio_work total;
	struct latency sync;
};

static const char *const flush_names[TIO_PARTS] = {
	[TIO_WRITE] = "write-flush",
	[TIO_RANDOM_WRITE] = "random-write-flush",
};

struct tiobench {
	const struct tio_params *params;
	struct phase_site site;
	struct left_files left;
	struct phase invalidate;
	struct live live;
	struct tio_threads threads;
	int fds[TIO_THREADS_MAX];
	struct part parts[TIO_PARTS];
};

/* --- before the phases --------------------------------------------------- */

static int reserve_part(struct tiobench *tio, enum tio_part id,
			struct ffs_error *error)
{
	const struct tio_params *params = tio->params;
	struct part *part = &tio->parts[id];
	size_t values = params->full ?
				params->threads * tio_requests(params, id) : 0;

	if (latency_reserve(&part->total.latency, values, error) ||
	    phase_reserve(&part->phase, &tio->site, error))
		return -1;
	/* Resetting touches the memory before the phase. */
	tio_work_reset(&part->total);
	latency_reset(&part->sync);
	return flush_names[id] ?
		       phase_reserve(&part->flush, &tio->site, error) : 0;
}

static int reserve(struct tiobench *tio, struct ffs_error *error)
{
	const struct tio_params *params = tio->params;
	int id;

	if (left_find(&tio->left, params->dir, params->remove, error) ||
	    threads_reserve(&tio->threads, params, error) ||
	    phase_reserve(&tio->invalidate, &tio->site, error))
		return -1;
	for (id = 0; id < TIO_PARTS; id++)
		if (reserve_part(tio, id, error))
			return -1;
	return live_open(&tio->live, tio->site.monitor, error);
}

static int make_room(struct tiobench *tio, struct ffs_error *error)
{
	uint64_t settle_ms = tio->params->settle_ms;

	if (!tio->params->remove)
		return 0;
	if (left_know(&tio->left, error) ||
	    left_invalidate(&tio->left, &tio->invalidate, &tio->site, error))
		return -1;
	return settle_ms ? clock_sleep_ns(settle_ms * 1000000, error) : 0;
}

static void close_files(struct tiobench *tio)
{
	uint32_t i;

	for (i = 0; i < TIO_THREADS_MAX; i++) {
		if (tio->fds[i] >= 0)
			close(tio->fds[i]);
		tio->fds[i] = -1;
	}
}

/* The files are opened outside of the phases, and created before the first. */
static int open_files(struct tiobench *tio, enum tio_part id,
		      struct ffs_error *error)
{
	int flags = O_CLOEXEC | (tio_reads(id) ? O_RDONLY : O_WRONLY) |
		    (id == TIO_WRITE ? O_CREAT | O_EXCL : 0);
	char path[PATH_MAX];
	uint32_t i;

	close_files(tio);
	for (i = 0; i < tio->params->threads; i++) {
		if (snprintf(path, sizeof(path), "%s/tiobench.%u",
			     tio->params->dir, (unsigned int)i) >= PATH_MAX)
			return ffs_fail(error, ENAMETOOLONG, "%.64s...",
					tio->params->dir);
		tio->fds[i] = open(path, flags, 0644);
		if (tio->fds[i] < 0)
			return ffs_fail(error, errno, "cannot open %s%s", path,
				errno == EEXIST ? " (left over from an earlier run? remove it)" : "");
		tio->threads.tasks[i].part = id;
		tio->threads.tasks[i].fd = tio->fds[i];
	}
	return 0;
}

/* --- the phases ---------------------------------------------------------- */

static int merge(struct tiobench *tio, struct part *part,
		 struct ffs_error *error)
{
	uint32_t i;

	for (i = 0; i < tio->threads.n; i++) {
		const struct tio_work *work = &tio->threads.works[i];

		tio_work_merge(&part->total, work);
		if (work->synced)
			latency_add(&part->sync, work->sync_ns);
	}
	if (!part->total.failed)
		return 0;
	*error = part->total.error;
	return -1;
}

static int run_requests(struct tiobench *tio, enum tio_part id,
			struct ffs_error *error)
{
	struct part *part = &tio->parts[id];
	struct phase *phase = &part->phase;
	uint64_t bytes;
	int result;

	if (open_files(tio, id, error) ||
	    (tio_reads(id) && tio->params->drop_caches &&
	     caches_drop(CACHES_PAGES, error)) ||
	    threads_launch(&tio->threads, error))
		return -1;
	if (phase_begin(phase, &tio->site, error)) {
		threads_end(&tio->threads);
		return -1;
	}
	live_read(&tio->live, &part->before);
	threads_run(&tio->threads);
	phase_stop(phase);
	live_read(&tio->live, &part->after);
	result = merge(tio, part, error);
	bytes = part->total.done * tio->params->block_bytes;
	if (tio_reads(id))
		phase->bytes_read = bytes;
	else
		phase->bytes_written = bytes;
	return phase_end(phase, &tio->site, result, error);
}

static int run_flush(struct tiobench *tio, struct part *part,
		     struct ffs_error *error)
{
	struct phase *phase = &part->flush;
	int result;

	if (phase_begin(phase, &tio->site, error))
		return -1;
	live_read(&tio->live, &part->flush_before);
	result = sync_filesystem(tio->params->dir, error);
	phase_stop(phase);
	live_read(&tio->live, &part->flush_after);
	return phase_end(phase, &tio->site, result, error);
}

static int run_phases(struct tiobench *tio, struct ffs_error *error)
{
	int id;

	for (id = 0; id < TIO_PARTS; id++)
		if (run_requests(tio, id, error) ||
		    (flush_names[id] && run_flush(tio, &tio->parts[id], error)))
			return -1;
	return 0;
}

/* --- records ------------------------------------------------------------- */

static void put_slowest(const struct tiobench *tio, const struct part *part,
			struct record_sink *sink)
{
	const struct tio_slowest *slowest = &part->total.slowest;

	record_open(sink, "slowest", '{');
	record_number(sink, "thread", slowest->thread);
	record_number(sink, "request", slowest->request);
	record_number(sink, "offset", slowest->offset);
	record_number(sink, "t_start_ns", slowest->t_start_ns);
	record_number(sink, "latency_ns", slowest->latency_ns);
	record_open(sink, "tasks", '[');
	if (tio->live.page)
		tasks_put(&slowest->before, &slowest->after, sink);
	record_close(sink, ']');
	record_close(sink, '}');
}

static void report_tiobench(const struct tiobench *tio, enum tio_part id,
			    struct record_sink *sink)
{
	const struct tio_params *params = tio->params;
	const struct part *part = &tio->parts[id];
	bool full = part->total.failed && part->total.error.errnum == ENOSPC;

	record_begin(sink, "tiobench");
	record_string(sink, "phase", tio_part_names[id]);
	record_number(sink, "threads", params->threads);
	record_number(sink, "block_bytes", params->block_bytes);
	record_number(sink, "file_bytes", tio_file_blocks(params) *
		      params->block_bytes * params->threads);
	record_number(sink, "requests",
		      params->threads * tio_requests(params, id));
	record_number(sink, "requests_done", part->total.done);
	record_number(sink, "above_2s", part->total.above_2s);
	record_number(sink, "above_10s", part->total.above_10s);
	record_string(sink, "stopped", full ? "ENOSPC" : "");
	put_slowest(tio, part, sink);
	record_end(sink);
}

static void report_part(struct tiobench *tio, enum tio_part id,
			struct record_sink *sink)
{
	struct part *part = &tio->parts[id];
	const struct latency latencies[OPS] = {
		[OP_REQUEST] = part->total.latency, [OP_SYNC] = part->sync,
	};
	const char *const names[OPS] = {
		[OP_REQUEST] = tio_reads(id) ? "read" : "write",
		[OP_SYNC] = "sync",
	};
	const struct latency_list list = {
		.latencies = latencies, .names = names, .n = OPS,
	};

	if (!part->phase.ran)
		return;
	phase_record(&part->phase, WORKLOAD, tio_part_names[id], &list, sink);
	if (tio->live.page)
		tasks_record(WORKLOAD, tio_part_names[id], &part->before,
			     &part->after, sink);
	report_tiobench(tio, id, sink);
	if (!flush_names[id] || !part->flush.ran)
		return;
	phase_record(&part->flush, WORKLOAD, flush_names[id], NULL, sink);
	if (tio->live.page)
		tasks_record(WORKLOAD, flush_names[id], &part->flush_before,
			     &part->flush_after, sink);
}

static void release(struct tiobench *tio)
{
	int id;

	close_files(tio);
	left_release(&tio->left);
	live_close(&tio->live);
	threads_free(&tio->threads);
	phase_free(&tio->invalidate);
	for (id = 0; id < TIO_PARTS; id++) {
		phase_free(&tio->parts[id].phase);
		phase_free(&tio->parts[id].flush);
		latency_free(&tio->parts[id].total.latency);
	}
	free(tio);
}

static struct tiobench *tiobench_new(const struct tio_params *params,
				     const struct flash_monitor *monitor)
{
	struct tiobench *tio = calloc(1, sizeof(*tio));
	uint32_t i;

	if (!tio)
		return NULL;
	tio->params = params;
	tio->left.valid_fd = -1;
	tio->site.root = params->dir;
	tio->site.monitor = monitor;
	for (i = 0; i < TIO_THREADS_MAX; i++) {
		tio->fds[i] = -1;
		tio->threads.tasks[i] = (struct tio_task) {
			.params = params, .live = &tio->live, .thread = i,
		};
	}
	return tio;
}

int tiobench_run(const struct tio_params *params,
		 const struct flash_monitor *monitor,
		 struct record_sink *sink, struct ffs_error *error)
{
	struct tiobench *tio = tiobench_new(params, monitor);
	int id, result = -1;

	if (!tio)
		return ffs_fail(error, ENOMEM, "no memory for the workload");
	if (!reserve(tio, error)) {
		if (!make_room(tio, error))
			result = run_phases(tio, error);
		phase_record(&tio->invalidate, WORKLOAD, PHASE_NAME_INVALIDATE,
			     NULL, sink);
		for (id = 0; id < TIO_PARTS; id++)
			report_part(tio, id, sink);
	}
	release(tio);
	return result;
}
