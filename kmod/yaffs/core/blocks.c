// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocks: which pages are live, when a block is erased, what is in an empty one.
 *
 * A page dies when something newer replaces it, which costs no flash operation: one bit
 * in a bitmap, one counter of the block. When the last live page of a block dies it is
 * erased at once, unless it holds a shrink header that older data still need (policy.h).
 * With a bound (request.h) that is left to the collector: who deletes a large file is not
 * to wait for hundreds of erases.
 *
 * A block that was erased by this mount is known to be blank. Others, found empty at
 * mount, may be half erased, or half written by a program that lost its power.
 */

#include <linux/sort.h>

#include "blocks.h"
#include "nand.h"

/* ---- live and dead ---- */

bool yaffs_chunk_is_live(const struct yaffs_device *dev, u32 chunk)
{
	return test_bit(chunk, dev->live);
}

/* In one that is written, or while a mount finds out what is live. */
static bool may_become_live(const struct yaffs_device *dev, u32 chunk)
{
	const struct yaffs_block *b = &dev->blocks[yaffs_block_of(dev, chunk)];

	return b->pages_in_use < dev->pages_per_block && dev->space.free_chunks &&
	       (b->state == YAFFS_BLOCK_ALLOCATING ||
		(dev->first && (b->state == YAFFS_BLOCK_SCANNING ||
				b->state == YAFFS_BLOCK_FULL)));
}

void yaffs_chunk_live(struct yaffs_device *dev, u32 chunk)
{
	yaffs_assert_locked(dev);
	INVARIANT(yaffs_chunk_valid(dev, chunk), "page %u is none", chunk);
	if (__test_and_set_bit(chunk, dev->live))
		return;
	INVARIANT(may_become_live(dev, chunk), "page %u lives from now on, in a block of state %u",
		  chunk, dev->blocks[yaffs_block_of(dev, chunk)].state);
	dev->blocks[yaffs_block_of(dev, chunk)].pages_in_use++;
	dev->space.free_chunks--;
}

void yaffs_chunk_dead(struct yaffs_device *dev, u32 chunk)
{
	u32 block = yaffs_block_of(dev, chunk);
	struct yaffs_block *b = &dev->blocks[block];

	yaffs_assert_locked(dev);
	INVARIANT(yaffs_chunk_valid(dev, chunk), "page %u is none", chunk);
	if (!__test_and_clear_bit(chunk, dev->live))
		return;
	INVARIANT(b->pages_in_use, "page %u dies in block %u of state %u, which has no live one",
		  chunk, block, b->state);
	dev->events->changed(dev);
	b->pages_in_use--;
	dev->space.free_chunks++;
	dev->policy->ops->dirtied(dev->policy, block);
	if (b->pages_in_use || dev->read_only || dev->bound.ns)
		return;
	if ((b->state == YAFFS_BLOCK_COLLECTING && !dev->gc.marks) ||
	    (b->state == YAFFS_BLOCK_FULL && !b->has_shrink))
		yaffs_block_recycle(dev, block);
}

/* Only damaged blocks have the same number. */
static int newest_first(const void *a, const void *b, const void *context)
{
	const struct yaffs_device *dev = context;
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	if (dev->blocks[x].seq != dev->blocks[y].seq)
		return dev->blocks[x].seq < dev->blocks[y].seq ? 1 : -1;
	return x < y ? 1 : -1;
}

void yaffs_blocks_sort(const struct yaffs_device *dev, u32 *blocks, u32 n)
{
	sort_r(blocks, n, sizeof(*blocks), newest_first, NULL, dev);
}

static void retire(struct yaffs_device *dev, u32 block)
{
	struct yaffs_tags tags = {
		.seq = YAFFS_SEQ_BAD_BLOCK,
		.obj_id = YAFFS_ID_CHECKPOINT,
		.chunk_id = 1,
	};
	struct yaffs_tags_media m;
	struct yaffs_block *b = &dev->blocks[block];

	if (yaffs_nand_mark_bad(dev, block) &&
	    !yaffs_nand_erase(dev, block)) {
		/* The mark did not stick: say it with a sequence number. */
		yaffs_tags_pack(&tags, &m);
		memset(dev->check_page, 0xff, dev->page_bytes);
		yaffs_nand_write(dev, block * dev->pages_per_block,
				 dev->check_page, &m);
	}
	memset(b, 0, sizeof(*b));
	b->state = YAFFS_BLOCK_DEAD;
	dev->space.free_chunks -= dev->pages_per_block;
	dev->stats.retired_blocks++;
	pr_info("yaffs2: %s: block %u is bad now\n", dev->mtd->name, block - 1);
}

