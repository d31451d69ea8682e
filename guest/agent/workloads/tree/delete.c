// SPDX-License-Identifier: GPL-2.0-only
/*
 * delete.c - the step tree-delete: rm -r of a directory, or of everything
 * in it.
 *
 * The names of a directory are read before the first of them is deleted: what
 * readdir() gives while names go away is up to the file system.  Names that
 * follow one another are deleted by calls that are put off.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "measure/timed.h"
#include "workloads/tree/run.h"

#define CALLS 256

struct deletion {
	struct tree_run *run;
	struct walk walk;
	struct timed_calls timed;
};

/* A directory that is the file system's own; YAFFS2 has it, always. */
static bool belongs_to_filesystem(const struct walk *walk, int errnum)
{
	return errnum == EPERM && !walk->level &&
	       !strcmp(walk->name, "lost+found");
}

/* Make the calls that were put off. */
static int flush(struct deletion *d, struct ffs_error *error)
{
	struct timed_failure failure;
	int result = timed_run(&d->timed, &failure);

	d->run->measure.phase.files_deleted =
		d->run->latencies[LATENCY_DELETE].histogram.count;
	if (!result)
		return 0;
	return walk_fail_at(&d->walk, failure.path, failure.errnum, "delete",
			    error);
}

static int delete_entry(struct deletion *d, struct ffs_error *error)
{
	calls_unlink(&d->timed.calls, TIMED_WHOLE(LATENCY_DELETE), d->walk.fd,
		     d->walk.name);
	if (d->timed.calls.together && !calls_full(&d->timed.calls, 1, 0))
		return 0;
	return flush(d, error);
}

static int delete_directory(struct deletion *d, struct ffs_error *error)
{
	const struct walk *walk = &d->walk;
	uint64_t start, end;
	int result;

	start = clock_now_ns();
	result = unlinkat(walk->fd, walk->name, AT_REMOVEDIR);
	end = clock_now_ns();
	if (result && belongs_to_filesystem(walk, errno))
		return 0;
	if (result)
		return walk_fail(walk, errno, "delete", error);
	latency_add_at(&d->run->latencies[LATENCY_RMDIR], start, end);
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
	latency_add_at(&run->latencies[LATENCY_RMDIR], start, end);
	return 0;
}

static int delete_all(struct deletion *d, struct ffs_error *error)
{
	struct walk *walk = &d->walk;

	for (;;) {
		int event;

		/* A directory that is entered next, too, is none to delete. */
		if (!walk_is_quiet(walk) && flush(d, error))
			return -1;
		event = walk_next(walk, error);
		if (event < 0)
			return -1;
		if (event == WALK_END)
			return step_number(d->run->step, "keep") ? 0 :
			       delete_root(d->run, error);
		if (event == WALK_ENTRY && walk->type != DT_DIR &&
		    delete_entry(d, error))
			return -1;
		if (event == WALK_LEAVE && delete_directory(d, error))
			return -1;
	}
}

int tree_delete(struct tree_run *run, struct ffs_error *error)
{
	const struct walk_options options = { .latencies = run->latencies };
	struct deletion d = { .run = run };
	int result = -1;

	if (!timed_reserve(&d.timed, CALLS, 0, run->latencies, error) &&
	    !walk_reserve(&d.walk, run->dir, &options, error) &&
	    !tree_begin(run, error)) {
		result = delete_all(&d, error);
		tree_stop(run);
		run->counts = d.walk.counts;
	}
	walk_free(&d.walk);
	timed_free(&d.timed);
	return result;
}
