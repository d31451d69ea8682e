// SPDX-License-Identifier: GPL-2.0-only
/*
 * caches.c - see caches.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/caches.h"
#include "core/files.h"

int caches_drop(enum caches caches, struct ffs_error *error)
{
	const char *text = caches == CACHES_PAGES ? "1" : "3";

	/* Dirty pages cannot be dropped: they go to flash first. */
	sync();
	return file_write_text("/proc/sys/vm/drop_caches", text, error);
}

int sync_filesystem(const char *path, struct ffs_error *error)
{
	int failed = 0;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return ffs_fail(error, errno, "cannot open %s to sync it",
				path);
	if (syncfs(fd))
		failed = errno;
	close(fd);
	if (failed)
		return ffs_fail(error, failed, "cannot sync %s", path);
	return 0;
}
