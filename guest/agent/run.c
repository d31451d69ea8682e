// SPDX-License-Identifier: GPL-2.0-only
/*
 * run.c - see run.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "core/clock.h"
#include "core/files.h"
#include "plan/plan.h"
#include "run.h"
#include "steps/step.h"
#include "version.h"

void run_emit_start(struct record_sink *sink, uint64_t seed)
{
	struct utsname system;

	record_begin(sink, "start");
	record_string(sink, "agent", FFSAGENT_VERSION);
	record_string(sink, "kernel", uname(&system) ? "" : system.release);
	record_string(sink, "clock", clock_name());
	record_number(sink, "seed", seed);
	record_end(sink);
}

void run_emit_end(struct record_sink *sink, const struct ffs_error *error,
		  size_t steps_run, size_t steps_total)
{
	record_begin(sink, "end");
	record_status(sink, error);
	record_number(sink, "steps_run", steps_run);
	record_number(sink, "steps_total", steps_total);
	record_number(sink, "t_ns", clock_now_ns());
	record_end(sink);
}

/* The seed of the first step that has one: it names the whole run. */
static uint64_t first_seed(const struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan->n_steps; i++) {
		const struct plan_step *step = &plan->steps[i];

		if (step->verb->flags & VERB_SEEDED)
			return (uint64_t)step_number(step, "seed");
	}
	return 0;
}

/* Return: 0 or -1 with @error; the record of the step is emitted. */
static int run_step(const struct plan_step *step, size_t index,
		    struct run_state *state, struct ffs_error *error)
{
	struct step_times times;
	int result = step_execute(step, state, &times, error);

	record_begin(state->sink, "step");
	record_number(state->sink, "index", index);
	record_string(state->sink, "verb", step->verb->name);
	record_string(state->sink, "label", step->label);
	record_number(state->sink, "t_start_ns", times.t_start_ns);
	record_number(state->sink, "t_end_ns", times.t_end_ns);
	record_status(state->sink, result ? error : NULL);
	/* What a failure means to the plan, see goes_on(). */
	if (result && step->may_fail)
		record_true(state->sink, "may_fail");
	if (result && step->verb->flags & VERB_MAY_FILL)
		record_true(state->sink, "may_fill");
	record_end(state->sink);
	if (result)
		fprintf(stderr, "ffsagent: step %zu (line %zu, %s): %s%s\n",
			index, step->line, step->verb->name, error->message,
			step->may_fail ? " (may fail)" : "");
	return result;
}

/*
 * A step that fails ends the plan, unless it may fail.  A workload that fills
 * the partition is a result, not an accident: the plan goes on and counts as
 * failed in the end.  A state that could not be prepared is not to be measured.
 */
static bool goes_on(const struct plan_step *step, const struct ffs_error *error)
{
	return step->may_fail ||
	       (step->verb->flags & VERB_MAY_FILL && error->errnum == ENOSPC);
}

static enum ffs_exit run_steps(const struct plan *plan,
			       struct run_state *state)
{
	struct ffs_error error, first;
	bool failed = false;
	size_t i = 0;

	while (i < plan->n_steps && !state->sink->failed) {
		const struct plan_step *step = &plan->steps[i];
		int result = run_step(step, i, state, &error);

		i++;
		if (!result)
			continue;
		if (!step->may_fail && !failed) {
			failed = true;
			first = error;
		}
		if (!goes_on(step, &error))
			break;
	}
	run_emit_end(state->sink, failed ? &first : NULL, i, plan->n_steps);
	return failed ? EXIT_FAILED : EXIT_GOOD;
}

static enum ffs_exit refuse(struct record_sink *sink, const char *path,
			    const struct ffs_error *error, enum ffs_exit code)
{
	fprintf(stderr, "ffsagent: %s: %s\n", path, error->message);
	run_emit_start(sink, 0);
	run_emit_end(sink, error, 0, 0);
	return code;
}

enum ffs_exit run_plan_file(const char *path, struct record_sink *sink,
			    bool is_init)
{
	struct run_state state = { .sink = sink, .is_init = is_init };
	struct ffs_error error;
	struct plan plan;
	enum ffs_exit code;
	size_t bytes;
	char *text;

	text = file_read(path, PLAN_TEXT_MAX, &bytes, &error);
	if (!text)
		return refuse(sink, path, &error, EXIT_USAGE);
	if (plan_parse(&plan, text, bytes, &error)) {
		free(text);
		return refuse(sink, path, &error, EXIT_USAGE);
	}
	free(text);
	run_emit_start(sink, first_seed(&plan));
	code = run_steps(&plan, &state);
	plan_free(&plan);
	if (sink->failed) {
		fprintf(stderr, "ffsagent: cannot write the records: %s\n",
			strerror(sink->failed));
		code = EXIT_INFRASTRUCTURE;
	}
	return code;
}
