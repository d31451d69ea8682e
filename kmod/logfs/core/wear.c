// SPDX-License-Identifier: GPL-2.0-only
/*
 * Segments whose turn does not come by garbage: those in which reading met bit errors, before
 * more bits fail than ECC can correct; and, every hundred erasures, one with data that nobody
 * changes, if it was erased that much less than the free ones, so that it wears like others.
 */

#include "../policy/wear.h"
#include "area.h"
#include "gc.h"
#include "segments.h"

static int clean_now(struct logfs_device *dev, u32 segno, u64 *count)
{
	struct logfs_segment_entry e;
	s64 valid;
	int err = logfs_segment_valid(dev, segno, &valid);

	if (!err)
		err = logfs_segment_entry(dev, segno, &e);
	if (err || valid <= 0 || e.state || logfs_area_has(dev, segno) ||
	    xa_load(&dev->changed, segno) || xa_load(&dev->stuck, segno))
		return err;
	++*count;
	return logfs_clean(dev, segno, e.level, 0,
			   dev->segment_bytes, true);
}

/*
 * One segment an operation. One of the journal is erased soon enough: the next commits go to the
 * next one.
 */
static int scrub(struct logfs_device *dev)
{
	unsigned long segno = 0;

	if (!xa_find(&dev->scrub, &segno, ULONG_MAX, XA_PRESENT))
		return 0;
	xa_erase(&dev->scrub, segno);
	if (segno == dev->super.journal[dev->journal.slot]) {
		dev->journal.used = dev->segment_bytes;
		dev->dirty = true;
		return 0;
	}
	return clean_now(dev, segno, &dev->stats.scrubbed_segments);
}

static int level_wear(struct logfs_device *dev)
{
	struct logfs_candidate c;

	if (!logfs_wear_is_due(dev->gec, dev->wear_gec) || !dev->worn.n ||
	    !dev->free.n)
		return 0;
	dev->wear_gec = dev->gec;
	c = dev->worn.at[0];
	if (!logfs_lags_behind(c.ec, dev->free.at[0].ec))
		return 0;
	logfs_list_del(&dev->worn, c.segno);
	return clean_now(dev, c.segno, &dev->stats.wear_segments);
}

int logfs_wear(struct logfs_device *dev)
{
	int err = scrub(dev);

	if (!err)
		err = level_wear(dev);
	return err ? err : logfs_journal_move(dev);
}
