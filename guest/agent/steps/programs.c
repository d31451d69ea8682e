// SPDX-License-Identifier: GPL-2.0-only
/*
 * programs.c - the steps that run another program: exec and shell.
 */
#include "core/process.h"
#include "plan/verbs.h"
#include "steps/step.h"

static int run_program(const struct plan_step *step, struct run_state *state,
		       struct ffs_error *error)
{
	(void)state;
	return process_run(step_text(step, "path"), step_text(step, "args"),
			   error);
}

static int run_shell(const struct plan_step *step, struct run_state *state,
		     struct ffs_error *error)
{
	return process_shell(step_text(step, "path"), state->is_init, error);
}

const struct verb_spec program_verbs[] = {
	{
		.name = "exec",
		.run = run_program,
		.keys = {
			{ "path", KEY_NAME, NULL, 0, 0, NULL },
			{ "args", KEY_TEXT, "", 0, 0, NULL },
		},
	},
	{
		.name = "shell",
		.run = run_shell,
		.keys = {
			{ "path", KEY_PATH, "/bin/sh", 0, 0, NULL },
		},
	},
	{ .name = NULL },
};
