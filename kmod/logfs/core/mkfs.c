// SPDX-License-Identifier: GPL-2.0-only
/*
 * An empty file system on an erased partition: the superblocks, and then what any file system
 * is, a commit of its files. These are the segment file and the root directory.
 *
 * If power fails in between, the superblocks are there and no commit is, in a journal that was
 * never used: the next mount begins anew. The one before the first superblock is whole leaves
 * its torn page. A file system whose only commit is damaged looks like that, too, but for its
 * objects: it must not be overwritten.
 */

#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/stat.h>

#include "area.h"
#include "flash.h"
#include "journal.h"
#include "tree.h"

#define MIN_SEGMENT_SHIFT	17
#define JOURNAL_SEGMENTS	4
#define BAD_RESERVE		4
#define IFILE_LEVELS		3
#define IBLOCK_LEVELS		4
/* More than any erase count of a segment. */
#define FIRST_GEC		0x1000
/* Without having been erased by us: once. */
#define FIRST_EC		1

/* A page that was programmed is a torn one, or the superblock. */
static bool is_begun(struct mtd_info *mtd, u64 place, u8 *page)
{
	const struct logfs_super_media *m = (void *)page;
	size_t done;
	int err = mtd_read(mtd, place, mtd->writesize, &done, page);

	if (err == -EBADMSG || be64_to_cpu(m->magic) == LOGFS_MAGIC)
		err = mtd_read(mtd, place + mtd->writesize, mtd->writesize,
			       &done, page);
	return (!err || err == -EUCLEAN) &&
	       logfs_is_erased(page, mtd->writesize);
}

bool logfs_mkfs_is_erased(struct logfs_device *dev)
{
	struct mtd_info *mtd = dev->mtd;
	u8 *page = kmalloc(mtd->writesize, GFP_KERNEL);
	bool erased = page, first = true;
	size_t done;
	u64 place;

	for (place = 0; erased && place < mtd->size; place += mtd->erasesize) {
		if (mtd_block_isbad(mtd, place))
			continue;
		erased = !mtd_read(mtd, place, mtd->writesize, &done, page) &&
			 logfs_is_erased(page, mtd->writesize);
		if (!erased && first)
			erased = is_begun(mtd, place, page);
		first = false;
	}
	kfree(page);
	return erased;
}

/* The next good segment from *@segno on, in steps of 1 or -1; false: there is none. */
static bool next_good(const struct logfs_device *dev, u32 *segno, int by)
{
	while (*segno < dev->super.n_segments) {
		if (!logfs_flash_is_bad(dev, *segno))
			return true;
		*segno += by;
	}
	return false;
}

static int plan_places(struct logfs_device *dev)
{
	struct logfs_super *s = &dev->super;
	u32 segno = 0, last = s->n_segments - 1, i;

	if (!next_good(dev, &segno, 1) || !next_good(dev, &last, -1))
		return -ENOSPC;
	s->super_at[0] = logfs_segment_place(dev, segno);
	s->super_at[1] = logfs_segment_place(dev, last + 1) -
			 LOGFS_BLOCK_BYTES;
	for (i = 0; i < JOURNAL_SEGMENTS; i++) {
		segno++;
		if (!next_good(dev, &segno, 1) || segno >= last)
			return -ENOSPC;
		s->journal[i] = segno;
	}
	s->n_journal = JOURNAL_SEGMENTS;
	return 0;
}

int logfs_mkfs_plan(struct logfs_device *dev)
{
	struct mtd_info *mtd = dev->mtd;
	struct logfs_super *s = &dev->super;
	int err = -ENOSPC;

	/* The bytes of a segment are 0, as the original's mkfs has them. */
	memset(s, 0, sizeof(*s));
	s->segment_shift = max_t(u32, ilog2(mtd->erasesize),
				 MIN_SEGMENT_SHIFT);
	s->write_shift = ilog2(mtd->writesize);
	s->n_segments = mtd->size >> s->segment_shift;
	s->bad_reserve = BAD_RESERVE;
	s->ifile_levels = IFILE_LEVELS;
	s->iblock_levels = IBLOCK_LEVELS;
	dev->segment_bytes = 1U << s->segment_shift;
	if (s->write_shift <= LOGFS_MAX_WRITE_SHIFT &&
	    s->segment_shift <= LOGFS_MAX_SEGMENT_SHIFT && s->n_segments)
		err = plan_places(dev);
	if (!err) {
		logfs_super_apply(dev);
		logfs_flash_count_bad(dev);
		if (!logfs_free_bytes(s, 0, dev->n_bad) || !dev->most_aliases)
			err = -ENOSPC;
	}
	if (err)
		pr_err("logfs: %s: a partition of %u segments of %u bytes is too small\n",
		       mtd->name, s->n_segments, dev->segment_bytes);
	return err;
}

static bool is_reserved(const struct logfs_device *dev, u32 segno)
{
	u32 i;

	for (i = 0; i < LOGFS_SUPERBLOCKS; i++)
		if (segno == logfs_segno(dev, dev->super.super_at[i]))
			return true;
	for (i = 0; i < JOURNAL_SEGMENTS; i++)
		if (segno == dev->super.journal[i])
			return true;
	return false;
}

/* Slots that nothing was written to; a format begins with the first. */
static bool is_untouched(struct logfs_device *dev)
{
	const u32 *journal = dev->super.journal;
	bool first = true;
	u32 slot;

	for (slot = 0; slot < LOGFS_JOURNAL_SEGMENTS; slot++) {
		if (!journal[slot])
			continue;
		if (!first &&
		    !logfs_flash_is_erased(dev, logfs_segment_place(dev,
								    journal[slot]),
					   dev->unit_bytes))
			return false;
		first = false;
	}
	return true;
}

