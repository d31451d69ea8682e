// SPDX-License-Identifier: GPL-2.0-only
/*
 * delete.c - the step tree-delete: rm -r of a directory, or of everything
 * in it.
 *
 * The names of a directory are read before the first of them is deleted: what
 * readdir() gives while names go away is up to the file system.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "workloads/tree/run.h"

/* A directory that is the file system's own; YAFFS2 has it, always. */
static bool belongs_to_filesystem(const struct walk *walk, int errnum)
{
	return errnum == EPERM && !walk->level &&
	       !strcmp(walk->name, "lost+found");
}

/* @flags: AT_REMOVEDIR or 0. */
static int delete_entry(struct tree_run *run, const struct walk *walk,
			int flags, struct ffs_error *error)
{
	uint64_t start = clock_now_ns();
	int result = unlinkat(walk->fd, walk->name, flags);
	uint64_t end = clock_now_ns();

	if (result && flags && belongs_to_filesystem(walk, errno))
		return 0;
	if (result)
		return walk_fail(walk, errno, "delete", error);
	latency_add(&run->latencies[flags ? LATENCY_RMDIR : LATENCY_DELETE],
		    end - start);
	run->measure.phase.files_deleted += !flags;
	return 0;
}

static int delete_root(struct tree_run *run, struct ffs_error *error)
{
	uint64_t start = clock_now_ns();
	int result = rmdir(run->dir);
	uint64_t end = clock_now_ns();

	if (result)
		return ffs_fail(error, errno, "cannot delete %s%s", run->dir,
			errno == EBUSY ? " (a mount point stays: set keep=1 to delete only what is in it)" : "");
	latency_add(&run->latencies[LATENCY_RMDIR], end - start);
	return 0;
}

static int delete_all(struct tree_run *run, struct walk *walk,
		      struct ffs_error *error)
{
	for (;;) {
		int event = walk_next(walk, error);

		if (event < 0)
			return -1;
		if (event == WALK_END)
			return step_number(run->step, "keep") ? 0 :
			       delete_root(run, error);
		if (event == WALK_ENTRY && walk->type != DT_DIR &&
		    delete_entry(run, walk, 0, error))
			return -1;
		if (event == WALK_LEAVE &&
		    delete_entry(run, walk, AT_REMOVEDIR, error))
			return -1;
	}
}

int tree_delete(struct tree_run *run, struct ffs_error *error)
{
	const struct walk_options options = { .latencies = run->latencies };
	struct walk walk;
	int result;

	if (walk_reserve(&walk, run->dir, &options, error))
		return -1;
	if (tree_begin(run, error)) {
		walk_free(&walk);
		return -1;
	}
	result = delete_all(run, &walk, error);
	tree_stop(run);
	run->counts = walk.counts;
	walk_free(&walk);
	return result;
}
