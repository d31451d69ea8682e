// SPDX-License-Identifier: GPL-2.0-only
/*
 * list.c - the steps tree-list and tree-find: ls -R and find -name.
 */
#include <fnmatch.h>

#include "workloads/tree/run.h"

static int go_through(struct tree_run *run, const char *pattern,
		      bool entries_first, struct ffs_error *error)
{
	const struct walk_options options = {
		.stat = step_number(run->step, "stat"),
		.entries_first = entries_first,
		.latencies = run->latencies,
		.ahead = step_number(run->step, "stat"),
	};
	struct walk walk;
	int event;

	if (walk_reserve(&walk, run->dir, &options, error))
		return -1;
	if (tree_begin(run, error)) {
		walk_free(&walk);
		return -1;
	}
	do {
		event = walk_next(&walk, error);
		if (event == WALK_ENTRY && pattern)
			run->found += !fnmatch(pattern, walk.name, 0);
	} while (event != WALK_END && event >= 0);
	tree_stop(run);
	run->counts = walk.counts;
	walk_free(&walk);
	return event < 0 ? -1 : 0;
}

int tree_list(struct tree_run *run, struct ffs_error *error)
{
	return go_through(run, NULL, true, error);
}

int tree_find(struct tree_run *run, struct ffs_error *error)
{
	return go_through(run, step_text(run->step, "name"), false, error);
}
