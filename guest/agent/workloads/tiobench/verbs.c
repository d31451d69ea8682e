// SPDX-License-Identifier: GPL-2.0-only
/*
 * verbs.c - the step tiobench as a plan has it: its row and keys.
 */
#include "plan/content_keys.h"
#include "plan/verbs.h"
#include "steps/step.h"
#include "workloads/tiobench/params.h"
#include "workloads/tiobench/tiobench.h"

STEP_OF_PARAMS(tiobench, tio_params, tio_params_read, tio_params_check,
	       tiobench_run)

const struct verb_spec tiobench_verbs[] = {
	{
		.name = "tiobench",
		.flags = VERB_MAY_FILL | VERB_SEEDED,
		.check = check_tiobench,
		.run = run_tiobench,
		.keys = {
			{ "dir", KEY_PATH, "/mnt", 0, 0, NULL },
			{ "threads", KEY_NUMBER, "1", 1, TIO_THREADS_MAX, NULL },
			{ "file_bytes", KEY_NUMBER, "201326592", 1,
			  PLAN_SIZE_LIMIT, NULL },
			{ "random_bytes", KEY_NUMBER, "67108864", 1,
			  PLAN_SIZE_LIMIT, NULL },
			{ "block_bytes", KEY_NUMBER, "131072",
			  TIO_BLOCK_BYTES_MIN, TIO_BLOCK_BYTES_MAX, NULL },
			{ "sync", KEY_CHOICE, "none", 0, 0, tio_sync_names },
			PLAN_CONTENT_KEYS("random"),
			{ "drop_caches", KEY_NUMBER, "1", 0, 1, NULL },
			{ "full", KEY_NUMBER, "0", 0, 1, NULL },
			{ "remove", KEY_NUMBER, "0", 0, 1, NULL },
			{ "settle_ms", KEY_NUMBER, "0", 0, 1000000000000, NULL },
			{ "seed", KEY_NUMBER, "1", 0, INT64_MAX, NULL },
		},
	},
	{ .name = NULL },
};
