// SPDX-License-Identifier: GPL-2.0-only
/*
 * What could be counted anew is: valid bytes of each segment, used bytes of each inode and of
 * all, which pointers are full. And each inode has a name, but the one that is being deleted.
 */

#include <linux/err.h>

#include "../../core/area.h"
#include "../../core/segments.h"
#include "../../core/tree.h"
#include "../harness.h"
#include "soundness.h"

/**
 * struct counts - what was found
 * @dev: where
 * @segments: valid bytes of each
 * @used_bytes: of all
 * @file_bytes: of the file that is looked at
 */
struct counts {
	struct logfs_device *dev;
	s64 *segments;
	u64 used_bytes;
	u64 file_bytes;
};

static void judge(bool good, const char *what, u64 which)
{
	if (good)
		return;
	fprintf(stderr, "soundness: %s (%llu)\n", what,
		(unsigned long long)which);
	abort();
}

static void count_object(struct counts *c, u64 pointer)
{
	const u64 place = logfs_pointer_place(pointer);
	struct logfs_object_header_media m;
	struct logfs_object o;
	u32 bytes;

	judge(!logfs_object_header(c->dev, place, logfs_flash_read, &m, &o),
	      "no object", place);
	bytes = sizeof(m) + o.stored_bytes;
	c->segments[logfs_segno(c->dev, place)] += bytes;
	c->used_bytes += bytes;
	c->file_bytes += bytes;
}

static void count_block_of_pointers(struct counts *c, u64 ino, u32 level,
				    u64 bix)
{
	struct logfs_block *block;
	u64 pointer;

	judge(!logfs_tree_pointer(c->dev, ino, level, bix, &pointer),
	      "no pointer", ino);
	count_object(c, pointer);
	block = logfs_tree_block(c->dev, ino, level, bix);
	judge(!IS_ERR(block), "no block of pointers", ino);
	judge(!(pointer & LOGFS_POINTER_FULL) ==
	      !logfs_indirect_full(block->words, level, bix), "full bit", ino);
}

static void count_file(struct counts *c, u64 ino)
{
	struct logfs_block *inode = logfs_tree_inode(c->dev, ino);
	const u32 height = logfs_tree_height(inode);
	u64 seen[LOGFS_MAX_LEVEL + 1], bix = 0, pointer, start;
	u32 level;

	memset(seen, 0xff, sizeof(seen));
	c->file_bytes = 0;
	for (; !logfs_tree_seek(c->dev, ino, bix, true, &bix); bix++) {
		judge(!logfs_tree_pointer(c->dev, ino, 0, bix, &pointer) &&
		      pointer & LOGFS_POINTER_FULL, "pointer to data", ino);
		count_object(c, pointer);
		for (level = 1; level <= height; level++) {
			start = logfs_block_start(level, bix);
			if (bix < LOGFS_DIRECT_POINTERS || start == seen[level])
				continue;
			seen[level] = start;
			count_block_of_pointers(c, ino, level, start);
		}
		logfs_cache_shrink(c->dev);
	}
	inode = logfs_tree_inode(c->dev, ino);
	judge(logfs_word(inode, LOGFS_WORD_USED) == c->file_bytes,
	      "used bytes of an inode", ino);
}

static void judge_segments(struct counts *c)
{
	u32 segno;
	s64 valid;

	for (segno = 0; segno < c->dev->super.n_segments; segno++)
		judge(!logfs_segment_valid(c->dev, segno, &valid) &&
		      valid == c->segments[segno], "valid bytes of a segment",
		      segno);
}

/* The count that goes along with the changes, and one of them all. */
static void judge_soon_free(struct logfs_device *dev)
{
	const struct logfs_changed *changed;
	struct logfs_segment_entry e;
	u32 segno, n = 0, counted;
	s64 valid;

	for (segno = 0; segno < dev->super.n_segments; segno++) {
		changed = xa_load(&dev->changed, segno);
		if (!changed || changed->is_bad || logfs_area_has(dev, segno))
			continue;
		judge(!logfs_segment_entry(dev, segno, &e) &&
		      !logfs_segment_valid(dev, segno, &valid), "segment", segno);
		n += e.state == LOGFS_SEGMENT_NORMAL && !valid;
	}
	judge(!logfs_segments_soon_free(dev, &counted) && counted == n,
	      "segments that are soon free", n);
}

void judge_soundness(struct logfs_device *dev)
{
	struct counts c = { .dev = dev };
	struct logfs_block *inode;
	u64 ino = 0;

	c.segments = calloc(dev->super.n_segments, sizeof(*c.segments));
	count_file(&c, LOGFS_INO_INODES);
	for (; !logfs_tree_seek(dev, LOGFS_INO_INODES, ino, true, &ino); ino++) {
		inode = logfs_tree_inode(dev, ino);
		judge(!IS_ERR(inode), "inode", ino);
		judge(logfs_word(inode, LOGFS_WORD_LINKS) >> 32 ||
		      ino == dev->victim_ino, "inode without a name", ino);
		count_file(&c, ino);
	}
	judge(c.used_bytes == dev->used_bytes, "used bytes", c.used_bytes);
	judge_segments(&c);
	judge_soon_free(dev);
	free(c.segments);
}
