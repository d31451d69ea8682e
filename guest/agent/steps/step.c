// SPDX-License-Identifier: GPL-2.0-only
/*
 * step.c - see step.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/clock.h"
#include "measure/measure.h"
#include "steps/step.h"

static int run_as_phase(const struct plan_step *step, struct run_state *state,
			const char *phase, struct ffs_error *error)
{
	struct measure *m = calloc(1, sizeof(*m));
	int result = -1;

	if (!m)
		return ffs_fail(error, ENOMEM, "no memory for phase %s", phase);
	if (!measure_begin(m, state->monitor, error)) {
		result = step->verb->run(step, state, error);
		measure_stop(m);
		result = measure_end(m, state->monitor, result, error);
		measure_record(m, MEASURE_WORKLOAD, phase, NULL, state->sink);
		measure_free(m);
	}
	free(m);
	return result;
}

static int run(const struct plan_step *step, struct run_state *state,
	       struct ffs_error *error)
{
	const struct verb_spec *verb = step->verb;
	const char *phase = "";

	if (verb->before && verb->before(step, state, error))
		return -1;
	if (verb->flags & VERB_PHASE)
		phase = step_text(step, "phase");
	if (*phase)
		return run_as_phase(step, state, phase, error);
	return verb->run(step, state, error);
}

int step_execute(const struct plan_step *step, struct run_state *state,
		 struct step_times *times, struct ffs_error *error)
{
	int result;

	times->t_start_ns = clock_now_ns();
	result = run(step, state, error);
	times->t_end_ns = clock_now_ns();
	if (!result && step->verb->after)
		step->verb->after(step, state);
	return result;
}
