// SPDX-License-Identifier: GPL-2.0-only
/*
 * Segments: the file that has a word for each, and the lists of those that may be opened or
 * cleaned.
 *
 * To look at all segments at a mount would take longer the larger the device is. So lists of
 * candidates are filled by and by: each time that garbage collection needs some it looks at
 * the next 512, one block of the segment file.
 *
 * A segment is free if no byte of it was valid at the last commit, and nothing was written to
 * it since. What the running commit makes free is free when that is on flash.
 */

#include <linux/err.h>

#include "area.h"
#include "flash.h"
#include "segments.h"
#include "tree.h"

static struct logfs_block *block_of(struct logfs_device *dev, u32 segno)
{
	return logfs_tree_block(dev, LOGFS_INO_SEGMENTS, 0,
				segno / LOGFS_BLOCK_POINTERS);
}

int logfs_segment_entry(struct logfs_device *dev, u32 segno,
			struct logfs_segment_entry *e)
{
	struct logfs_block *block = block_of(dev, segno);

	if (IS_ERR(block))
		return PTR_ERR(block) == -ENOENT ? -EUCLEAN : PTR_ERR(block);
	return logfs_segment_entry_decode(logfs_word(block, segno %
						     LOGFS_BLOCK_POINTERS), e);
}

/* The entry as a commit would make it. */
static int next_entry(struct logfs_device *dev, u32 segno,
		      struct logfs_segment_entry *e)
{
	const struct logfs_changed *changed = xa_load(&dev->changed, segno);
	s64 valid;
	int err = logfs_segment_entry(dev, segno, e);

	if (err || !changed || e->state == LOGFS_SEGMENT_BAD)
		return err;
	if (changed->is_bad) {
		e->state = LOGFS_SEGMENT_BAD;
		return 0;
	}
	if (changed->is_opened) {
		e->ec = changed->ec;
		e->level = changed->level;
	}
	valid = e->valid_bytes + changed->valid_bytes;
	if (valid < 0 || valid > dev->segment_bytes) {
		pr_err_ratelimited("logfs: %s: segment %u would have %lld valid bytes: the segment file is wrong; unmount, then check the partition\n",
				   dev->mtd->name, segno, valid);
		valid = valid < 0 ? 0 : dev->segment_bytes;
	}
	e->valid_bytes = valid;
	return 0;
}

int logfs_segment_valid(struct logfs_device *dev, u32 segno, s64 *valid_bytes)
{
	struct logfs_segment_entry e;
	int err = next_entry(dev, segno, &e);

	*valid_bytes = err || e.state ? 0 : e.valid_bytes;
	return err;
}

int logfs_segment_set(struct logfs_device *dev, u32 segno,
		      const struct logfs_segment_entry *e)
{
	struct logfs_block *block = block_of(dev, segno);

	if (IS_ERR(block))
		return PTR_ERR(block);
	logfs_cache_set(dev, block, segno % LOGFS_BLOCK_POINTERS,
			logfs_segment_entry_encode(e));
	return 0;
}

int logfs_segments_book(struct logfs_device *dev)
{
	struct logfs_changed *changed;
	struct logfs_segment_entry e;
	unsigned long segno;
	int err;

	xa_for_each(&dev->changed, segno, changed) {
		err = next_entry(dev, segno, &e);
		if (!err)
			err = logfs_segment_set(dev, segno, &e);
		if (err)
			return err;
	}
	return 0;
}

/* Not all who make a file system reserve the segment of the second superblock. */
static bool is_free(struct logfs_device *dev, u32 segno,
		    const struct logfs_segment_entry *e)
{
	return e->state == LOGFS_SEGMENT_NORMAL && !e->valid_bytes &&
	       !logfs_has_super(&dev->super, segno) &&
	       !logfs_area_has(dev, segno);
}

static void note_free(struct logfs_device *dev, u32 segno,
		      const struct logfs_segment_entry *e)
{
	const struct logfs_candidate c = { .segno = segno, .ec = e->ec };

	logfs_list_put(&dev->free, &c, false);
}

int logfs_segments_booked(struct logfs_device *dev)
{
	struct logfs_changed *changed;
	struct logfs_segment_entry e;
	unsigned long segno;
	int err;

	xa_for_each(&dev->changed, segno, changed) {
		err = logfs_segment_entry(dev, segno, &e);
		if (err)
			return err;
		if (is_free(dev, segno, &e))
			note_free(dev, segno, &e);
	}
	logfs_changed_clear(dev);
	return 0;
}

/* Segments that changed since the last look are looked at; of the others it is known. */
int logfs_segments_soon_free(struct logfs_device *dev, u32 *n)
{
	struct logfs_changed *changed;
	struct logfs_segment_entry e;
	int err;

	while (!list_empty(&dev->touched)) {
		changed = list_first_entry(&dev->touched, struct logfs_changed,
					   touched);
		err = next_entry(dev, changed->segno, &e);
		if (err)
			return err;
		list_del_init(&changed->touched);
		dev->n_soon_free -= changed->is_soon_free;
		changed->is_soon_free = is_free(dev, changed->segno, &e);
		dev->n_soon_free += changed->is_soon_free;
	}
	*n = dev->n_soon_free;
	return 0;
}

static int look_at(struct logfs_device *dev, u32 segno)
{
	struct logfs_candidate c = { .segno = segno };
	struct logfs_segment_entry e;
	struct logfs_list *list;
	int err = next_entry(dev, segno, &e);

	if (err)
		return err;
	if (e.state || logfs_area_has(dev, segno))
		return 0;
	if (is_free(dev, segno, &e) && !xa_load(&dev->changed, segno)) {
		/* It was found to be so, and then power failed. */
		if (logfs_flash_is_bad(dev, segno))
			logfs_changed(dev, segno)->is_bad = true;
		else
			note_free(dev, segno, &e);
		return 0;
	}
	if (!e.valid_bytes || !logfs_has_level(&dev->super, e.level) ||
	    xa_load(&dev->stuck, segno))
		return 0;
	c.ec = e.ec;
	c.level = e.level;
	c.valid_bytes = e.valid_bytes;
	list = &dev->by_distance[logfs_root_distance(&dev->super, e.level)];
	if (logfs_has_garbage(e.valid_bytes, dev->segment_bytes)) {
		logfs_list_put(list, &c, true);
		logfs_list_del(&dev->worn, segno);
	} else {
		logfs_list_put(&dev->worn, &c, false);
	}
	return 0;
}

int logfs_segments_scan(struct logfs_device *dev)
{
	const u32 first = logfs_scan_first(dev->sweeper, dev->super.n_segments);
	const u32 end = logfs_scan_end(first, dev->super.n_segments);
	u32 segno;
	int err;

	for (segno = first; segno < end; segno++) {
		err = look_at(dev, segno);
		if (err)
			return err;
	}
	dev->sweeper = end < dev->super.n_segments ? end : 0;
	return 0;
}
