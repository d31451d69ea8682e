// SPDX-License-Identifier: GPL-2.0-only
/*
 * flash.c - the steps that are about the flash alone: monitor, trace, erase,
 * raw-write, raw-read, write-image.
 */
#include "flash/image.h"
#include "flash/monitor.h"
#include "flash/mtd.h"
#include "flash/raw.h"
#include "plan/verbs.h"
#include "steps/step.h"

static int attach_monitor(const struct plan_step *step, struct run_state *state,
			  struct ffs_error *error)
{
	const char *mtd = step_text(step, "mtd");

	if (monitor_attach(mtd, error) || mtd_record(mtd, state->sink, error))
		return -1;
	state->watched.mtd = mtd;
	state->watched.chip = step_text(step, "chip");
	state->monitor = &state->watched;
	return 0;
}

static int switch_trace(const struct plan_step *step, struct run_state *state,
			struct ffs_error *error)
{
	return monitor_trace(state->monitor->mtd, step_number(step, "on"), error);
}

static int erase(const struct plan_step *step, struct run_state *state,
		 struct ffs_error *error)
{
	(void)state;
	return mtd_erase(step_text(step, "mtd"), error);
}

static int write_raw(const struct plan_step *step, struct run_state *state,
		     struct ffs_error *error)
{
	(void)state;
	return raw_write(step_text(step, "mtd"),
			 (uint64_t)step_number(step, "seed"), error);
}

static int read_raw(const struct plan_step *step, struct run_state *state,
		    struct ffs_error *error)
{
	(void)state;
	return raw_read(step_text(step, "mtd"), error);
}

static int write_image(const struct plan_step *step, struct run_state *state,
		       struct ffs_error *error)
{
	return image_write(step_text(step, "mtd"), step_text(step, "path"),
			   step_number(step, "oob"),
			   step_number(step, "in_place"), &state->written,
			   error);
}

static void report_image(const struct plan_step *step, struct run_state *state)
{
	image_record(&state->written, step_text(step, "path"), state->sink);
}

const struct verb_spec flash_verbs[] = {
	{
		.name = "monitor",
		.flags = VERB_ATTACHES_MONITOR,
		.run = attach_monitor,
		.keys = {
			{ "mtd", KEY_NAME, NULL, 0, 0, NULL },
			{ "chip", KEY_TEXT, "", 0, 0, NULL },
		},
	},
	{
		.name = "trace",
		.flags = VERB_NEEDS_MONITOR,
		.run = switch_trace,
		.keys = {
			{ "on", KEY_NUMBER, NULL, 0, 1, NULL },
		},
	},
	{
		.name = "erase",
		.flags = VERB_PHASE,
		.run = erase,
		.keys = {
			{ "mtd", KEY_NAME, NULL, 0, 0, NULL },
			PLAN_PHASE_KEY,
		},
	},
	{
		.name = "raw-write",
		.flags = VERB_PHASE | VERB_SEEDED,
		.run = write_raw,
		.keys = {
			{ "mtd", KEY_NAME, NULL, 0, 0, NULL },
			{ "seed", KEY_NUMBER, "1", 0, INT64_MAX, NULL },
			PLAN_PHASE_KEY,
		},
	},
	{
		.name = "raw-read",
		.flags = VERB_PHASE,
		.run = read_raw,
		.keys = {
			{ "mtd", KEY_NAME, NULL, 0, 0, NULL },
			PLAN_PHASE_KEY,
		},
	},
	{
		.name = "write-image",
		.flags = VERB_PHASE,
		.run = write_image,
		.after = report_image,
		.keys = {
			{ "mtd", KEY_NAME, NULL, 0, 0, NULL },
			{ "path", KEY_PATH, NULL, 0, 0, NULL },
			{ "oob", KEY_NUMBER, "0", 0, 1, NULL },
			{ "in_place", KEY_NUMBER, "0", 0, 1, NULL },
			PLAN_PHASE_KEY,
		},
	},
	{ .name = NULL },
};
