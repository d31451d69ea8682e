// SPDX-License-Identifier: GPL-2.0-only
/*
 * verbs.c - the step prepare as a plan has it: its row and keys.
 */
#include "plan/content_keys.h"
#include "plan/verbs.h"
#include "steps/step.h"
#include "workloads/prepare/prepare.h"

STEP_OF_PARAMS(prepare, prepare_params, prepare_params_read, prepare_params_check,
	       prepare_run)

const struct verb_spec prepare_verbs[] = {
	{
		.name = "prepare",
		.flags = VERB_SEEDED,
		.check = check_prepare,
		.run = run_prepare,
		.keys = {
			{ "dir", KEY_PATH, "/mnt", 0, 0, NULL },
			{ "state", KEY_CHOICE, "free", 0, 0, prepare_state_names },
			{ "valid_percent", KEY_NUMBER, "0", 0, 100, NULL },
			{ "invalid_percent", KEY_NUMBER, "0", 0, 100, NULL },
			{ "rate_percent", KEY_NUMBER, "0", 0, 100, NULL },
			{ "partition_bytes", KEY_NUMBER, "0", 0, PLAN_SIZE_LIMIT, NULL },
			{ "file_bytes", KEY_NUMBER, "0", 0, PLAN_SIZE_LIMIT, NULL },
			{ "test_file", KEY_NUMBER, "0", 0, 1, NULL },
			{ "limit", KEY_NUMBER, "1", 0, 1, NULL },
			PLAN_CONTENT_KEYS("random"),
			{ "unit_bytes", KEY_NUMBER, "131072", 512, PLAN_MIB(64), NULL },
			{ "seed", KEY_NUMBER, "1", 0, INT64_MAX, NULL },
		},
	},
	{ .name = NULL },
};
