/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * processes.h - the streams of parallel=N: a process each.
 *
 * The processes are made, have opened the file and touched their memory before
 * the measured phase; they wait in a read of one pipe, so that one write of the
 * parent starts them all.  What they record is in memory shared with the parent.
 */
#ifndef FFSAGENT_MICRO_PROCESSES_H
#define FFSAGENT_MICRO_PROCESSES_H

#include <stdint.h>

#include "core/error.h"
#include "workloads/micro/stream.h"

struct stream_processes {
	uint32_t n;
	int start_fd;		/* what is written here starts them */
	int32_t pids[MICRO_STREAMS_MAX];
};

/**
 * processes_launch() - one process for each stream, ready and waiting.
 *
 * Return: 0, or -1 with @error; no process is left then.
 */
int processes_launch(struct stream_processes *processes,
		     struct stream_set *set, const struct requests_site *site,
		     struct ffs_error *error);

/** processes_start() - let them go. */
int processes_start(struct stream_processes *processes,
		    struct ffs_error *error);

/**
 * processes_end() - wait until all have ended; those that were not started
 * end at once.  A crash becomes a failure of its stream.
 */
void processes_end(struct stream_processes *processes, struct stream_set *set);

#endif
