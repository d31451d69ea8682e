// SPDX-License-Identifier: GPL-2.0-only
/*
 * The superblock: found from both ends of the partition, since the first or the last segment
 * may be bad, and how large segments are is not yet known.
 */

#include "area.h"
#include "flash.h"
#include "journal.h"
#include "segments.h"

/* Erase blocks at each end that are looked at; more are hardly bad in a row. */
#define LOOKED_AT	64

/* A commit must have room for what there is before an operation, and for what that adds. */
static void plan_aliases(struct logfs_device *dev)
{
	const u32 room = logfs_journal_room(dev);
	u32 blocks = LOGFS_BLOCK_POINTERS;

	/* Half the room at least: else blocks are written again and again. */
	while (blocks > LOGFS_DIRECT_POINTERS &&
	       LOGFS_OPERATION_ALIASES(blocks) > room / 2)
		blocks /= 2;
	dev->most_dropped = blocks;
	dev->most_aliases = room - min_t(u32, room,
					 LOGFS_OPERATION_ALIASES(blocks));
}

void logfs_super_apply(struct logfs_device *dev)
{
	dev->segment_bytes = 1U << dev->super.segment_shift;
	dev->unit_bytes = logfs_write_unit(&dev->super);
	dev->page_bytes = max_t(u32, dev->mtd->writesize, LOGFS_READ_BYTES);
	dev->page_bytes = min_t(u32, dev->page_bytes, dev->unit_bytes);
	dev->bad_counted = false;
	plan_aliases(dev);
}

static int read_at(struct logfs_device *dev, u64 place, struct logfs_super *s)
{
	struct logfs_super_media m;
	size_t done;
	int err = mtd_read(dev->mtd, place, sizeof(m), &done, (u8 *)&m);

	if (err && err != -EUCLEAN)
		return err == -EBADMSG ? -EINVAL : err;
	return logfs_super_decode(&m, s);
}

/* What the partition has to have. */
static int check(const struct logfs_device *dev, const struct logfs_super *s)
{
	const u64 bytes = (u64)s->n_segments << s->segment_shift;

	if (bytes > dev->mtd->size ||
	    (1U << s->segment_shift) % dev->mtd->erasesize ||
	    logfs_write_unit(s) % dev->mtd->writesize || s->n_journal < 2) {
		pr_err("logfs: %s: the file system was made for another chip: %u segments of %u bytes, written by %u\n",
		       dev->mtd->name, s->n_segments, 1U << s->segment_shift,
		       logfs_write_unit(s));
		return -EINVAL;
	}
	return 0;
}

int logfs_super_read(struct logfs_device *dev)
{
	const u32 erasesize = dev->mtd->erasesize;
	const u32 n = min_t(u32, LOOKED_AT, mtd_div_by_eb(dev->mtd->size,
							  dev->mtd));
	int err = -EINVAL, status;
	u64 place;
	u32 i;

	for (i = 0; i < 2 * n && err; i++) {
		place = (u64)(i / 2) * erasesize;
		if (i & 1)
			place = dev->mtd->size - place - LOGFS_BLOCK_BYTES;
		if (mtd_block_isbad(dev->mtd, place & ~(u64)(erasesize - 1)))
			continue;
		status = read_at(dev, place, &dev->super);
		/* What is damaged tells more than what is no superblock. */
		if (!status || err == -EINVAL)
			err = status;
	}
	if (err)
		return err;
	err = check(dev, &dev->super);
	if (!err)
		logfs_super_apply(dev);
	return err;
}

/*
 * What is left of a copy that cannot be written may be the one before: if the erase failed, all
 * of it. It must not count any more, so its block is marked, and a mount passes over it.
 */
static void give_up(struct logfs_device *dev, u32 copy)
{
	const u64 place = dev->super.super_at[copy];

	pr_warn("logfs: %s: copy %u of the superblock cannot be written, its block is marked as bad: the other one has to do, and the journal stays where it is\n",
		dev->mtd->name, copy);
	dev->one_super = true;
	mtd_block_markbad(dev->mtd, place & ~(u64)(dev->mtd->erasesize - 1));
}

static bool is_given_up(struct logfs_device *dev, u32 copy)
{
	const u64 place = dev->super.super_at[copy];

	return mtd_block_isbad(dev->mtd,
			       place & ~(u64)(dev->mtd->erasesize - 1));
}

int logfs_super_write(struct logfs_device *dev, u32 copy)
{
	const u64 place = dev->super.super_at[copy];
	const u32 segno = logfs_segno(dev, place);
	const u32 unit = dev->unit_bytes;
	/* The last 4 KiB may be the end of a larger unit. */
	const u64 from = place & ~(u64)(unit - 1);
	const u32 within = place - from;
	u8 *bytes = kmalloc(unit, LOGFS_GFP);
	int err;

	memset(bytes, 0xff, unit);
	memset(bytes + within, 0, min_t(u32, LOGFS_BLOCK_BYTES, unit - within));
	dev->super.segment.type = LOGFS_SEGMENT_SUPER;
	dev->super.segment.level = 0;
	dev->super.segment.segno = segno;
	logfs_super_encode(&dev->super, (void *)(bytes + within));
	err = logfs_flash_erase(dev, segno);
	if (!err)
		err = logfs_flash_program(dev, from, bytes);
	if (err == -EIO)
		give_up(dev, copy);
	kfree(bytes);
	return err;
}

/* True if the copy says what we know. */
static bool is_good(struct logfs_device *dev, u32 copy)
{
	struct logfs_super s = {};

	if (read_at(dev, dev->super.super_at[copy], &s))
		return false;
	return s.n_segments == dev->super.n_segments &&
	       !memcmp(s.journal, dev->super.journal, sizeof(s.journal));
}

/* Where the segment file does not reserve the segment of a copy, another may have written there. */
static bool is_taken(struct logfs_device *dev, u32 copy)
{
	const u32 segno = logfs_segno(dev, dev->super.super_at[copy]);
	struct logfs_segment_entry e;

	return logfs_area_has(dev, segno) ||
	       logfs_segment_entry(dev, segno, &e) ||
	       (e.state == LOGFS_SEGMENT_NORMAL && e.valid_bytes);
}

void logfs_super_repair(struct logfs_device *dev)
{
	u32 copy;

	for (copy = 0; copy < LOGFS_SUPERBLOCKS; copy++) {
		if (!is_given_up(dev, copy) && is_good(dev, copy))
			continue;
		if (is_given_up(dev, copy) || is_taken(dev, copy)) {
			dev->one_super = true;
			continue;
		}
		pr_notice("logfs: %s: copy %u of the superblock is written anew\n",
			  dev->mtd->name, copy);
		logfs_super_write(dev, copy);
	}
}
