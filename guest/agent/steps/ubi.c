// SPDX-License-Identifier: GPL-2.0-only
/*
 * ubi.c - the steps ubi-attach, ubi-mkvol and ubi-detach.
 */
#include "flash/ubi.h"
#include "plan/verbs.h"
#include "steps/step.h"

static int attach(const struct plan_step *step, struct run_state *state,
		  struct ffs_error *error)
{
	int ubi = (int)step_number(step, "ubi");
	int block = (int)step_number(step, "block");

	(void)state;
	if (ubi_attach(step_text(step, "mtd"), ubi,
		       (int)step_number(step, "vid_hdr_offset"),
		       (int)step_number(step, "max_beb_per1024"), error))
		return -1;
	return block < 0 ? 0 : ubi_make_block(ubi, block, error);
}

static int make_volume(const struct plan_step *step, struct run_state *state,
		       struct ffs_error *error)
{
	int ubi = (int)step_number(step, "ubi");
	int volume = (int)step_number(step, "volume");
	const char *contents = step_text(step, "contents");

	(void)state;
	if (ubi_make_volume(ubi, step_text(step, "name"), volume,
			    step_number(step, "size"), error))
		return -1;
	if (*contents && ubi_fill_volume(ubi, volume, contents, error))
		return -1;
	return step_number(step, "block") ? ubi_make_block(ubi, volume, error) : 0;
}

static int detach(const struct plan_step *step, struct run_state *state,
		  struct ffs_error *error)
{
	(void)state;
	return ubi_detach((int)step_number(step, "ubi"), error);
}

const struct verb_spec ubi_verbs[] = {
	{
		.name = "ubi-attach",
		.flags = VERB_PHASE,
		.run = attach,
		.keys = {
			{ "mtd", KEY_NAME, NULL, 0, 0, NULL },
			{ "ubi", KEY_NUMBER, "0", 0, 31, NULL },
			{ "vid_hdr_offset", KEY_NUMBER, "0", 0, PLAN_MIB(1), NULL },
			{ "max_beb_per1024", KEY_NUMBER, "0", 0, 768, NULL },
			{ "block", KEY_NUMBER, "-1", -1, 127, NULL },
			PLAN_PHASE_KEY,
		},
	},
	{
		.name = "ubi-mkvol",
		.flags = VERB_PHASE,
		.run = make_volume,
		.keys = {
			{ "ubi", KEY_NUMBER, "0", 0, 31, NULL },
			{ "name", KEY_NAME, "data", 0, 0, NULL },
			{ "volume", KEY_NUMBER, "0", 0, 127, NULL },
			{ "size", KEY_SIZE_OR_MAX, "max", 0, 0, NULL },
			{ "contents", KEY_TEXT, "", 0, 0, NULL },
			{ "block", KEY_NUMBER, "0", 0, 1, NULL },
			PLAN_PHASE_KEY,
		},
	},
	{
		.name = "ubi-detach",
		.flags = VERB_PHASE,
		.run = detach,
		.keys = {
			{ "ubi", KEY_NUMBER, "0", 0, 31, NULL },
			PLAN_PHASE_KEY,
		},
	},
	{ .name = NULL },
};
