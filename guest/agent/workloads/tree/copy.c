// SPDX-License-Identifier: GPL-2.0-only
/*
 * copy.c - the step tree-copy: cp -a of a directory into a new one.
 *
 * Contents, modes, owners and times are copied; links, devices, pipes and
 * sockets become such again.  A directory gets its times when everything below
 * it is there.  If the copy is made inside of what is copied, it is left out.
 *
 * Limit: a file of several hard links becomes several files.  Extended
 * attributes are not copied.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "workloads/tree/descent.h"
#include "workloads/tree/read.h"
#include "workloads/tree/run.h"
#include "workloads/tree/shape.h"

struct copying {
	struct tree_run *run;
	struct walk walk;
	struct tree_reader reader;
	struct descent target;	/* the open directories of the copy */
	struct stat top;	/* of the copy */
	struct stat entered;	/* the directory to be entered next */
	bool may_chown;
	/* By level: the directories that are being copied. */
	struct stat levels[TREE_DEPTH_MAX + 2];
};

/* --- attributes ---------------------------------------------------------- */

static const char *hint(int errnum)
{
	return errnum == ENOSPC ? "copy (the partition is full)" : "copy";
}

static int fail(const struct copying *c, struct ffs_error *error)
{
	int errnum = errno;

	return walk_fail(&c->walk, errnum, hint(errnum), error);
}

/* Of an open file or directory. Return: 0, or -1 with errno. */
static int set_attributes(const struct copying *c, int fd,
			  const struct stat *stat)
{
	const struct timespec times[2] = { stat->st_atim, stat->st_mtim };

	/* Before the mode: a change of the owner clears set-user-id. */
	if (fchown(fd, stat->st_uid, stat->st_gid) &&
	    (c->may_chown || errno != EPERM))
		return -1;
	if (fchmod(fd, stat->st_mode & 07777))
		return -1;
	return futimens(fd, times);
}

/* Of a link or a device, by name, in the directory of the copy. */
static int set_attributes_at(const struct copying *c, int at)
{
	const struct stat *stat = &c->walk.stat;
	const struct timespec times[2] = { stat->st_atim, stat->st_mtim };

	if (fchownat(at, c->walk.name, stat->st_uid, stat->st_gid,
		     AT_SYMLINK_NOFOLLOW) && (c->may_chown || errno != EPERM))
		return -1;
	if (c->walk.type != DT_LNK &&
	    fchmodat(at, c->walk.name, stat->st_mode & 07777, 0))
		return -1;
	return utimensat(at, c->walk.name, times, AT_SYMLINK_NOFOLLOW);
}

/* --- entries ------------------------------------------------------------- */

/* Return: 0, or -1 with errno. */
static int write_all(struct copying *c, int fd, size_t bytes)
{
	const unsigned char *next = c->reader.buffer;

	while (bytes) {
		uint64_t start = clock_now_ns();
		ssize_t n = write(fd, next, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			if (!n)
				errno = EIO;
			return -1;
		}
		latency_add_at(&c->run->latencies[LATENCY_REQUEST_WRITE],
			       start, clock_now_ns());
		c->run->measure.phase.bytes_written += (uint64_t)n;
		next += n;
		bytes -= (size_t)n;
	}
	return 0;
}

static int copy_contents(struct copying *c, int from, int to)
{
	ssize_t n;

	while ((n = tree_read(&c->reader, from, TREE_READ_BYTES)) > 0)
		if (write_all(c, to, (size_t)n))
			return -1;
	return n < 0 ? -1 : set_attributes(c, to, &c->walk.stat);
}

