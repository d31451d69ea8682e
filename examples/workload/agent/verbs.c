// SPDX-License-Identifier: GPL-2.0-only
/*
 * verbs.c - the step sample-files as a plan has it: its row and keys, which
 * README.md defines.
 */
#include "plan/verbs.h"
#include "steps/step.h"
#include "workloads/sample_files/sample_files.h"

static int run_sample_files(const struct plan_step *step,
			    struct run_state *state, struct ffs_error *error)
{
	const struct sample_files_params params = {
		.dir = step_text(step, "dir"),
		.files = (uint64_t)step_number(step, "files"),
		.file_bytes = (uint64_t)step_number(step, "file_bytes"),
		.seed = (uint64_t)step_number(step, "seed"),
	};

	return sample_files_workload(&params, state->monitor, state->sink, error);
}

/* A function .check would find keys that contradict each other. */
const struct verb_spec sample_files_verbs[] = {
	{
		.name = "sample-files",
		.flags = VERB_MAY_FILL | VERB_SEEDED,
		.run = run_sample_files,
		.keys = {
			{ "dir", KEY_PATH, "/mnt", 0, 0, NULL },
			{ "files", KEY_NUMBER, "100", 1, 100000, NULL },
			{ "file_bytes", KEY_NUMBER, "4096", 1,
			  SAMPLE_FILES_BYTES_MAX, NULL },
			{ "seed", KEY_NUMBER, "1", 0, INT64_MAX, NULL },
		},
	},
	{ .name = NULL },
};
