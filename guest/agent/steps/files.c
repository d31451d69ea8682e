// SPDX-License-Identifier: GPL-2.0-only
/*
 * files.c - the step that acts on a single file: remove.
 */
#include <errno.h>
#include <unistd.h>

#include "plan/verbs.h"
#include "steps/step.h"

static int remove_file(const struct plan_step *step, struct run_state *state,
		       struct ffs_error *error)
{
	const char *path = step_text(step, "path");

	(void)state;
	if (unlink(path))
		return ffs_fail(error, errno, "cannot remove %s%s", path,
			errno == ENOENT ? " (no step before wrote it)" : "");
	return 0;
}

const struct verb_spec file_verbs[] = {
	{
		.name = "remove",
		.flags = VERB_PHASE,
		.run = remove_file,
		.keys = {
			{ "path", KEY_PATH, NULL, 0, 0, NULL },
			PLAN_PHASE_KEY,
		},
	},
	{ .name = NULL },
};
