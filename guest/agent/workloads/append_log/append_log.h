/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * append_log.h - the step append-log: what a daemon does that appends a line to
 * a log from time to time, syncs every so many of them, and lets the log be
 * rotated as logrotate does.
 *
 * Phases: invalidate (with remove=1: the file of invalid data that a step prepare
 * has left goes), append (the lines, with the sleeps between them), flush (what is left
 * in memory goes to the flash), verify (every line is read back).  Everything
 * is reserved before the first; the records of append and flush leave together,
 * before verify begins.
 */
#ifndef FFSAGENT_APPEND_LOG_H
#define FFSAGENT_APPEND_LOG_H

#include "core/error.h"
#include "core/record.h"
#include "flash/monitor.h"
#include "workloads/append_log/params.h"

/**
 * append_log_run() - run it once.
 * @monitor: where to look, or NULL.
 *
 * Return: 0, or -1 with @error: ENOSPC if the partition is full, EBADMSG if a
 * line is not what was written.  What was measured before a failure is emitted
 * all the same.
 */
int append_log_run(const struct append_log_params *params,
		   const struct flash_monitor *monitor,
		   struct record_sink *sink, struct ffs_error *error);

#endif
