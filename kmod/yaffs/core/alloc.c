// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages and blocks: which page is written next, which are live, when a block is
 * erased.
 *
 * One block is written at a time, its pages in ascending order; all of them carry the
 * block's sequence number, so that a scan can tell old from new. A page dies when
 * something newer replaces it, which costs no flash operation: one bit in a bitmap,
 * one counter of the block. When the last live page of a block dies it is erased at
 * once, unless it holds a shrink header that older data still need (policy.h).
 *
 * Space. Some blocks are a reserve: the collector needs room to copy to, and a cached
 * chunk or a changed header must always find a page. New objects and new data may
 * not use it, nor the blocks that the next checkpoint will take.
 *
 * A block that was erased by this mount is known to be blank. Others, found empty at
 * mount, may be half erased, or half written by a program that lost its power. So
 * before the first write to one its page is read, and after it read back. A page that
 * fails makes the rest of its block be given up; if it was blank before, the block is
 * worn, and will be marked bad when its live pages have been moved.
 *
 * After a crash an empty block may be one whose erase was interrupted, with pages left
 * behind the first, some of them without their tags. So all pages of such a block are
 * read before it is written; erasing it in any case would be quicker, but wear it.
 */

#include "yaffs.h"

#define MAX_STRIKES 3

/* ---- live and dead ---- */

bool yaffs_chunk_is_live(const struct yaffs_device *dev, u32 chunk)
{
	return test_bit(chunk, dev->live);
}

void yaffs_chunk_live(struct yaffs_device *dev, u32 chunk)
{
	if (__test_and_set_bit(chunk, dev->live))
		return;
	dev->blocks[yaffs_block_of(dev, chunk)].pages_in_use++;
	dev->free_chunks--;
}

void yaffs_chunk_dead(struct yaffs_device *dev, u32 chunk)
{
	u32 block = yaffs_block_of(dev, chunk);
	struct yaffs_block *b = &dev->blocks[block];

	if (!__test_and_clear_bit(chunk, dev->live))
		return;
	yaffs_checkpoint_invalidate(dev);
	b->pages_in_use--;
	dev->free_chunks++;
	yaffs_policy_dirtied(&dev->policy, block);
	if (b->pages_in_use || dev->read_only)
		return;
	if (b->state == YAFFS_BLOCK_COLLECTING ||
	    (b->state == YAFFS_BLOCK_FULL && !b->has_shrink))
		yaffs_block_recycle(dev, block);
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
	dev->free_chunks -= dev->pages_per_block;
	dev->stats.retired_blocks++;
	pr_info("yaffs2: %s: block %u is bad now\n", dev->mtd->name, block - 1);
}

void yaffs_block_recycle(struct yaffs_device *dev, u32 block)
{
	struct yaffs_block *b = &dev->blocks[block];

	yaffs_checkpoint_invalidate(dev);
	if (dev->gc_block == block)
		dev->gc_block = 0;
	b->state = YAFFS_BLOCK_DIRTY;
	if (b->needs_retiring || yaffs_nand_erase(dev, block)) {
		retire(dev, block);
	} else {
		memset(b, 0, sizeof(*b));
		b->state = YAFFS_BLOCK_EMPTY;
		b->skip_erased_check = true;
		dev->erased_blocks++;
	}
	yaffs_policy_erased(&dev->policy, block);
}

/* ---- space ---- */

bool yaffs_space_for(struct yaffs_device *dev, u32 chunks, bool reserve)
{
	u32 kept = 0;

	if (!reserve)
		kept = (YAFFS_RESERVED_BLOCKS +
			yaffs_checkpoint_blocks_needed(dev)) *
		       dev->pages_per_block;
	return dev->free_chunks >= chunks && dev->free_chunks - chunks > kept;
}

u32 yaffs_free_chunks(struct yaffs_device *dev)
{
	u32 kept = (YAFFS_RESERVED_BLOCKS + 1 +
		    yaffs_checkpoint_blocks_needed(dev)) *
		   dev->pages_per_block + dev->n_dirty_slots;

	return dev->free_chunks > kept ? dev->free_chunks - kept : 0;
}

/* ---- the block being written ---- */

static void finish_block(struct yaffs_device *dev)
{
	u32 block = dev->alloc_block;
	struct yaffs_block *b = &dev->blocks[block];

	b->state = YAFFS_BLOCK_FULL;
	dev->alloc_block = 0;
	yaffs_policy_dirtied(&dev->policy, block);
	if (!b->pages_in_use && !b->has_shrink)
		yaffs_block_recycle(dev, block);
}

void yaffs_alloc_abandon(struct yaffs_device *dev)
{
	if (dev->alloc_block)
		finish_block(dev);
}

/* ---- what is in an empty block ---- */

static bool page_is_erased(struct yaffs_device *dev, u32 chunk)
{
	dev->stats.pages_verified++;
	return yaffs_nand_is_erased(dev, chunk, dev->check_page);
}

/* Half an erase may take the tags of a page, and leave some of its data. */
static bool is_half_erased(struct yaffs_device *dev, u32 block)
{
	u32 chunk = block * dev->pages_per_block, page;

	for (page = 0; page < dev->pages_per_block; page++)
		if (!page_is_erased(dev, chunk + page))
			return true;
	return false;
}

