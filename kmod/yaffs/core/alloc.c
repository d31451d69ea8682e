// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which page is written next.
 *
 * Each stream has one block that is written, its pages in ascending order; all of them
 * carry the block's sequence number, so that a scan can tell old from new. Which stream a
 * page goes to, and which block a stream goes on with, is the policy's to say.
 *
 * What is not known to be blank is not trusted. Before the first write to such a block
 * its page is read, and after it read back. A page that fails makes the rest of its
 * block be given up; if it was blank before, the block is worn, and will be marked bad
 * when its live pages have been moved.
 *
 * After a crash an empty block may be one whose erase was interrupted, with pages left
 * behind the first, some of them without their tags. So all pages of such a block are
 * read before it is written; erasing it in any case would be quicker, but wear it. Where
 * somebody must not wait long (request.h) that is what is done.
 */

#include <linux/moduleparam.h>

#include "alloc.h"
#include "nand.h"

static unsigned int yaffs_wr_attempts = 320;
module_param(yaffs_wr_attempts, uint, 0644);
MODULE_PARM_DESC(yaffs_wr_attempts, "pages tried before a write fails");

#define MAX_STRIKES 3

static void finish_block(struct yaffs_device *dev, struct yaffs_stream *stream)
{
	u32 block = stream->block;
	struct yaffs_block *b = &dev->blocks[block];

	INVARIANT(b->state == YAFFS_BLOCK_ALLOCATING, "block %u is finished in state %u",
		  block, b->state);
	b->state = YAFFS_BLOCK_FULL;
	stream->block = 0;
	dev->policy->ops->dirtied(dev->policy, block);
	if (!b->pages_in_use && !b->has_shrink && !dev->bound.ns)
		yaffs_block_recycle(dev, block);
}

/* ---- the next block ---- */

/* An empty block; what a suspect one still holds is erased first. */
static u32 take_empty_block(struct yaffs_device *dev, u32 stream)
{
	struct yaffs_block *b;
	u32 block;

	for (;;) {
		block = dev->policy->ops->empty_block(dev->policy, stream);
		b = &dev->blocks[block];
		if (!block)
			return 0;
		if (b->suspect && (dev->bound.ns ||
				   yaffs_block_is_half_erased(dev, block))) {
			dev->space.erased_blocks--;
			yaffs_block_recycle(dev, block);
		}
		b->suspect = false;
		if (b->state == YAFFS_BLOCK_EMPTY)
			return block;
	}
}

static int begin_block(struct yaffs_device *dev, struct yaffs_stream *stream,
		       bool metadata)
{
	struct yaffs_block *b;
	u32 block;

	if (dev->seq + 1 >= YAFFS_SEQ_END)
		return -EIO;
	block = take_empty_block(dev, stream - dev->streams);
	if (!block)
		return -ENOSPC;
	b = &dev->blocks[block];
	INVARIANT(!stream->block && !b->pages_in_use && dev->space.erased_blocks,
		  "block %u is begun behind block %u, with %u live pages, %u being erased",
		  block, stream->block, b->pages_in_use, dev->space.erased_blocks);
	b->state = YAFFS_BLOCK_ALLOCATING;
	b->seq = ++dev->seq;
	b->metadata = metadata;
	dev->space.erased_blocks--;
	stream->block = block;
	stream->page = 0;
	yaffs_summary_begin(dev, stream);
	return 0;
}

static u32 usable_pages(const struct yaffs_device *dev,
			const struct yaffs_stream *stream)
{
	return dev->pages_per_block -
	       yaffs_summary_pages_of(dev, dev->blocks[stream->block].metadata);
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

/* No page is written to the block any more. */
static void write_failed(struct yaffs_device *dev, struct yaffs_stream *stream,
			 bool was_erased)
{
	struct yaffs_block *b = &dev->blocks[stream->block];

	dev->stats.write_failures++;
	yaffs_block_prioritise(dev, stream->block);
	if (b->strikes < 7)
		b->strikes++;
	if (was_erased || b->strikes > MAX_STRIKES)
		b->needs_retiring = true;
	finish_block(dev, stream);
}

/* Writes the next page of the block; false: it failed, and so did the block. */
static bool write_next(struct yaffs_device *dev, struct yaffs_stream *stream,
		       u8 *data, struct yaffs_tags *tags, u32 *chunk)
{
	struct yaffs_block *b = &dev->blocks[stream->block];
	u32 page = stream->page++;
	u32 place = stream->block * dev->pages_per_block + page;
	bool verify = !b->skip_erased_check;
	struct yaffs_tags_media m;

	INVARIANT(b->state == YAFFS_BLOCK_ALLOCATING && page < dev->pages_per_block &&
		  !yaffs_chunk_is_live(dev, place),
		  "page %u of block %u is written in state %u, or live", page,
		  stream->block, b->state);
	if (verify && !yaffs_page_is_blank(dev, place)) {
		if (yaffs_block_is_foreign(dev, stream->block))
			stream->block = 0;
		else
			write_failed(dev, stream, false);
		return false;
	}
	tags->seq = b->seq;
	tags->segregated = yaffs_is_segregated(dev);
	tags->metadata = b->metadata;
	yaffs_tags_pack(tags, &m);
	if (yaffs_nand_write(dev, place, data, &m) ||
	    (verify && !reads_back(dev, place, data, tags))) {
		write_failed(dev, stream, true);
		return false;
	}
	b->skip_erased_check = true;
	yaffs_chunk_live(dev, place);
	*chunk = place;
	yaffs_summary_add(dev, stream, page, &m);
	if (stream->block && stream->page >= usable_pages(dev, stream))
		finish_block(dev, stream);
	return true;
}

static bool is_data(const struct yaffs_tags *tags)
{
	return tags->chunk_id && !tags->is_index;
}

static struct yaffs_stream *stream_of(struct yaffs_device *dev,
				      const struct yaffs_tags *tags,
				      enum yaffs_writer by)
{
	enum yaffs_page_kind kind;

	if (by == YAFFS_WRITE_COPY)
		kind = is_data(tags) ? YAFFS_PAGE_DATA_COPY :
				       YAFFS_PAGE_METADATA_COPY;
	else
		kind = is_data(tags) ? YAFFS_PAGE_DATA : YAFFS_PAGE_METADATA;
	return &dev->streams[dev->policy->ops->stream_of(dev->policy, kind)];
}

int yaffs_chunk_write(struct yaffs_device *dev, u8 *page, struct yaffs_tags *tags,
		      enum yaffs_writer by, u32 *chunk)
{
	unsigned int attempts = max(yaffs_wr_attempts, 1U);
	struct yaffs_stream *stream;
	int err;

	yaffs_assert_locked(dev);
	if (dev->read_only)
		return -EROFS;
	if (!yaffs_space_for(dev, 1, by != YAFFS_WRITE_NEW))
		return -ENOSPC;
	if (yaffs_is_segregated(dev) && !is_data(tags))
		yaffs_ids_note(dev, tags->obj_id);
	dev->events->changed(dev);
	stream = stream_of(dev, tags, by);
	/* A block begun by a mount without summaries may have no page left for data. */
	if (stream->block && stream->page >= usable_pages(dev, stream))
		finish_block(dev, stream);
	while (attempts--) {
		if (!stream->block) {
			err = begin_block(dev, stream,
					  yaffs_is_segregated(dev) &&
					  !is_data(tags));
			if (err)
				return err;
		}
		if (write_next(dev, stream, page, tags, chunk))
			return 0;
	}
	return -EIO;
}
