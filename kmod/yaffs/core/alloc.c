// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which page is written next.
 *
 * One block is written at a time, its pages in ascending order; all of them carry the
 * block's sequence number, so that a scan can tell old from new.
 *
 * What is not known to be blank is not trusted. Before the first write to such a block
 * its page is read, and after it read back. A page that fails makes the rest of its
 * block be given up; if it was blank before, the block is worn, and will be marked bad
 * when its live pages have been moved.
 *
 * After a crash an empty block may be one whose erase was interrupted, with pages left
 * behind the first, some of them without their tags. So all pages of such a block are
 * read before it is written; erasing it in any case would be quicker, but wear it.
 */

#include <linux/moduleparam.h>

#include "alloc.h"
#include "nand.h"

static unsigned int yaffs_wr_attempts = 320;
module_param(yaffs_wr_attempts, uint, 0644);
MODULE_PARM_DESC(yaffs_wr_attempts, "pages tried before a write fails");

#define MAX_STRIKES 3

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
		if (b->suspect && yaffs_block_is_half_erased(dev, block)) {
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

	if (verify && !yaffs_page_is_blank(dev, place)) {
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
	dev->events->changed(dev);
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
