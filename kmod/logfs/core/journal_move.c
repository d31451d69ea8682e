// SPDX-License-Identifier: GPL-2.0-only
/*
 * The journal moves when its segments are worn more than others: for it is where every commit
 * goes. Which segments it has is in the superblocks, and nowhere else.
 *
 * The commit that says of the old segments that they are free, and of new ones that they are
 * not, goes to the new ones. Until the first superblock names these, a mount takes the old
 * ones, and the commit before, in which the new ones are free: nothing was erased in between
 * but them. The second superblock is written after the first; where they differ a mount writes
 * it again.
 */

#include <linux/err.h>

#include "area.h"
#include "flash.h"
#include "gc.h"
#include "journal.h"
#include "segments.h"

/* Erasures: twice what is borne between segments of objects. */
#define LIMIT	(2 * LOGFS_WEAR_LIMIT)

static u32 lowest_ec(const struct logfs_device *dev)
{
	u32 lowest = U32_MAX, slot;

	for (slot = 0; slot < LOGFS_JOURNAL_SEGMENTS; slot++)
		if (dev->super.journal[slot])
			lowest = min_t(u32, lowest, dev->journal.ec[slot]);
	return lowest;
}

static bool is_time(const struct logfs_device *dev)
{
	u32 others;

	if (!dev->free.n)
		return false;
	others = max_t(u32, dev->free.at[0].ec, dev->super.segment.ec);
	return lowest_ec(dev) > others + LIMIT;
}

/* The segment of @slot is for objects from now on, and a free one for the journal. */
static int exchange(struct logfs_device *dev, u32 slot)
{
	const struct logfs_candidate c = dev->free.at[0];
	struct logfs_journal *j = &dev->journal;
	struct logfs_segment_entry e = {
		.state = j->failed[slot] ? LOGFS_SEGMENT_BAD :
					   LOGFS_SEGMENT_NORMAL,
		.ec = j->ec[slot],
	};
	int err = logfs_segment_set(dev, dev->super.journal[slot], &e);

	if (err)
		return err;
	logfs_lists_drop(dev, c.segno);
	e.state = LOGFS_SEGMENT_RESERVED;
	e.ec = c.ec;
	dev->super.journal[slot] = c.segno;
	j->ec[slot] = c.ec;
	j->failed[slot] = false;
	return logfs_segment_set(dev, c.segno, &e);
}

static int write_supers(struct logfs_device *dev)
{
	u32 copy, written = 0;

	dev->super.segment.ec++;
	dev->super.segment.gec = ++dev->gec;
	for (copy = 0; copy < LOGFS_SUPERBLOCKS; copy++) {
		if (logfs_super_write(dev, copy))
			pr_warn("logfs: %s: copy %u of the superblock cannot be written\n",
				dev->mtd->name, copy);
		else
			written++;
	}
	return written ? 0 : -EIO;
}

int logfs_journal_move(struct logfs_device *dev)
{
	u32 slot;
	int err;

	if (!is_time(dev))
		return 0;
	err = logfs_collect(dev, dev->super.n_journal);
	if (err)
		return err == -ENOSPC ? 0 : err;
	err = logfs_commit(dev);
	for (slot = 0; slot < LOGFS_JOURNAL_SEGMENTS && !err; slot++)
		if (dev->super.journal[slot])
			err = exchange(dev, slot);
	if (!err) {
		dev->journal.used = dev->segment_bytes;
		err = logfs_journal_commit(dev);
	}
	if (!err)
		err = write_supers(dev);
	if (err)
		logfs_fail(dev, "the journal cannot be moved", err);
	else
		dev->stats.journal_moved++;
	return err;
}
