/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * micro.h - the step micro: requests to one file of a file system in a known
 * state, each with its latency and what it asked of the flash.
 *
 * Phases: invalidate (the file of invalid data is removed, if the plan says
 * so), measure, flush (what is left in memory goes to the flash).  Everything
 * is reserved before the first; no record leaves before the end of the last.
 */
#ifndef FFSAGENT_MICRO_H
#define FFSAGENT_MICRO_H

#include "core/error.h"
#include "core/record.h"
#include "flash/monitor.h"
#include "workloads/micro/params.h"

/**
 * micro_run() - run the requests once.
 * @monitor: where to look, or NULL: then the flash parts of the records are absent.
 *
 * Return: 0, or -1 with @error.  What was measured before a failure is emitted
 * all the same.
 */
int micro_run(const struct micro_params *params,
	      const struct flash_monitor *monitor,
	      struct record_sink *sink, struct ffs_error *error);

#endif