static bool is_of_format(const struct logfs_object *o)
{
	return o->ino == LOGFS_INO_SEGMENTS || (o->ino == LOGFS_INO_INODES &&
						o->bix < LOGFS_RESERVED_INOS);
}

/* Objects that no format writes. Power tears the last unit: what has more behind it is damage. */
static bool has_others(struct logfs_device *dev, u32 segno)
{
	const u64 base = logfs_segment_place(dev, segno);
	struct logfs_object_header_media m;
	struct logfs_object o;
	u32 at = sizeof(struct logfs_segment_header_media);
	int err;

	for (;; at += sizeof(m) + o.stored_bytes) {
		err = logfs_object_header(dev, base + at, logfs_flash_read, &m,
					  &o);
		if (err)
			break;
		if (!is_of_format(&o))
			return true;
	}
	at = (at | (dev->unit_bytes - 1)) + 1;
	return err != -ENODATA && at < dev->segment_bytes &&
	       !logfs_flash_is_erased(dev, base + at, dev->unit_bytes);
}

bool logfs_mkfs_was_cut(struct logfs_device *dev)
{
	u32 segno;

	for (segno = 0; segno < dev->super.n_segments; segno++)
		if (!is_reserved(dev, segno) &&
		    !logfs_flash_is_bad(dev, segno) && has_others(dev, segno))
			return false;
	return is_untouched(dev);
}

static u64 first_entry(struct logfs_device *dev, u32 segno)
{
	struct logfs_segment_entry e = {
		.state = LOGFS_SEGMENT_NORMAL,
		.ec = FIRST_EC,
	};

	if (logfs_flash_is_bad(dev, segno))
		e.state = LOGFS_SEGMENT_BAD;
	else if (is_reserved(dev, segno))
		e.state = LOGFS_SEGMENT_RESERVED;
	return logfs_segment_entry_encode(&e);
}

static void find_free(struct logfs_device *dev)
{
	struct logfs_candidate c = { .ec = FIRST_EC };

	for (c.segno = 0; c.segno < dev->super.n_segments; c.segno++)
		if (!is_reserved(dev, c.segno) &&
		    !logfs_flash_is_bad(dev, c.segno))
			logfs_list_put(&dev->free, &c, false);
}

static int write_inode(struct logfs_device *dev, u64 ino, u16 mode, u64 size)
{
	const u64 now_ns = ktime_get_real_ns();
	const struct logfs_inode i = {
		.mode = mode,
		.ctime_ns = now_ns,
		.mtime_ns = now_ns,
		.atime_ns = now_ns,
		.nlink = 1,
		.generation = dev->generation,
		.size = size,
	};
	struct logfs_block *block =
		logfs_tree_new_block(dev, LOGFS_INO_INODES, 0, ino);

	logfs_inode_encode(&i, (void *)block->words);
	return logfs_tree_write(dev, block);
}

static int write_segment_file(struct logfs_device *dev)
{
	const u32 n = dev->super.n_segments;
	struct logfs_block *block;
	u32 segno, i;
	int err = write_inode(dev, LOGFS_INO_SEGMENTS, S_IFREG | 0600,
			      (u64)n * sizeof(__be64));

	for (segno = 0; segno < n && !err; segno += LOGFS_BLOCK_POINTERS) {
		block = logfs_tree_new_block(dev, LOGFS_INO_SEGMENTS, 0,
					     segno / LOGFS_BLOCK_POINTERS);
		for (i = 0; i < LOGFS_BLOCK_POINTERS && segno + i < n; i++)
			block->words[i] =
				cpu_to_be64(first_entry(dev, segno + i));
		err = logfs_tree_write(dev, block);
	}
	return err;
}

static void begin(struct logfs_device *dev)
{
	const struct logfs_inode master = {
		.mode = S_IFREG,
		.size = LOGFS_RESERVED_INOS * LOGFS_BLOCK_BYTES,
	};
	u32 i;

	logfs_inode_encode(&master, (void *)dev->master.words);
	dev->gec = FIRST_GEC;
	dev->wear_gec = FIRST_GEC;
	dev->generation = 1;
	dev->last_ino = LOGFS_RESERVED_INOS;
	for (i = 0; i < JOURNAL_SEGMENTS; i++)
		dev->journal.ec[i] = FIRST_EC;
	/* The first commit goes to the first one. */
	dev->journal.slot = JOURNAL_SEGMENTS - 1;
	dev->journal.used = dev->segment_bytes;
	dev->free.n = 0;
	find_free(dev);
}

static int write_supers(struct logfs_device *dev)
{
	u32 copy;
	int err = 0;

	begin(dev);
	dev->super.segment.ec = FIRST_EC + 1;
	dev->super.segment.gec = dev->gec;
	for (copy = 0; copy < LOGFS_SUPERBLOCKS && !err; copy++)
		err = logfs_super_write(dev, copy);
	return err;
}

int logfs_mkfs(struct logfs_device *dev)
{
	u32 tries = BAD_RESERVE;
	int err = write_supers(dev);

	/* A block that cannot be written has been marked: the next good ones, then. */
	while (err == -EIO && tries--) {
		dev->one_super = false;
		err = logfs_mkfs_plan(dev);
		if (!err)
			err = write_supers(dev);
	}
	if (!err)
		err = write_segment_file(dev);
	if (!err)
		err = write_inode(dev, LOGFS_INO_ROOT, S_IFDIR | 0755, 0);
	if (!err)
		err = logfs_commit(dev);
	return err;
}
