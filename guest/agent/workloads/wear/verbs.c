// SPDX-License-Identifier: GPL-2.0-only
/*
 * verbs.c - the step wear as a plan has it: its row and keys.
 */
#include <errno.h>
#include <stdlib.h>

#include "plan/content_keys.h"
#include "plan/verbs.h"
#include "steps/step.h"
#include "workloads/wear/wear.h"

const char *const wear_pattern_names[] = {
	[WEAR_REWRITE] = "rewrite",
	[WEAR_APPEND] = "append",
	[WEAR_OVERWRITE] = "overwrite",
	NULL,
};

/* "1000,3000": each larger than the one before. */
static int read_volumes(struct wear_params *params, const char *text,
			struct ffs_error *error)
{
	uint64_t last = 0;
	char *end;

	params->n_volumes = 0;
	do {
		unsigned long long volume;

		errno = 0;
		volume = strtoull(text, &end, 10);
		if (end == text || *text < '0' || *text > '9' || errno ||
		    (*end && *end != ',') || volume <= last ||
		    volume > (unsigned long long)PLAN_SIZE_LIMIT ||
		    params->n_volumes == WEAR_VOLUMES_MAX)
			return ffs_fail(error, 0,
				"volumes: not 1 to %d numbers of bytes, rising and with commas between them",
				WEAR_VOLUMES_MAX);
		params->volumes[params->n_volumes++] = last = volume;
		text = end + 1;
	} while (*end);
	return 0;
}

int wear_params_read(struct wear_params *params, const struct plan_step *step,
		     struct ffs_error *error)
{
	*params = (struct wear_params) {
		.dir = step_text(step, "dir"),
		.pattern = (enum wear_pattern)step_number(step, "pattern"),
		.static_bytes = (uint64_t)step_number(step, "static_bytes"),
		.file_bytes = (uint64_t)step_number(step, "file_bytes"),
		.unit_bytes = (uint64_t)step_number(step, "unit_bytes"),
		.contents = content_choice_of(step, CONTENT_RANDOM),
		.seed = (uint64_t)step_number(step, "seed"),
	};
	if (read_volumes(params, step_text(step, "volumes"), error))
		return -1;
	if (params->pattern == WEAR_OVERWRITE &&
	    (params->unit_bytes > params->file_bytes ||
	     params->volumes[0] < params->file_bytes))
		return ffs_fail(error, 0,
			"to overwrite, unit_bytes must fit into file_bytes, and that into the first volume");
	return content_choice_check(&params->contents, error);
}

static int check_wear(const struct plan_step *step, struct ffs_error *error)
{
	struct wear_params params;

	return wear_params_read(&params, step, error);
}

static int run_wear(const struct plan_step *step, struct run_state *state,
		    struct ffs_error *error)
{
	struct wear_params params;

	if (wear_params_read(&params, step, error))
		return -1;
	return wear_run(&params, state->monitor, state->sink, error);
}

const struct verb_spec wear_verbs[] = {
	{
		.name = "wear",
		.flags = VERB_MAY_FILL | VERB_SEEDED,
		.check = check_wear,
		.run = run_wear,
		.keys = {
			{ "dir", KEY_PATH, "/mnt", 0, 0, NULL },
			{ "static_bytes", KEY_NUMBER, "0", 0, PLAN_SIZE_LIMIT,
			  NULL },
			{ "file_bytes", KEY_NUMBER, "50000000", 1,
			  PLAN_SIZE_LIMIT, NULL },
			{ "unit_bytes", KEY_NUMBER, "131072", 1, PLAN_MIB(64),
			  NULL },
			{ "volumes", KEY_NAME, "1000000000", 0, 0, NULL },
			{ "pattern", KEY_CHOICE, "rewrite", 0, 0,
			  wear_pattern_names },
			PLAN_CONTENT_KEYS("random"),
			{ "seed", KEY_NUMBER, "1", 0, INT64_MAX, NULL },
		},
	},
	{ .name = NULL },
};
