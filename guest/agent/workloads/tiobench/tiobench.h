/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tiobench.h - the step tiobench: what the benchmark of that name measures, by
 * the description in its documentation: threads write a file each from start to
 * end, overwrite blocks of it at random, read it from start to end, and read
 * blocks of it at random.
 *
 * Phases: invalidate (with remove=1: the file of invalid data that a step
 * prepare has left goes), write, write-flush, random-write,
 * random-write-flush, read, random-read.  The flushes write what is left in
 * memory to the flash.  Everything is reserved before the first; no record
 * leaves before the end of the last.  A thread is a process, and one thread is
 * the agent itself.
 */
#ifndef FFSAGENT_TIOBENCH_H
#define FFSAGENT_TIOBENCH_H

#include "core/error.h"
#include "core/record.h"
#include "flash/monitor.h"
#include "workloads/tiobench/params.h"

/**
 * tiobench_run() - run it once.
 * @monitor: where to look, or NULL.
 *
 * Return: 0, or -1 with @error: ENOSPC if the partition is full, EBADMSG if a
 * block is not what was written.  What was measured before a failure is emitted
 * all the same.
 */
int tiobench_run(const struct tio_params *params,
		 const struct flash_monitor *monitor,
		 struct record_sink *sink, struct ffs_error *error);

#endif
