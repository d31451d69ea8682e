// SPDX-License-Identifier: GPL-2.0-only
/*
 * verbs.c - the step append-log as a plan has it: its row and keys.
 */
#include "plan/content_keys.h"
#include "plan/verbs.h"
#include "steps/step.h"
#include "workloads/append_log/append_log.h"
#include "workloads/append_log/params.h"

STEP_OF_PARAMS(append_log, append_log_params, append_log_params_read, append_log_params_check,
	       append_log_run)

const struct verb_spec append_log_verbs[] = {
	{
		.name = "append-log",
		.flags = VERB_MAY_FILL | VERB_SEEDED,
		.check = check_append_log,
		.run = run_append_log,
		.keys = {
			{ "dir", KEY_PATH, "/mnt", 0, 0, NULL },
			{ "lines", KEY_NUMBER, "1000", 1, LOG_LINES_MAX, NULL },
			{ "line_bytes", KEY_NUMBER, "128", LOG_LINE_BYTES_MIN,
			  LOG_LINE_BYTES_MAX, NULL },
			{ "interval_us", KEY_NUMBER, "0", 0, 1000000000000,
			  NULL },
			{ "fsync_every", KEY_NUMBER, "1", 0, INT32_MAX, NULL },
			{ "sync", KEY_CHOICE, "fsync", 0, 0, log_sync_names },
			{ "rotate_bytes", KEY_NUMBER, "0", 0, PLAN_SIZE_LIMIT,
			  NULL },
			{ "keep", KEY_NUMBER, "4", 0, LOG_KEEP_MAX, NULL },
			PLAN_CONTENT_KEYS("text"),
			{ "remove", KEY_NUMBER, "0", 0, 1, NULL },
			{ "settle_ms", KEY_NUMBER, "0", 0, 1000000000000, NULL },
			{ "seed", KEY_NUMBER, "1", 0, INT64_MAX, NULL },
			{ "verify", KEY_NUMBER, "0", 0, 1, NULL },
		},
	},
	{ .name = NULL },
};
