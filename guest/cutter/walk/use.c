// SPDX-License-Identifier: GPL-2.0-only
/*
 * use.c - see use.h.
 *
 * Of the full file system syncfs() is asked, not fsync(): that of JFFS2 collects
 * garbage until its write buffer is written, which on a full flash may never be.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "core/random.h"
#include "walk/use.h"

#define PIECE_BYTES ((size_t)64 << 10)
#define SYNCED_BYTES ((size_t)8 << 10)
#define PIECES_AT_ONCE 32
/* Of less room than this nothing is expected: all keep some back. */
#define ROOM_BYTES ((uint64_t)64 << 10)
#define SYNCED_NAME ".ffscrash-synced"
#define FILL_NAME ".ffscrash-fill"

int use_reserve(struct use *use, struct ffs_error *error)
{
	struct rng rng;

	memset(use, 0, sizeof(*use));
	if (calls_reserve(&use->calls, PIECES_AT_ONCE, 0, error))
		return -1;
	use->data = malloc(PIECE_BYTES);
	if (!use->data) {
		use_free(use);
		return ffs_fail(error, ENOMEM, "no memory for a piece");
	}
	rng_seed(&rng, 1);
	rng_fill(&rng, use->data, PIECE_BYTES);
	return 0;
}

void use_free(struct use *use)
{
	calls_free(&use->calls);
	free(use->data);
	memset(use, 0, sizeof(*use));
}

static int write_synced(struct use *use, int root)
{
	struct calls *calls = &use->calls;
	size_t done;
	int failed;

	calls_open(calls, 0, root, SYNCED_NAME, O_WRONLY | O_CREAT | O_EXCL);
	calls_write(calls, 0, CALLS_OPENED, use->data, SYNCED_BYTES);
	calls_fsync(calls, 0, CALLS_OPENED);
	calls_close(calls, 0, CALLS_OPENED);
	failed = calls_run(calls, &done);
	calls_clear(calls);
	return failed;
}

/* Return: the errno that ended it, 0 after @pieces. */
static int write_pieces(struct use *use, int fd, uint64_t pieces)
{
	struct calls *calls = &use->calls;
	size_t done;
	int failed = 0;

	while (pieces && !failed) {
		while (pieces && !calls_full(calls, 1, 0)) {
			calls_write(calls, 0, fd, use->data, PIECE_BYTES);
			pieces--;
		}
		failed = calls_run(calls, &done);
		calls_clear(calls);
	}
	return failed;
}

static int fill(struct use *use, int root)
{
	struct statfs space;
	uint64_t bytes;
	int fd, failed;

	use->has_fill = false;
	if (fstatfs(root, &space))
		return errno;
	bytes = (uint64_t)space.f_blocks * (uint64_t)space.f_bsize;
	fd = openat(root, FILL_NAME, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		    0644);
	use->has_fill = fd >= 0;
	if (fd < 0)
		return errno;
	/* Twice its size will not go into it. */
	failed = write_pieces(use, fd, 2 * (bytes / PIECE_BYTES + 1));
	if (close(fd) && !failed)
		failed = errno;
	return failed;
}

static int delete(const struct use *use, int root)
{
	int failed = unlinkat(root, SYNCED_NAME, 0) ? errno : 0;

	if (use->has_fill && unlinkat(root, FILL_NAME, 0) && !failed)
		failed = errno;
	return failed;
}

/* Return: NULL, or the step that failed, with @errnum. */
static const char *fill_up(struct use *use, int root, int *errnum)
{
	*errnum = fill(use, root);
	if (*errnum != ENOSPC)
		return "fill";
	/* That what was taken does not fit after all may be told here. */
	*errnum = syncfs(root) ? errno : 0;
	return *errnum && *errnum != ENOSPC ? "fill-sync" : NULL;
}

static bool has_room(int root)
{
	struct statfs space;

	return fstatfs(root, &space) ||
	       (uint64_t)space.f_bavail * (uint64_t)space.f_bsize >= ROOM_BYTES;
}

/* It was full from the beginning, and says so; what there is of a file goes. */
static const char *leave_full(int root, int *errnum)
{
	*errnum = unlinkat(root, SYNCED_NAME, 0) && errno != ENOENT ? errno : 0;
	return *errnum ? "delete" : "full";
}

static const char *use_steps(struct use *use, int root, bool full, int *errnum)
{
	bool room = has_room(root);
	const char *failed;

	use->has_fill = false;
	*errnum = write_synced(use, root);
	if (*errnum == ENOSPC && !room)
		return leave_full(root, errnum);
	if (*errnum)
		return "write";
	failed = full ? fill_up(use, root, errnum) : NULL;
	if (failed)
		return failed;
	*errnum = delete(use, root);
	if (*errnum)
		return "delete";
	*errnum = syncfs(root) ? errno : 0;
	return *errnum ? "sync" : NULL;
}

const char *use_filesystem(struct use *use, const char *root, bool full,
			   int *errnum)
{
	int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *step;

	if (fd < 0) {
		*errnum = errno;
		return "write";
	}
	step = use_steps(use, fd, full, errnum);
	if (step) {
		/* What is in the way of the comparison that follows. */
		(void)unlinkat(fd, SYNCED_NAME, 0);
		(void)unlinkat(fd, FILL_NAME, 0);
	}
	close(fd);
	return step;
}

const char *use_room(struct use *use, int root, uint64_t *bytes, int *errnum)
{
	struct stat stat = { 0 };
	const char *step = fill_up(use, root, errnum);

	if (!step && use->has_fill && fstatat(root, FILL_NAME, &stat, 0)) {
		*errnum = errno;
		step = "fill";
	}
	*bytes = (uint64_t)stat.st_size;
	if (use->has_fill && unlinkat(root, FILL_NAME, 0) && !step) {
		*errnum = errno;
		step = "delete";
	}
	if (syncfs(root) && !step) {
		*errnum = errno;
		step = "sync";
	}
	return step;
}
