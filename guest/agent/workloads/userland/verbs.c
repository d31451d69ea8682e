// SPDX-License-Identifier: GPL-2.0-only
/*
 * verbs.c - the steps of guests that run programs of others: rows and keys.
 */
#include "plan/verbs.h"
#include "workloads/userland/verify.h"

static const char *const parts[] = { "before", "after", NULL };

static int run_verify(const struct plan_step *step, struct run_state *state,
		      struct ffs_error *error)
{
	(void)state;
	return verify_tree(step_text(step, "dir"), step_text(step, "list"),
			   step_number(step, "part") == 1, error);
}

const struct verb_spec userland_verbs[] = {
	{
		.name = "userland-verify",
		.run = run_verify,
		.keys = {
			{ "dir", KEY_PATH, "/mnt", 0, 0, NULL },
			{ "list", KEY_PATH, "/ffslab.tree", 0, 0, NULL },
			{ "part", KEY_CHOICE, NULL, 0, 0, parts },
		},
	},
	{ .name = NULL },
};