/* What it held decides what it is used for next (policy/pools.h). */
static void make_empty(struct yaffs_block *b)
{
	bool metadata = b->metadata;

	memset(b, 0, sizeof(*b));
	b->state = YAFFS_BLOCK_EMPTY;
	b->metadata = metadata;
}

/* It goes all the same, the oldest of all with dead pages, or bad: nothing is settled then. */
static void unpin(struct yaffs_device *dev, u32 block)
{
	u32 part;

	for (part = 0; part < YAFFS_IDS_PARTS; part++)
		if (dev->ids.block[part] == block)
			dev->ids.block[part] = 0;
	dev->ids.settled_seq = 0;
}

/* Nothing that is written to, and nothing that somebody needs. */
static bool may_be_erased(const struct yaffs_block *b)
{
	return !b->pages_in_use &&
	       (b->state == YAFFS_BLOCK_FULL || b->state == YAFFS_BLOCK_COLLECTING ||
		b->state == YAFFS_BLOCK_CHECKPOINT || b->state == YAFFS_BLOCK_EMPTY);
}

void yaffs_block_recycle(struct yaffs_device *dev, u32 block)
{
	struct yaffs_block *b = &dev->blocks[block];

	yaffs_assert_locked(dev);
	INVARIANT(may_be_erased(b), "block %u of state %u is erased with %u live pages",
		  block, b->state, b->pages_in_use);
	dev->events->changed(dev);
	if (dev->gc.block == block)
		dev->gc.block = 0;
	if (b->pinned)
		unpin(dev, block);
	b->state = YAFFS_BLOCK_DIRTY;
	if (b->needs_retiring || yaffs_nand_erase(dev, block)) {
		retire(dev, block);
	} else {
		make_empty(b);
		b->skip_erased_check = true;
		dev->space.erased_blocks++;
	}
	dev->policy->ops->erased(dev->policy, block);
}

/* ---- what is in an empty block ---- */

bool yaffs_page_is_blank(struct yaffs_device *dev, u32 chunk)
{
	dev->stats.pages_verified++;
	return yaffs_nand_is_erased(dev, chunk, dev->check_page);
}

/* Half an erase may take the tags of a page, and leave some of its data. */
bool yaffs_block_is_half_erased(struct yaffs_device *dev, u32 block)
{
	u32 chunk = block * dev->pages_per_block, page;

	for (page = 0; page < dev->pages_per_block; page++)
		if (!yaffs_page_is_blank(dev, chunk + page))
			return true;
	return false;
}

bool yaffs_block_is_blank(struct yaffs_device *dev, u32 block)
{
	const struct yaffs_block *b = &dev->blocks[block];

	if (b->skip_erased_check)
		return true;
	return !(b->suspect && yaffs_block_is_half_erased(dev, block)) &&
	       yaffs_page_is_blank(dev, block * dev->pages_per_block);
}

bool yaffs_block_is_foreign(struct yaffs_device *dev, u32 block)
{
	struct yaffs_block *b = &dev->blocks[block];

	if (!dev->found_erased || yaffs_block_is_blank(dev, block) ||
	    !yaffs_nand_has_other_tags(dev, block * dev->pages_per_block))
		return false;
	pr_warn_ratelimited("yaffs2: %s: block %u was written %s inband-tags and is left alone: unmount, and mount it so\n",
			    dev->mtd->name, block - 1,
			    dev->options.inband_tags ? "without" : "with");
	dev->space.erased_blocks -= b->state == YAFFS_BLOCK_EMPTY;
	dev->space.free_chunks -= dev->pages_per_block;
	memset(b, 0, sizeof(*b));
	b->state = YAFFS_BLOCK_DEAD;
	return true;
}
