// SPDX-License-Identifier: GPL-2.0-only
/*
 * verbs.c - the step micro as a plan has it: its row and keys.
 */
#include "plan/content_keys.h"
#include "plan/verbs.h"
#include "steps/step.h"
#include "workloads/micro/micro.h"
#include "workloads/micro/params.h"

STEP_OF_PARAMS(micro, micro_params, micro_params_read, micro_params_check,
	       micro_run)

const struct verb_spec micro_verbs[] = {
	{
		.name = "micro",
		.flags = VERB_MAY_FILL | VERB_SEEDED,
		.check = check_micro,
		.run = run_micro,
		.keys = {
			{ "dir", KEY_PATH, "/mnt", 0, 0, NULL },
			{ "pattern", KEY_CHOICE, "random-write", 0, 0,
			  micro_kind_names },
			{ "request_bytes", KEY_NUMBER, "4096", 1, PLAN_MIB(64), NULL },
			{ "volume_bytes", KEY_NUMBER, "20971520", 1, PLAN_SIZE_LIMIT, NULL },
			{ "file_bytes", KEY_NUMBER, "0", 0, PLAN_SIZE_LIMIT, NULL },
			{ "existing", KEY_NUMBER, "0", 0, 1, NULL },
			{ "limit", KEY_NUMBER, "1", 0, 1, NULL },
			{ "remove", KEY_NUMBER, "0", 0, 1, NULL },
			{ "until_full", KEY_NUMBER, "0", 0, 1, NULL },
			{ "settle_ms", KEY_NUMBER, "0", 0, 1000000000000, NULL },
			{ "random", KEY_CHOICE, "shuffle", 0, 0, micro_random_names },
			{ "shift_bytes", KEY_NUMBER, "0", 0, PLAN_SIZE_LIMIT, NULL },
			{ "target_bytes", KEY_NUMBER, "0", 0, PLAN_SIZE_LIMIT, NULL },
			{ "partitions", KEY_NUMBER, "1", 1, INT32_MAX, NULL },
			{ "increment", KEY_NUMBER, "1", -(1LL << 31), 1LL << 31, NULL },
			{ "parallel", KEY_NUMBER, "1", 1, MICRO_STREAMS_MAX, NULL },
			{ "mix_pattern", KEY_CHOICE, "", 0, 0, micro_kind_names },
			{ "mix_ratio", KEY_NUMBER, "1", 1, INT32_MAX, NULL },
			{ "pause_us", KEY_NUMBER, "0", 0, 1000000000000, NULL },
			{ "burst", KEY_NUMBER, "1", 1, INT32_MAX, NULL },
			{ "cache", KEY_CHOICE, "drop", 0, 0, micro_cache_names },
			{ "fsync_every", KEY_NUMBER, "0", 0, INT32_MAX, NULL },
			PLAN_CONTENT_KEYS("random"),
			{ "seed", KEY_NUMBER, "1", 0, INT64_MAX, NULL },
		},
	},
	{ .name = NULL },
};
