// SPDX-License-Identifier: GPL-2.0-only
/*
 * From one block that is there, or is not, to the next, without looking at each: a pointer
 * that is missing on some level says that none is below it, one with the bit that all are. The
 * tree is walked down once for each block of pointers: directories are mostly holes.
 */

#include <linux/err.h>

#include "tree.h"

/**
 * struct reached - where a walk down the tree ended
 * @block: of pointers, in which it ended; the inode otherwise
 * @level: of the block that the pointer is for
 * @pointer: 0, or one that says all there is to know
 */
struct reached {
	const struct logfs_block *block;
	u32 level;
	u64 pointer;
};

/* Down to @bix, as far as is needed to know if it is there, or if there is a hole. */
static int walk_down(struct logfs_device *dev, u64 ino, u64 bix, bool data,
		     struct reached *r)
{
	struct logfs_block *block = logfs_tree_inode(dev, ino);

	if (IS_ERR(block))
		return PTR_ERR(block);
	r->block = block;
	r->level = logfs_tree_height(block);
	if (bix < LOGFS_DIRECT_POINTERS) {
		r->level = 0;
		r->pointer = logfs_word(block, logfs_inode_child(bix));
		return 0;
	}
	r->pointer = logfs_word(block, LOGFS_WORD_ROOT);
	while (r->level && r->pointer &&
	       (data || !(r->pointer & LOGFS_POINTER_FULL))) {
		block = logfs_tree_block(dev, ino, r->level,
					 logfs_block_start(r->level, bix));
		if (IS_ERR(block))
			return PTR_ERR(block);
		r->pointer = logfs_word(block, logfs_slot(r->level, bix));
		r->block = block;
		r->level--;
	}
	return 0;
}

/* The next block that may be what is sought; nothing up to it is. */
static u64 step_over(const struct reached *r, u64 bix, bool data)
{
	const u64 each = 1ULL << r->level * LOGFS_INDEX_BITS;
	const u64 passed = data ? U64_MAX : LOGFS_POINTER_FULL;
	u32 slot;

	bix = logfs_block_start(r->level, bix) + each;
	if (r->block->level != r->level + 1)
		return bix;
	for (slot = logfs_slot(r->level + 1, bix); slot; bix += each) {
		if (!(logfs_word(r->block, slot) & passed) != data)
			break;
		slot = (slot + 1) % LOGFS_BLOCK_POINTERS;
	}
	return bix;
}

/* The last block that the tree can have as it is now. */
static int last_of(struct logfs_device *dev, u64 ino, u64 *last)
{
	struct logfs_block *inode = logfs_tree_inode(dev, ino);

	if (IS_ERR(inode))
		return PTR_ERR(inode);
	if (!logfs_tree_has(inode))
		return -ENXIO;
	*last = logfs_last_bix(logfs_tree_height(inode));
	return 0;
}

int logfs_tree_seek(struct logfs_device *dev, u64 ino, u64 bix, bool data,
		    u64 *found)
{
	struct reached r;
	u64 last;
	int err = last_of(dev, ino, &last);

	while (!err && bix <= last) {
		err = walk_down(dev, ino, bix, data, &r);
		if (err || !r.pointer != data)
			break;
		bix = step_over(&r, bix, data);
	}
	if (!err && data && bix > last)
		err = -ENXIO;
	*found = bix;
	return err;
}

int logfs_tree_last(struct logfs_device *dev, u64 ino, u64 *found)
{
	struct reached r;
	u64 bix, start;
	int err = last_of(dev, ino, &bix);

	while (!err) {
		err = walk_down(dev, ino, bix, true, &r);
		if (err || r.pointer)
			break;
		start = logfs_block_start(r.level, bix);
		if (!bix)
			err = -ENXIO;
		else if (bix >= LOGFS_DIRECT_POINTERS &&
			 start < LOGFS_DIRECT_POINTERS + 1)
			bix = LOGFS_DIRECT_POINTERS - 1;
		else
			bix = start - 1;
	}
	*found = bix;
	return err;
}
