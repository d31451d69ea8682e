/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * worker.h - the requests of one thread in one phase.
 *
 * In the lab, requests of one thread are put off and made together
 * (core/calls.h); the live page is copied between them by the queue, in no
 * time.  Several threads, and an agent on another kernel, make them one by one.
 * What is noted is the same, and takes no memory for each request: a histogram,
 * counts, and what every task asked of the flash during the slowest.
 */
#ifndef FFSAGENT_TIOBENCH_WORKER_H
#define FFSAGENT_TIOBENCH_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "flash/live.h"
#include "measure/latency.h"
#include "workloads/tiobench/params.h"

/* The slowest request: where, when, and the live page around it. */
struct tio_slowest {
	uint32_t thread;
	uint64_t request, offset, t_start_ns, latency_ns;
	struct live_snapshot before, after;
};

/* What one thread did in one phase; in memory that processes share. */
struct tio_work {
	uint64_t done;
	uint64_t above_2s, above_10s;
	struct latency latency;
	struct tio_slowest slowest;
	uint64_t sync_ns;	/* with sync=end */
	bool synced, failed;
	struct ffs_error error;
};

/* A request is slow if it takes longer, as in tiobench. */
#define TIO_SLOW_NS 2000000000ull
#define TIO_VERY_SLOW_NS 10000000000ull

/** tio_work_count() - count a request among the slow ones if it is one. */
static inline void tio_work_count(struct tio_work *work, uint64_t latency_ns)
{
	work->above_2s += latency_ns > TIO_SLOW_NS;
	work->above_10s += latency_ns > TIO_VERY_SLOW_NS;
}

/* What it is told. */
struct tio_task {
	const struct tio_params *params;
	const struct live *live;
	enum tio_part part;
	uint32_t thread;
	int fd;
};

struct tio_queue;

/**
 * tio_queue_new() - memory for the requests of one process, touched.
 * @alone: no other process makes requests at the same time.
 */
struct tio_queue *tio_queue_new(const struct tio_params *params, bool alone,
				struct ffs_error *error);
void tio_queue_free(struct tio_queue *queue);

/** tio_work_reset() - forget everything; room for single latencies stays. */
void tio_work_reset(struct tio_work *work);

/** tio_work_run() - make all requests, up to one that fails: ->failed. */
void tio_work_run(struct tio_work *work, const struct tio_task *task,
		  struct tio_queue *queue);

/** tio_work_merge() - add what a thread did to what others did. */
void tio_work_merge(struct tio_work *into, const struct tio_work *from);

#endif
