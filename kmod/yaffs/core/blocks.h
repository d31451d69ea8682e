/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * space.c: how much may be written, and what is kept for whom. blocks.c: which pages
 * are live, when a block is erased, what is in an empty one.
 */
#ifndef YAFFS_BLOCKS_H
#define YAFFS_BLOCKS_H

#include "device.h"

/* ---- space.c ---- */

/* Pages that may be written; @reserve: by a writer entitled to the reserve. */
bool yaffs_space_for(struct yaffs_device *dev, u32 chunks, bool reserve);
/* Free pages as statfs reports them. */
u32 yaffs_free_chunks(struct yaffs_device *dev);
/* Blocks that the checkpoint's stream takes as things are. */
u32 yaffs_checkpoint_blocks(const struct yaffs_device *dev);
/* Blocks that must be kept for a checkpoint, beyond those that hold one. */
u32 yaffs_checkpoint_blocks_needed(const struct yaffs_device *dev);
/* False: no checkpoint is ever written of this mount. */
bool yaffs_checkpoint_possible(const struct yaffs_device *dev);

/* ---- blocks.c ---- */

/* Marks a page as live, or as dead; the last dead page frees the block. */
void yaffs_chunk_live(struct yaffs_device *dev, u32 chunk);
void yaffs_chunk_dead(struct yaffs_device *dev, u32 chunk);
bool yaffs_chunk_is_live(const struct yaffs_device *dev, u32 chunk);
/* Sorts [@n] blocks by their sequence numbers, the newest first. */
void yaffs_blocks_sort(const struct yaffs_device *dev, u32 *blocks, u32 n);
/* Erases a block without live pages, or retires it. */
void yaffs_block_recycle(struct yaffs_device *dev, u32 block);
/* True if the page reads as erased; counted as a page that was verified. */
bool yaffs_page_is_blank(struct yaffs_device *dev, u32 chunk);
/* True if one of a block's pages does not. */
bool yaffs_block_is_half_erased(struct yaffs_device *dev, u32 block);
/*
 * True if nothing was written to an empty block since its last erase, as far as tags
 * and the first page tell; those of all its pages if it is suspect.
 */
bool yaffs_block_is_blank(struct yaffs_device *dev, u32 block);
/*
 * On a partition that was mounted as an erased one: true if the other tag mode wrote
 * the block. From then on it is left alone.
 */
bool yaffs_block_is_foreign(struct yaffs_device *dev, u32 block);

#endif
