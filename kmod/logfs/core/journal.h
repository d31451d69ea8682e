/* SPDX-License-Identifier: GPL-2.0-only */
/* Commits: journal.c. Mounting one: replay.c, super.c. */
#ifndef LOGFS_JOURNAL_H
#define LOGFS_JOURNAL_H

#include "device.h"

/* Writes a commit; whatever is left has been moved before (gc.c). */
int logfs_journal_commit(struct logfs_device *dev);
/* Aliases that a commit can have beside all else. */
u32 logfs_journal_room(const struct logfs_device *dev);

/* ---- replay.c ---- */

/*
 * The state of the last commit that is whole. *@was_later: there was a later one, which is
 * damaged. -ENODATA: no segment of the journal has one.
 */
int logfs_replay(struct logfs_device *dev, bool *was_later);
/* Before the first operation: the open segments that must not be written to are left. */
void logfs_settle_areas(struct logfs_device *dev);

/* ---- super.c ---- */

/* -EINVAL: there is no superblock here. */
int logfs_super_read(struct logfs_device *dev);
/* Writes one of the two, whose segment is erased for it. An error: it never counts again. */
int logfs_super_write(struct logfs_device *dev, u32 copy);
/* Where of two copies one is not what it should be, it is written. */
void logfs_super_repair(struct logfs_device *dev);
/* Sizes follow from what the superblock says. */
void logfs_super_apply(struct logfs_device *dev);

/* ---- mkfs.c ---- */

/* Nothing is on the partition, but perhaps the superblock of a format that was interrupted. */
bool logfs_mkfs_is_erased(struct logfs_device *dev);
/* Without a commit: there is nothing but what a format leaves that power did not last for. */
bool logfs_mkfs_was_cut(struct logfs_device *dev);
/* Chooses sizes, and places for superblocks and journal. -ENOSPC: it is too small. */
int logfs_mkfs_plan(struct logfs_device *dev);
/* Writes an empty file system. */
int logfs_mkfs(struct logfs_device *dev);

#endif
