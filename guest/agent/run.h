/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run.h - executes a plan, from "start" to "end".
 */
#ifndef FFSAGENT_RUN_H
#define FFSAGENT_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/record.h"

/**
 * run_plan_file() - read, validate and execute the plan at @path.
 * @is_init: the program is the init process of a guest.
 *
 * "start" and "end" are emitted whatever happens, even for a plan that is not
 * valid (whose "end" then carries the reason).  What went wrong is also
 * printed to standard error.
 */
enum ffs_exit run_plan_file(const char *path, struct record_sink *sink,
			    bool is_init);

/** run_emit_start() - the "start" record. */
void run_emit_start(struct record_sink *sink, uint64_t seed);

/** run_emit_end() - the "end" record; @error is NULL if all is well. */
void run_emit_end(struct record_sink *sink, const struct ffs_error *error,
		  size_t steps_run, size_t steps_total);

#endif
