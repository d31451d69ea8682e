// SPDX-License-Identifier: GPL-2.0-only
/*
 * Space: who may still write.
 *
 * Some blocks are a reserve: the collector needs room to copy to, and a cached chunk
 * or a changed header must always find a page. New objects and new data may not use
 * it, nor the blocks that the next checkpoint will take, nor, in the segregated layout, the
 * pages that indices of files will take. How many these are follows from what is in memory:
 * it is asked before every write, so it is counted, not walked.
 */

#include "blocks.h"

/* ---- what the checkpoint takes ---- */

/* Kept beyond what the checkpoint takes, as the original does: blocks may turn bad. */
#define SPARE_BLOCKS	2

bool yaffs_checkpoint_possible(const struct yaffs_device *dev)
{
	return dev->options.checkpoint_write &&
	       dev->n_blocks >= YAFFS_CKPT_MIN_BLOCKS;
}

/* Where the pages of files are, in the segregated layout. */
static u32 pieces_bytes(const struct yaffs_device *dev)
{
	return sizeof(struct yaffs_ckpt_streams_media) +
	       (dev->n_files + dev->n_pieces) *
	       sizeof(struct yaffs_ckpt_piece_media);
}

static u32 leaves_bytes(const struct yaffs_device *dev)
{
	return dev->n_leaves * (YAFFS_CKPT_LEAF_BYTES + sizeof(__le32));
}

/* At least as long as the stream will be. */
static u32 stream_bytes(const struct yaffs_device *dev)
{
	return 2 * sizeof(struct yaffs_ckpt_validity_media) +
	       sizeof(struct yaffs_ckpt_device_media) +
	       dev->n_blocks * (sizeof(struct yaffs_ckpt_block_media) +
				DIV_ROUND_UP(dev->pages_per_block, 8)) +
	       (dev->n_objects + 1) * sizeof(struct yaffs_ckpt_object_media) +
	       (yaffs_is_segregated(dev) ? pieces_bytes(dev) :
					   leaves_bytes(dev)) +
	       dev->n_files * sizeof(__le32) + sizeof(__le32);
}

u32 yaffs_checkpoint_blocks(const struct yaffs_device *dev)
{
	u32 body = dev->chunk_bytes - sizeof(struct yaffs_ckpt_page_media);

	return DIV_ROUND_UP(DIV_ROUND_UP(stream_bytes(dev), body),
			    dev->pages_per_block);
}

u32 yaffs_checkpoint_blocks_needed(const struct yaffs_device *dev)
{
	u32 blocks;

	if (!yaffs_checkpoint_possible(dev))
		return 0;
	blocks = yaffs_checkpoint_blocks(dev) + SPARE_BLOCKS;
	return blocks > dev->ckpt_blocks ? blocks - dev->ckpt_blocks : 0;
}

/* ---- pages ---- */

bool yaffs_space_for(struct yaffs_device *dev, u32 chunks, bool reserve)
{
	u32 kept = 0;

	if (!reserve)
		kept = (yaffs_reserved_blocks(dev) +
			yaffs_checkpoint_blocks_needed(dev)) *
		       dev->pages_per_block + dev->n_unwritten;
	return dev->space.free_chunks >= chunks && dev->space.free_chunks - chunks > kept;
}

u32 yaffs_free_chunks(struct yaffs_device *dev)
{
	u32 kept = (yaffs_reserved_blocks(dev) + 1 +
		    yaffs_checkpoint_blocks_needed(dev)) *
		   dev->pages_per_block + dev->n_dirty_slots + dev->n_unwritten;

	yaffs_assert_locked(dev);
	return dev->space.free_chunks > kept ? dev->space.free_chunks - kept : 0;
}
