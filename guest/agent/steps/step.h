/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * step.h - what every step gets, and how one is executed.
 *
 * The functions of a step are in the row of its verb (plan/verbs.h).  They get
 * the validated keys and the state that steps share.
 */
#ifndef FFSAGENT_STEP_H
#define FFSAGENT_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "core/record.h"
#include "flash/image.h"
#include "flash/monitor.h"
#include "plan/plan.h"

struct run_state {
	struct record_sink *sink;
	struct flash_monitor watched;
	const struct flash_monitor *monitor;	/* once one is attached */
	bool is_init;
	struct image_written written;	/* by write-image, for its record */
};

/*
 * check_NAME() and run_NAME() of a step whose keys are read into a struct of its
 * own: what they call are @read, @check and @run.
 */
#define STEP_OF_PARAMS(name, params_type, read, check, run) \
	static int check_##name(const struct plan_step *step, \
				struct ffs_error *error) \
	{ \
		struct params_type params; \
		read(&params, step); \
		return check(&params, error); \
	} \
	static int run_##name(const struct plan_step *step, \
			      struct run_state *state, struct ffs_error *error) \
	{ \
		struct params_type params; \
		read(&params, step); \
		return run(&params, state->monitor, state->sink, error); \
	}

struct step_times {
	uint64_t t_start_ns, t_end_ns;
};

/**
 * step_execute() - do one step, and emit what it has to report.
 *
 * Return: 0, or -1 with @error; @times is set in any case.
 */
int step_execute(const struct plan_step *step, struct run_state *state,
		 struct step_times *times, struct ffs_error *error);

#endif
