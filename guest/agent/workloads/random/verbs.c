// SPDX-License-Identifier: GPL-2.0-only
/*
 * verbs.c - the step random as a plan has it: its row and keys, which README.md
 * defines.
 */
#include <string.h>

#include "plan/verbs.h"
#include "steps/step.h"
#include "workloads/random/random.h"

/* Time for what a file system does in the background. */
#define SLEEP_MAX_MS 4000

static const char *const after_names[] = {
	[AFTER_BOTH] = "both",
	[AFTER_REMOUNT] = "remount",
	[AFTER_DROP] = "drop",
	[AFTER_NOTHING] = "nothing",
	NULL,
};

enum xattrs { XATTRS_ALL, XATTRS_FILES, XATTRS_NONE };

static const char *const xattrs_names[] = {
	[XATTRS_ALL] = "all",
	[XATTRS_FILES] = "files",
	[XATTRS_NONE] = "none",
	NULL,
};

static unsigned long flags_of(const char *list)
{
	unsigned long flags = 0;

	while (*list) {
		size_t length = strcspn(list, ",");

		flags |= plan_mount_flag(list, length);
		list += length + (list[length] == ',');
	}
	return flags;
}

/* Empty text is none. */
static const char *text_or_null(const struct plan_step *step, const char *key)
{
	const char *text = step_text(step, key);

	return *text ? text : NULL;
}

static void read_options(struct options *opt, const struct plan_step *step)
{
	uint64_t each = (uint64_t)step_number(step, "operations");

	options_preset(opt);
	opt->dir = step_text(step, "dir");
	opt->type = text_or_null(step, "type");
	opt->source = step_text(step, "source");
	opt->mount_options = step_text(step, "options");
	opt->mount_flags = flags_of(step_text(step, "flags"));
	opt->stays_mounted = true;
	opt->seed = (uint64_t)step_number(step, "seed");
	opt->operations = each * (uint64_t)step_number(step, "rounds");
	opt->compare_every = each;
	opt->after = (enum after)step_number(step, "after");
	opt->bytes_max = (uint64_t)step_number(step, "bytes");
	options_shape(opt, shape_find(
		shape_names[step_number(step, "shape")]));
	opt->fills = (uint64_t)step_number(step, "fills");
	opt->turn_over_bytes = (uint64_t)step_number(step, "turn_over_bytes");
	opt->chunk = (uint64_t)step_number(step, "chunk");
	opt->no_xattr = step_number(step, "xattrs") == XATTRS_NONE;
	opt->xattr_files_only = step_number(step, "xattrs") == XATTRS_FILES;
	opt->keep_emptied = !step_number(step, "over_emptied");
	opt->no_times = !step_number(step, "times");
	opt->calls = text_or_null(step, "calls");
	opt->without = step_text(step, "without");
	opt->tell_calls = step_number(step, "tell");
	opt->sleep_max_ms = SLEEP_MAX_MS;
	opt->id_max = 65535;
	opt->may_shrink = true;
	opt->small_devices = true;
}

static int run_random(const struct plan_step *step, struct run_state *state,
		      struct ffs_error *error)
{
	struct options opt;

	read_options(&opt, step);
	return random_workload(&opt, state->monitor, state->sink, error);
}

const struct verb_spec random_verbs[] = {
	{
		.name = "random",
		.flags = VERB_SEEDED,
		.run = run_random,
		.keys = {
			{ "dir", KEY_PATH, "/mnt", 0, 0, NULL },
			{ "type", KEY_TEXT, "", 0, 0, NULL },
			{ "source", KEY_TEXT, "", 0, 0, NULL },
			{ "options", KEY_TEXT, "", 0, 0, NULL },
			{ "flags", KEY_MOUNT_FLAGS, "", 0, 0, NULL },
			{ "rounds", KEY_NUMBER, "60", 1, 1000000, NULL },
			{ "operations", KEY_NUMBER, "100", 1, 1000000, NULL },
			{ "after", KEY_CHOICE, "both", 0, 0, after_names },
			{ "shape", KEY_CHOICE, "mixed", 0, 0, shape_names },
			{ "bytes", KEY_NUMBER, "3145728", 131072,
			  PLAN_SIZE_LIMIT, NULL },
			{ "fills", KEY_NUMBER, "0", 0, 1000, NULL },
			{ "turn_over_bytes", KEY_NUMBER, "0", 0,
			  PLAN_SIZE_LIMIT, NULL },
			{ "chunk", KEY_NUMBER, "2048", 1, 1048576, NULL },
			{ "xattrs", KEY_CHOICE, "all", 0, 0, xattrs_names },
			{ "over_emptied", KEY_NUMBER, "1", 0, 1, NULL },
			{ "times", KEY_NUMBER, "0", 0, 1, NULL },
			{ "calls", KEY_TEXT, "", 0, 0, NULL },
			{ "without", KEY_TEXT, "", 0, 0, NULL },
			{ "tell", KEY_NUMBER, "0", 0, 1, NULL },
			{ "seed", KEY_NUMBER, "1", 0, INT64_MAX, NULL },
		},
	},
	{ .name = NULL },
};
