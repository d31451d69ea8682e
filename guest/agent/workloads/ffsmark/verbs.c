// SPDX-License-Identifier: GPL-2.0-only
/*
 * verbs.c - the step ffsmark as a plan has it: its row, its keys, what they mean.
 */
#include <errno.h>
#include <stdlib.h>

#include "plan/content_keys.h"
#include "plan/verbs.h"
#include "steps/step.h"
#include "workloads/ffsmark/ffsmark.h"

static int check_ffsmark(const struct plan_step *step, struct ffs_error *error)
{
	int64_t valid = step_number(step, "valid_percent");
	int64_t invalid = step_number(step, "invalid_percent");
	struct content_choice contents = content_choice_of(step, CONTENT_RANDOM);

	if (step_number(step, "size_min") > step_number(step, "size_max"))
		return ffs_fail(error, 0,
			"size_min is above size_max; swap them");
	if (valid + invalid > 100)
		return ffs_fail(error, 0,
			"valid_percent + invalid_percent is %lld; both are shares of the space available at launch, so their sum is at most 100",
			(long long)(valid + invalid));
	return content_choice_check(&contents, error);
}

static int run_ffsmark(const struct plan_step *step, struct run_state *state,
		       struct ffs_error *error)
{
	struct ffsmark_location location = {
		.path = (char *)step_text(step, "dir"),
		.weight = 1,
	};
	struct ffsmark_params params = {
		.locations = &location,
		.n_locations = 1,
		.number = (uint32_t)step_number(step, "number"),
		.subdirectories = (uint32_t)step_number(step, "subdirectories"),
		.size_min = (uint32_t)step_number(step, "size_min"),
		.size_max = (uint32_t)step_number(step, "size_max"),
		.transactions = (uint32_t)step_number(step, "transactions"),
		.read_bytes = (uint32_t)step_number(step, "read_bytes"),
		.write_bytes = (uint32_t)step_number(step, "write_bytes"),
		.bias_read = (int)step_number(step, "bias_read"),
		.bias_create = (int)step_number(step, "bias_create"),
		.contents = content_choice_of(step, step_number(step, "text") ?
					      CONTENT_PRINTABLE :
					      CONTENT_RANDOM),
		.buffering = step_number(step, "buffering"),
		.valid_percent = (unsigned int)step_number(step, "valid_percent"),
		.invalid_percent = (unsigned int)step_number(step, "invalid_percent"),
		.drop_caches = step_number(step, "drop_caches"),
		.seed = (uint64_t)step_number(step, "seed"),
		.verify = step_number(step, "verify"),
		.full = step_number(step, "full"),
	};
	struct ffsmark_outputs outputs = {
		.sink = state->sink,
		.monitor = state->monitor,
	};
	struct ffsmark_result *result = calloc(1, sizeof(*result));
	int status;

	if (!result)
		return ffs_fail(error, ENOMEM, "no memory for the workload");
	status = ffsmark_run(&params, &outputs, result, error);
	ffsmark_result_free(result);
	free(result);
	return status;
}

const struct verb_spec ffsmark_verbs[] = {
	{
		.name = "ffsmark",
		.flags = VERB_MAY_FILL | VERB_SEEDED,
		.check = check_ffsmark,
		.run = run_ffsmark,
		.keys = {
			{ "dir", KEY_PATH, "/mnt", 0, 0, NULL },
			{ "number", KEY_NUMBER, "5000", 1, 10000000, NULL },
			{ "subdirectories", KEY_NUMBER, "50", 0, 1000000, NULL },
			{ "size_min", KEY_NUMBER, "512", 1, PLAN_MIB(2047), NULL },
			{ "size_max", KEY_NUMBER, "10240", 1, PLAN_MIB(2047), NULL },
			{ "transactions", KEY_NUMBER, "15000", 0, 100000000, NULL },
			{ "read_bytes", KEY_NUMBER, "4096", 1, PLAN_MIB(64), NULL },
			{ "write_bytes", KEY_NUMBER, "4096", 1, PLAN_MIB(64), NULL },
			{ "bias_read", KEY_NUMBER, "5", -1, 10, NULL },
			{ "bias_create", KEY_NUMBER, "5", -1, 10, NULL },
			{ "text", KEY_NUMBER, "1", 0, 1, NULL },
			PLAN_CONTENT_KEYS(""),
			{ "buffering", KEY_NUMBER, "0", 0, 1, NULL },
			{ "valid_percent", KEY_NUMBER, "0", 0, 100, NULL },
			{ "invalid_percent", KEY_NUMBER, "0", 0, 100, NULL },
			{ "drop_caches", KEY_NUMBER, "1", 0, 1, NULL },
			{ "seed", KEY_NUMBER, "1", 0, INT64_MAX, NULL },
			{ "verify", KEY_NUMBER, "0", 0, 1, NULL },
			{ "full", KEY_NUMBER, "0", 0, 1, NULL },
		},
	},
	{ .name = NULL },
};
