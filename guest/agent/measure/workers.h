/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * workers.h - processes that start together.
 *
 * They are made, have opened what they need and touched their memory before
 * the measured phase; they wait in a read of one pipe, so that one write of the
 * parent starts them all.  What they record is in memory shared with the parent.
 */
#ifndef FFSAGENT_WORKERS_H
#define FFSAGENT_WORKERS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"

#define WORKERS_MAX 64

/* What becomes of a worker, in shared memory. */
struct worker_fate {
	bool *failed;
	struct ffs_error *error;
};

/**
 * struct worker_kind - what the workers of a workload do.
 * @name: of one, in messages.
 * @run: its whole life.  It says with workers_ready() that it is ready, then
 *	 reads a byte from @start_fd: the end of the file means that there will
 *	 be no start.  Return: its exit status; 0 unless its fate is to fail.
 * @fate: where the fate of worker @i stands.
 */
struct worker_kind {
	const char *name;
	int (*run)(void *context, uint32_t i, int start_fd, int ready_fd);
	struct worker_fate (*fate)(void *context, uint32_t i);
};

struct workers {
	const struct worker_kind *kind;
	void *context;
	uint32_t n;		/* that were made */
	int start_fd;		/* what is written here starts them */
	int32_t pids[WORKERS_MAX];
};

/**
 * workers_launch() - make @n processes, ready and waiting.
 *
 * Return: 0, or -1 with @error; no process is left then.
 */
int workers_launch(struct workers *workers, const struct worker_kind *kind,
		   void *context, uint32_t n, struct ffs_error *error);

/** workers_ready() - a worker says so.  Return: whether the parent heard it. */
bool workers_ready(int ready_fd);

/** workers_start() - let them go. */
int workers_start(struct workers *workers, struct ffs_error *error);

/**
 * workers_end() - wait until all have ended; those that were not started
 * end at once.  A crash becomes a failure.
 */
void workers_end(struct workers *workers);

#endif
