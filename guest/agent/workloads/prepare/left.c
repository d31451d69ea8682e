// SPDX-License-Identifier: GPL-2.0-only
/*
 * left.c - see left.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "workloads/prepare/left.h"
#include "workloads/prepare/prepare.h"

int left_find(struct left_files *files, const char *dir, bool remove,
	      struct ffs_error *error)
{
	files->remove = remove;
	files->valid_fd = -1;
	if (snprintf(files->valid_path, PATH_MAX, "%s/%s", dir,
		     LAB_FILE_VALID) >= PATH_MAX ||
	    snprintf(files->invalid_path, PATH_MAX, "%s/%s", dir,
		     LAB_FILE_INVALID) >= PATH_MAX)
		return ffs_fail(error, ENAMETOOLONG, "%.64s...", dir);
	if (remove && access(files->invalid_path, F_OK))
		return ffs_fail(error, errno,
			"remove=1, but %s cannot be removed (has a step prepare written it? one with test_file=1 has removed it already); else set remove=0",
			files->invalid_path);
	return 0;
}

/*
 * A file system that has just written a file knows it.  After a mount, or after
 * caches were dropped, it would first have to read all its nodes (JFFS2), in
 * the middle of the requests: when a collector comes upon them, or at the
 * removal.  Looking at a file makes it known, and an open one stays so.  The
 * one to be removed must be closed, else it would not go.
 */
int left_know(struct left_files *files, struct ffs_error *error)
{
	struct stat info;

	files->valid_fd = open(files->valid_path, O_RDONLY | O_CLOEXEC);
	if (files->valid_fd < 0 && errno != ENOENT)
		return ffs_fail(error, errno, "cannot open %s",
				files->valid_path);
	if (files->remove && stat(files->invalid_path, &info))
		return ffs_fail(error, errno, "cannot look at %s",
				files->invalid_path);
	return 0;
}

int left_invalidate(const struct left_files *files, struct phase *phase,
		    const struct phase_site *site, struct ffs_error *error)
{
	int result = 0;

	if (phase_begin(phase, site, error))
		return -1;
	if (files->remove && unlink(files->invalid_path))
		result = ffs_fail(error, errno, "cannot delete %s",
				  files->invalid_path);
	phase_stop(phase);
	phase->files_deleted += files->remove && !result;
	return phase_end(phase, site, result, error);
}

void left_release(struct left_files *files)
{
	if (files->valid_fd >= 0)
		close(files->valid_fd);
	files->valid_fd = -1;
}
