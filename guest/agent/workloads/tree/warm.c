// SPDX-License-Identifier: GPL-2.0-only
/*
 * warm.c - the step tree-warm: every page of the partition has been written
 * once.  One file grows until the file system is full, and is removed.  There is
 * no sync in between: a file system that writes back finds out that it is full by
 * writing, and may drop what little it still holds.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/random.h"
#include "plan/content_keys.h"
#include "workloads/tree/run.h"

#define UNIT_BYTES ((size_t)128 << 10)
#define FILE_NAME "ffslab.warm"

/* Return: 0 once the file system is full, or an errno. */
static int fill(struct tree_run *run, const struct content_source *source,
		int fd, unsigned char *unit)
{
	const struct content content = {
		.source = source,
		.key = rng_mix((uint64_t)step_number(run->step, "seed") + 1),
		.file_bytes = UINT64_MAX,
	};
	uint64_t *written = &run->measure.phase.bytes_written;

	for (;;) {
		uint64_t start;
		ssize_t n;

		/* Where a short write ended, the next goes on. */
		content_fill(&content, *written, unit, UNIT_BYTES);
		start = clock_now_ns();
		n = write(fd, unit, UNIT_BYTES);
		if (n > 0) {
			latency_add_at(&run->latencies[LATENCY_REQUEST_WRITE],
				       start, clock_now_ns());
			*written += (uint64_t)n;
		} else if (!n) {
			return EIO;
		} else if (errno == ENOSPC) {
			return 0;
		} else if (errno != EINTR) {
			return errno;
		}
	}
}

static int warm(struct tree_run *run, const struct content_source *source,
		const char *path, unsigned char *unit, struct ffs_error *error)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	int failed;

	if (fd < 0)
		return ffs_fail(error, errno, "cannot create %.250s%s", path,
			errno == EEXIST ? " (left over from an earlier run? remove it)" : "");
	run->measure.phase.files_created++;
	run->counts.files = 1;
	failed = fill(run, source, fd, unit);
	if (close(fd) && errno != EINTR && errno != ENOSPC && !failed)
		failed = errno;
	run->counts.bytes = run->measure.phase.bytes_written;
	run->counts.largest_directory = 1;
	if (failed)
		return ffs_fail(error, failed, "cannot fill %.250s", path);
	if (unlink(path))
		return ffs_fail(error, errno, "cannot delete %.250s", path);
	run->measure.phase.files_deleted++;
	return 0;
}

int tree_warm(struct tree_run *run, struct ffs_error *error)
{
	const struct content_choice contents =
		content_choice_of(run->step, CONTENT_RANDOM);
	struct content_source source;
	unsigned char *unit;
	char path[PATH_MAX];
	int result = -1;

	if (snprintf(path, sizeof(path), "%s/" FILE_NAME, run->dir) >=
	    (int)sizeof(path))
		return ffs_fail(error, ENAMETOOLONG, "%.64s...", run->dir);
	unit = malloc(UNIT_BYTES);
	if (!unit)
		return ffs_fail(error, ENOMEM, "no memory for units of %zu bytes",
				UNIT_BYTES);
	memset(unit, 1, UNIT_BYTES);
	if (!content_source_init(&source, &contents, error) &&
	    !tree_begin(run, error)) {
		result = warm(run, &source, path, unit, error);
		tree_stop(run);
	}
	content_source_free(&source);
	free(unit);
	return result;
}
