// SPDX-License-Identifier: GPL-2.0-only
/*
 * Around operations: the lock, and all that must not happen within one.
 *
 * A block that is new needs room for itself, its inode, and blocks of pointers on each level
 * that a file has; so much is asked for, though most need next to nothing of it. What replaces
 * a block takes no room that counts, for the old one becomes garbage.
 *
 * Who holds the lock may need memory, in the driver below as well. To reclaim some, inodes are
 * evicted, and that takes the lock: so nothing may call file systems until it is given back.
 */

#include <linux/sched/mm.h>

#include "flash.h"
#include "cache.h"
#include "check.h"
#include "gc.h"
#include "journal.h"
#include "segments.h"

#define OBJECTS_A_BLOCK	6
/* Of a dirty page of the page cache: it, and a block of pointers. */
#define OBJECTS_A_PAGE	2

static u64 free_bytes(struct logfs_device *dev)
{
	logfs_flash_count_bad(dev);
	return logfs_free_bytes(&dev->super,
				dev->used_bytes + dev->reserved_bytes,
				dev->n_bad + dev->n_spare);
}

/*
 * What only those need who write, so that a mount need not wait for it. Reading may be all that
 * is left to do.
 */
static int settle(struct logfs_device *dev)
{
	int err;

	if (dev->settled)
		return 0;
	logfs_settle_areas(dev);
	err = logfs_segments_scan(dev);
	if (err && err != -ENOMEM)
		logfs_fail(dev, "the segment file cannot be read", err);
	dev->settled = !err;
	return err;
}

static int prepare(struct logfs_device *dev, u32 blocks)
{
	int err;

	if (!dev->writable)
		return -EROFS;
	err = settle(dev);
	if (!err)
		err = logfs_collect(dev, 0);
	/* To delete something needs little, and is the way out. */
	if (err == -ENOSPC && !blocks && dev->free.n > 1)
		err = 0;
	if (!err)
		err = logfs_wear(dev);
	if (err)
		return err;
	logfs_cache_shrink(dev);
	if (blocks && free_bytes(dev) < (u64)blocks * OBJECTS_A_BLOCK *
	    LOGFS_MAX_OBJECT_BYTES)
		return -ENOSPC;
	return 0;
}

void logfs_lock(struct logfs_device *dev)
{
	mutex_lock(&dev->lock);
	dev->nofs_flags = memalloc_nofs_save();
}

static void unlock(struct logfs_device *dev)
{
	logfs_check(dev);
	memalloc_nofs_restore(dev->nofs_flags);
	mutex_unlock(&dev->lock);
}

int logfs_begin_write(struct logfs_device *dev, u32 blocks)
{
	int err;

	logfs_lock(dev);
	err = prepare(dev, blocks);
	if (err)
		unlock(dev);
	return err;
}

void logfs_unlock(struct logfs_device *dev)
{
	logfs_cache_shrink(dev);
	unlock(dev);
}

int logfs_reserve(struct logfs_device *dev, u32 pages)
{
	const u64 bytes = (u64)pages * OBJECTS_A_PAGE * LOGFS_MAX_OBJECT_BYTES;
	int err = 0;

	logfs_lock(dev);
	if (!dev->writable)
		err = -EROFS;
	else if (free_bytes(dev) < bytes)
		err = -ENOSPC;
	else
		dev->reserved_bytes += bytes;
	unlock(dev);
	return err;
}

void logfs_unreserve(struct logfs_device *dev, u32 pages)
{
	const u64 bytes = (u64)pages * OBJECTS_A_PAGE * LOGFS_MAX_OBJECT_BYTES;

	logfs_lock(dev);
	INVARIANT(dev->reserved_bytes >= bytes,
		  "%llu bytes are given back, reserved: %llu",
		  (unsigned long long)bytes,
		  (unsigned long long)dev->reserved_bytes);
	dev->reserved_bytes -= bytes;
	unlock(dev);
}

void *logfs_keep(struct logfs_device *dev, const struct logfs_keeper *keeper, void *arg)
{
	void *former = dev->keeper_arg;

	logfs_lock(dev);
	dev->keeper = keeper;
	dev->keeper_arg = arg;
	logfs_unlock(dev);
	return former;
}
