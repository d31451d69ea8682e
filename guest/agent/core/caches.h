/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * caches.h - empty the kernel's caches, so that the next read comes from flash.
 */
#ifndef FFSAGENT_CACHES_H
#define FFSAGENT_CACHES_H

#include "core/error.h"

/* What is written to /proc/sys/vm/drop_caches. */
enum caches {
	CACHES_PAGES = 1,	/* the page cache: contents of files */
	CACHES_ALL = 3,		/* inodes and directory entries, too */
};

/** caches_drop() - sync(2), then drop these clean @caches (root). */
int caches_drop(enum caches caches, struct ffs_error *error);

/** sync_filesystem() - syncfs(2) of the file system that holds @path. */
int sync_filesystem(const char *path, struct ffs_error *error);

#endif
