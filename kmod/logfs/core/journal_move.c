// SPDX-License-Identifier: GPL-2.0-only
/*
 * The journal moves when its segments are worn more than others, for it is where every commit
 * goes; or when one of them cannot be written any more. Which segments it has is in the
 * superblocks, and nowhere else.
 *
 * The commit that says of the old segments that they are free, and of new ones that they are
 * not, goes to the new ones. Until the first superblock names these, a mount takes the old
 * ones, and the commit before, in which the new ones are free: nothing was erased in between
 * but them. The second superblock is written after the first; where they differ a mount writes
 * it again.
 *
 * If the first cannot be written, the second still names the old segments, and all is taken
 * back. To write the only one there is would be to have none for a while: then the journal
 * stays where it is.
 */

#include <linux/err.h>

#include "../policy/wear.h"
#include "area.h"
#include "flash.h"
#include "gc.h"
#include "journal.h"
#include "segments.h"

static bool is_time(const struct logfs_device *dev)
{
	u32 others;

	if (!dev->free.n || dev->one_super)
		return false;
	others = max_t(u32, dev->free.at[0].ec, dev->super.segment.ec);
	return logfs_has_failed(dev->journal.failed) ||
	       logfs_journal_is_worn(logfs_lowest_ec(dev->super.journal,
						     dev->journal.ec), others);
}

/**
 * struct old - the journal before it moved
 * @segno: of each slot
 * @ec: erase counts
 * @failed: segments that can no more be written
 * @slot: with the last commit
 * @used: bytes of it
 */
struct old {
	u32 segno[LOGFS_JOURNAL_SEGMENTS];
	u32 ec[LOGFS_JOURNAL_SEGMENTS];
	bool failed[LOGFS_JOURNAL_SEGMENTS];
	u32 slot;
	u32 used;
};

static void remember(const struct logfs_device *dev, struct old *old)
{
	memcpy(old->segno, dev->super.journal, sizeof(old->segno));
	memcpy(old->ec, dev->journal.ec, sizeof(old->ec));
	memcpy(old->failed, dev->journal.failed, sizeof(old->failed));
	old->slot = dev->journal.slot;
	old->used = dev->journal.used;
}

/* A segment is for the journal from now on, or for objects, or for nothing. */
static int set_state(struct logfs_device *dev, u32 segno, u8 state, u32 ec)
{
	const struct logfs_segment_entry e = { .state = state, .ec = ec };

	return logfs_segment_set(dev, segno, &e);
}

/* The segment of @slot is none of the journal from now on. */
static int give_back(struct logfs_device *dev, u32 slot)
{
	return set_state(dev, dev->super.journal[slot],
			 dev->journal.failed[slot] ? LOGFS_SEGMENT_BAD :
						     LOGFS_SEGMENT_NORMAL,
			 dev->journal.ec[slot]);
}

/* The segment of @slot is for objects from now on, and a free one for the journal. */
static int exchange(struct logfs_device *dev, u32 slot)
{
	const struct logfs_candidate c = dev->free.at[0];
	struct logfs_journal *j = &dev->journal;
	int err = give_back(dev, slot);

	if (err)
		return err;
	logfs_lists_del(dev, c.segno);
	dev->super.journal[slot] = c.segno;
	j->ec[slot] = c.ec;
	j->failed[slot] = false;
	return set_state(dev, c.segno, LOGFS_SEGMENT_RESERVED, c.ec);
}

/* Nothing but segments of the new journal was written: the old one is as it was. */
static int take_back(struct logfs_device *dev, const struct old *old)
{
	struct logfs_journal *j = &dev->journal;
	u32 slot;
	int err = 0;

	for (slot = 0; slot < LOGFS_JOURNAL_SEGMENTS && !err; slot++) {
		if (!old->segno[slot])
			continue;
		err = give_back(dev, slot);
		if (!err)
			err = set_state(dev, old->segno[slot],
					LOGFS_SEGMENT_RESERVED, old->ec[slot]);
	}
	memcpy(dev->super.journal, old->segno, sizeof(old->segno));
	memcpy(j->ec, old->ec, sizeof(old->ec));
	memcpy(j->failed, old->failed, sizeof(old->failed));
	j->slot = old->slot;
	j->used = old->used;
	dev->dirty = true;
	return err;
}

static void retire(struct logfs_device *dev, const struct old *old)
{
	u32 slot;

	for (slot = 0; slot < LOGFS_JOURNAL_SEGMENTS; slot++) {
		if (!old->failed[slot])
			continue;
		logfs_flash_note_bad(dev);
		logfs_flash_mark_bad(dev, old->segno[slot]);
	}
}

static int write_supers(struct logfs_device *dev, const struct old *old)
{
	dev->super.segment.ec++;
	dev->super.segment.gec = ++dev->gec;
	if (logfs_super_write(dev, 0))
		return take_back(dev, old);
	logfs_super_write(dev, 1);
	retire(dev, old);
	dev->stats.journal_moved++;
	return 0;
}

int logfs_journal_move(struct logfs_device *dev)
{
	struct old old;
	u32 slot;
	int err;

	if (!is_time(dev))
		return 0;
	err = logfs_collect(dev, dev->super.n_journal);
	if (err)
		return err == -ENOSPC ? 0 : err;
	err = logfs_commit(dev);
	remember(dev, &old);
	for (slot = 0; slot < LOGFS_JOURNAL_SEGMENTS && !err; slot++)
		if (dev->super.journal[slot])
			err = exchange(dev, slot);
	if (!err) {
		dev->journal.used = dev->segment_bytes;
		err = logfs_journal_commit(dev);
	}
	if (!err)
		err = write_supers(dev, &old);
	if (err)
		logfs_fail(dev, "the journal cannot be moved", err);
	return err;
}
