/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * threads.h - the threads of a phase.
 *
 * One is the agent itself.  Several are a process each (measure/workers.h).
 */
#ifndef FFSAGENT_TIOBENCH_THREADS_H
#define FFSAGENT_TIOBENCH_THREADS_H

#include "measure/workers.h"
#include "workloads/tiobench/worker.h"

struct tio_threads {
	uint32_t n;
	struct tio_task tasks[TIO_THREADS_MAX];
	struct tio_work *works;		/* [n], shared by the processes */
	struct tio_queue *queue;	/* of one thread */
	struct workers workers;		/* of several threads */
};

/**
 * threads_reserve() - memory for @params->threads of them.
 *
 * threads_free() may follow whether or not it succeeds.
 */
int threads_reserve(struct tio_threads *threads,
		    const struct tio_params *params, struct ffs_error *error);
void threads_free(struct tio_threads *threads);

/** threads_launch() - make them ready; ->tasks say for what. */
int threads_launch(struct tio_threads *threads, struct ffs_error *error);

/** threads_run() - start them, and wait until the last has ended. */
void threads_run(struct tio_threads *threads);

/** threads_end() - those that were launched and are not to run end. */
void threads_end(struct tio_threads *threads);

#endif
