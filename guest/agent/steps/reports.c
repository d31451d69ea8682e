// SPDX-License-Identifier: GPL-2.0-only
/*
 * reports.c - the steps that only emit a record: snapshot, space, memory, capture,
 * mtd-statistics.
 */
#include <stdlib.h>

#include "core/files.h"
#include "flash/monitor.h"
#include "flash/mtd_statistics.h"
#include "measure/memory.h"
#include "measure/space.h"
#include "plan/verbs.h"
#include "steps/step.h"

#define CAPTURE_LIMIT ((size_t)1 << 20)

static int report_flash(const struct plan_step *step, struct run_state *state,
			struct ffs_error *error)
{
	struct flash_snapshot snapshot = { 0 };
	int result = snapshot_after(&snapshot, state->monitor, error);

	if (!result)
		snapshot_record(&snapshot, step->label, state->sink);
	snapshot_free(&snapshot);
	return result;
}

static int report_space(const struct plan_step *step, struct run_state *state,
			struct ffs_error *error)
{
	struct space space;

	if (space_read(&space, step_text(step, "target"), error))
		return -1;
	space_record(&space, step->label, state->sink);
	return 0;
}

static int report_memory(const struct plan_step *step, struct run_state *state,
			 struct ffs_error *error)
{
	struct memory memory;
	int result = memory_read(&memory, error);

	if (!result)
		memory_record(&memory, step->label, state->sink);
	memory_free(&memory);
	return result;
}

static int report_file(const struct plan_step *step, struct run_state *state,
		       struct ffs_error *error)
{
	const char *path = step_text(step, "path");
	char *text = file_read(path, CAPTURE_LIMIT, NULL, error);

	if (!text)
		return -1;
	record_begin(state->sink, "file");
	record_string(state->sink, "path", path);
	record_string(state->sink, "text", text);
	record_end(state->sink);
	free(text);
	return 0;
}

static int report_mtd(const struct plan_step *step, struct run_state *state,
		      struct ffs_error *error)
{
	return mtd_statistics_report(step_text(step, "mtd"), step->label,
				     state->sink, error);
}

const struct verb_spec report_verbs[] = {
	{
		.name = "snapshot",
		.flags = VERB_LABELLED | VERB_NEEDS_MONITOR,
		.run = report_flash,
	},
	{
		.name = "space",
		.flags = VERB_LABELLED,
		.run = report_space,
		.keys = {
			{ "target", KEY_PATH, "/mnt", 0, 0, NULL },
		},
	},
	{
		.name = "memory",
		.flags = VERB_LABELLED,
		.run = report_memory,
	},
	{
		.name = "capture",
		.run = report_file,
		.keys = {
			{ "path", KEY_PATH, NULL, 0, 0, NULL },
		},
	},
	{
		.name = "mtd-statistics",
		.flags = VERB_LABELLED,
		.run = report_mtd,
		.keys = {
			{ "mtd", KEY_NAME, NULL, 0, 0, NULL },
		},
	},
	{ .name = NULL },
};
