/* SPDX-License-Identifier: GPL-2.0-only */
/* Garbage collection: gc.c, clean.c, wear.c. */
#ifndef LOGFS_GC_H
#define LOGFS_GC_H

#include "device.h"

/* ---- clean.c ---- */

/* Objects that are valid leave the segment, those that end between @from and @end. */
int logfs_clean(struct logfs_device *dev, u32 segno, u32 level, u32 from,
		u32 end, bool may_commit);
/* The segments that were left are emptied. */
int logfs_evacuate(struct logfs_device *dev);
/* The commit after that is on flash. */
void logfs_evacuated(struct logfs_device *dev);
/* Fewer aliases and changed segments than a commit has room for. */
int logfs_relieve(struct logfs_device *dev, bool may_commit);

/*
 * As logfs_commit(), and once more if that itself has changed much: before a mount, which reads
 * the last one.
 */
int logfs_commit_short(struct logfs_device *dev);

/* ---- gc.c ---- */

/* Before an operation: all is in order, and there are free segments, and so many more. */
int logfs_collect(struct logfs_device *dev, u32 more);

/* ---- journal_move.c ---- */

/* Before an operation: the journal gets other segments, if its own are worn more. */
int logfs_journal_move(struct logfs_device *dev);

/* ---- wear.c ---- */

/* Before an operation: segments with bit errors, or with less wear than others, are cleaned. */
int logfs_wear(struct logfs_device *dev);

#endif