bool yaffs_block_is_blank(struct yaffs_device *dev, u32 block)
{
	const struct yaffs_block *b = &dev->blocks[block];

	if (b->skip_erased_check)
		return true;
	return !(b->suspect && is_half_erased(dev, block)) &&
	       page_is_erased(dev, block * dev->pages_per_block);
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
	dev->erased_blocks -= b->state == YAFFS_BLOCK_EMPTY;
	dev->free_chunks -= dev->pages_per_block;
	memset(b, 0, sizeof(*b));
	b->state = YAFFS_BLOCK_DEAD;
	return true;
}

/* ---- the next block ---- */

/* An empty block; what a suspect one still holds is erased first. */
static u32 take_empty_block(struct yaffs_device *dev)
{
	struct yaffs_block *b;
	u32 block;

	for (;;) {
		block = yaffs_policy_empty_block(&dev->policy);
		b = &dev->blocks[block];
		if (!block)
			return 0;
		if (b->suspect && is_half_erased(dev, block)) {
			dev->erased_blocks--;
			yaffs_block_recycle(dev, block);
		}
		b->suspect = false;
		if (b->state == YAFFS_BLOCK_EMPTY)
			return block;
	}
}

static int begin_block(struct yaffs_device *dev)
{
	struct yaffs_block *b;
	u32 block;

	if (dev->seq + 1 >= YAFFS_SEQ_END)
		return -EIO;
	block = take_empty_block(dev);
	if (!block)
		return -ENOSPC;
	b = &dev->blocks[block];
	b->state = YAFFS_BLOCK_ALLOCATING;
	b->seq = ++dev->seq;
	dev->erased_blocks--;
	dev->alloc_block = block;
	dev->alloc_page = 0;
	yaffs_summary_begin(dev);
	return 0;
}

static u32 usable_pages(const struct yaffs_device *dev)
{
	return dev->pages_per_block - dev->summary_pages;
}

/* True if the page reads as what was written. */
static bool reads_back(struct yaffs_device *dev, u32 chunk, const u8 *data,
		       const struct yaffs_tags *tags)
{
	struct yaffs_tags found;

	dev->stats.pages_verified++;
	return !yaffs_nand_read(dev, chunk, dev->check_page, &found) &&
	       found.seq == tags->seq && found.obj_id == tags->obj_id &&
	       found.chunk_id == tags->chunk_id &&
	       found.n_bytes == (tags->extended ? 0 : tags->n_bytes) &&
	       !memcmp(dev->check_page, data, dev->chunk_bytes);
}

static void write_failed(struct yaffs_device *dev, bool was_erased)
{
	struct yaffs_block *b = &dev->blocks[dev->alloc_block];

	dev->stats.write_failures++;
	b->prioritised = true;
	dev->policy.any_prioritised = true;
	if (b->strikes < 7)
		b->strikes++;
	if (was_erased || b->strikes > MAX_STRIKES)
		b->needs_retiring = true;
	yaffs_alloc_abandon(dev);
}

/* Writes the next page of the block; false: it failed, and so did the block. */
static bool write_next(struct yaffs_device *dev, u8 *data,
		       struct yaffs_tags *tags, u32 *chunk)
{
	struct yaffs_block *b = &dev->blocks[dev->alloc_block];
	u32 page = dev->alloc_page++;
	u32 place = dev->alloc_block * dev->pages_per_block + page;
	bool verify = !b->skip_erased_check;
	struct yaffs_tags_media m;

	if (verify && !page_is_erased(dev, place)) {
		if (yaffs_block_is_foreign(dev, dev->alloc_block))
			dev->alloc_block = 0;
		else
			write_failed(dev, false);
		return false;
	}
	tags->seq = b->seq;
	yaffs_tags_pack(tags, &m);
	if (yaffs_nand_write(dev, place, data, &m) ||
	    (verify && !reads_back(dev, place, data, tags))) {
		write_failed(dev, true);
		return false;
	}
	b->skip_erased_check = true;
	yaffs_chunk_live(dev, place);
	*chunk = place;
	yaffs_summary_add(dev, page, &m);
	if (dev->alloc_block && dev->alloc_page >= usable_pages(dev))
		finish_block(dev);
	return true;
}

int yaffs_chunk_write(struct yaffs_device *dev, u8 *page, struct yaffs_tags *tags,
		      bool reserve, u32 *chunk)
{
	unsigned int attempts = max(yaffs_wr_attempts, 1U);
	int err;

	if (dev->read_only)
		return -EROFS;
	if (!yaffs_space_for(dev, 1, reserve))
		return -ENOSPC;
	yaffs_checkpoint_invalidate(dev);
	/* A block begun by a mount without summaries may have no page left for data. */
	if (dev->alloc_block && dev->alloc_page >= usable_pages(dev))
		finish_block(dev);
	while (attempts--) {
		if (!dev->alloc_block) {
			err = begin_block(dev);
			if (err)
				return err;
		}
		if (write_next(dev, page, tags, chunk))
			return 0;
	}
	return -EIO;
}
