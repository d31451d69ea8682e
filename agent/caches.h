/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * caches.h - empty the kernel's caches, so that the next read comes from flash.
 */
#ifndef FFSAGENT_CACHES_H
#define FFSAGENT_CACHES_H

#include "error.h"

/** caches_drop() - sync(2), then 3 into /proc/sys/vm/drop_caches (root). */
int caches_drop(struct ffs_error *error);

/** sync_filesystem() - syncfs(2) of the file system that holds @path. */
int sync_filesystem(const char *path, struct ffs_error *error);

#endif