/* Latency: from opening the original to closing the copy. */
static int copy_file(struct copying *c)
{
	uint64_t start = clock_now_ns();
	int from = tree_open(&c->walk), to, failed = 0;

	if (from < 0)
		return -1;
	to = openat(descent_fd(&c->target), c->walk.name,
		    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (to < 0) {
		failed = errno;
	} else {
		c->run->measure.phase.files_created++;
		if (copy_contents(c, from, to))
			failed = errno;
		if (close(to) && errno != EINTR && !failed)
			failed = errno;
	}
	close(from);
	if (!failed)
		latency_add_at(&c->run->latencies[LATENCY_CREATE],
			       start, clock_now_ns());
	errno = failed;
	return failed ? -1 : 0;
}

static int copy_link(struct copying *c)
{
	int at = descent_fd(&c->target);
	char target[PATH_MAX + 1];
	ssize_t n = readlinkat(c->walk.fd, c->walk.name, target, PATH_MAX);

	if (n < 0)
		return -1;
	target[n] = '\0';
	if (symlinkat(target, at, c->walk.name))
		return -1;
	return set_attributes_at(c, at);
}

static int copy_node(struct copying *c)
{
	int at = descent_fd(&c->target);

	if (mknodat(at, c->walk.name, (c->walk.stat.st_mode & S_IFMT) | 0600,
		    c->walk.stat.st_rdev))
		return -1;
	return set_attributes_at(c, at);
}

static int make_directory(struct copying *c, int at, const char *name)
{
	uint64_t start = clock_now_ns();

	if (mkdirat(at, name, 0700))
		return -1;
	latency_add_at(&c->run->latencies[LATENCY_MKDIR],
		       start, clock_now_ns());
	return 0;
}

static int copy_entry(struct copying *c)
{
	switch (c->walk.type) {
	case DT_DIR:
		c->entered = c->walk.stat;
		return make_directory(c, descent_fd(&c->target), c->walk.name);
	case DT_REG:
		return copy_file(c);
	case DT_LNK:
		return copy_link(c);
	default:
		return copy_node(c);
	}
}

/* --- directories --------------------------------------------------------- */

/* The top of the copy, after the names of the original's top are known. */
static int make_top(struct copying *c, struct ffs_error *error)
{
	const char *dir = c->run->dir;

	if (fstat(c->walk.fd, &c->levels[0]))
		return fail(c, error);
	if (make_directory(c, AT_FDCWD, dir))
		return ffs_fail(error, errno, "cannot make directory %.250s%s",
			dir, errno == EEXIST ? " (left over from an earlier run? remove it)" : "");
	if (descent_enter(&c->target, dir) ||
	    fstat(descent_fd(&c->target), &c->top))
		return ffs_fail(error, errno, "cannot open directory %.250s",
				dir);
	return 0;
}

static int enter(struct copying *c, struct ffs_error *error)
{
	if (!c->walk.level)
		return make_top(c, error);
	c->levels[c->walk.level] = c->entered;
	if (descent_enter(&c->target, c->walk.name))
		return fail(c, error);
	return 0;
}

/* @level: of the directory of which everything has been copied. */
static int finish(struct copying *c, size_t level, struct ffs_error *error)
{
	if (set_attributes(c, descent_fd(&c->target), &c->levels[level]) ||
	    descent_leave(&c->target))
		return fail(c, error);
	return 0;
}

static int copy_tree(struct copying *c, struct ffs_error *error)
{
	for (;;) {
		int event = walk_next(&c->walk, error);

		if (event < 0)
			return -1;
		if (event == WALK_END)
			return finish(c, 0, error);
		if (event == WALK_ENTER && enter(c, error))
			return -1;
		if (event == WALK_ENTRY && copy_entry(c))
			return fail(c, error);
		if (event == WALK_LEAVE &&
		    finish(c, c->walk.level + 1, error))
			return -1;
	}
}

int tree_copy(struct tree_run *run, struct ffs_error *error)
{
	struct copying *c = calloc(1, sizeof(*c));
	struct walk_options options = {
		.stat = true,
		.exclude = step_text(run->step, "exclude"),
		.latencies = run->latencies,
	};
	int result = -1;

	if (!c)
		return ffs_fail(error, ENOMEM, "no memory to copy");
	c->run = run;
	c->may_chown = geteuid() == 0;
	options.avoid = &c->top;
	if (!tree_reader_init(&c->reader, run, error) &&
	    !walk_reserve(&c->walk, step_text(run->step, "from"), &options,
			  error) &&
	    !descent_reserve(&c->target, 256, error) &&
	    !tree_begin(run, error)) {
		result = copy_tree(c, error);
		tree_stop(run);
		run->counts = c->walk.counts;
	}
	descent_free(&c->target);
	walk_free(&c->walk);
	tree_reader_free(&c->reader);
	free(c);
	return result;
}
