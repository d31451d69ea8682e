/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * steps.h - one function per verb of a plan.
 *
 * A step gets the validated keys and the state that steps share; it returns 0
 * or -1 with the reason.  The executor (run.c) times it and reports it.
 */
#ifndef FFSAGENT_STEPS_H
#define FFSAGENT_STEPS_H

#include <stdbool.h>

#include "core/error.h"
#include "core/record.h"
#include "flash/monitor.h"
#include "plan/plan.h"

struct run_state {
	struct record_sink *sink;
	struct flash_monitor watched;
	const struct flash_monitor *monitor;	/* once one is attached */
	bool is_init;
	/* A record that must follow the timed part of a step. */
	bool space_wanted;
};

/** step_execute() - do one step. */
int step_execute(const struct plan_step *step, struct run_state *state,
		 struct ffs_error *error);

#endif
