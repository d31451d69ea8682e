/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a policy sees of the flash. The mechanism keeps the tables; a policy reads them by
 * the functions below, and in no other way: how the mechanism stores what it knows can
 * change without a policy, and a test can make up a partition without the mechanism.
 *
 * Functions of a block take its internal number, from 1 to yaffs_view.n_blocks.
 */
#ifndef YAFFS_VIEW_H
#define YAFFS_VIEW_H

#include "../format/codec.h"

/**
 * struct yaffs_space - room on the flash, as the mechanism counts it
 * @free_chunks: pages that are not live, in usable blocks
 * @erased_blocks: blocks that can be written at once
 */
struct yaffs_space {
	u32 free_chunks;
	u32 erased_blocks;
};

/**
 * struct yaffs_view - the tables of the mechanism
 * @blocks: by internal number; [0] is not used
 * @erases: by internal number: how often it was erased; NULL unless blocks are to wear alike;
 *	this and the next three are for that
 * @all_erases: the sum of @erases
 * @links: by internal number: for queues of empty blocks, 0 at first; NULL: in turn
 * @spread: blocks that are worn less than the mean by more than that are to be used; 0: any
 * @space: of all blocks together
 * @segregated: headers and data are in blocks apart
 * @newest_seq: of the block that was begun last
 * @settled_seq: then: metadata blocks with lower numbers may be erased in any order
 * @n_blocks: the last internal number
 * @pages_per_block: of each block
 */
struct yaffs_view {
	const struct yaffs_block *blocks;
	const u32 *erases;
	const u64 *all_erases;
	u32 *links;
	u32 spread;
	const struct yaffs_space *space;
	bool segregated;
	const u32 *settled_seq;
	const u32 *newest_seq;
	u32 n_blocks;
	u32 pages_per_block;
};

static inline bool yaffs_view_is_empty(const struct yaffs_view *view, u32 block)
{
	return view->blocks[block].state == YAFFS_BLOCK_EMPTY;
}

/* Written to its end, and not being collected. */
static inline bool yaffs_view_is_full(const struct yaffs_view *view, u32 block)
{
	return view->blocks[block].state == YAFFS_BLOCK_FULL;
}

/* Pages that would have to be copied. */
static inline u32 yaffs_view_live(const struct yaffs_view *view, u32 block)
{
	return view->blocks[block].pages_in_use;
}

/* The next block in turn. */
static inline u32 yaffs_view_next(const struct yaffs_view *view, u32 block)
{
	return block >= view->n_blocks ? 1 : block + 1;
}

/* Full, and there is a page to be gained. */
static inline bool yaffs_view_is_dirty(const struct yaffs_view *view, u32 block)
{
	return yaffs_view_is_full(view, block) &&
	       yaffs_view_live(view, block) < view->pages_per_block;
}

/* Grows with each block that is begun: the lower, the older the contents. */
static inline u32 yaffs_view_seq(const struct yaffs_view *view, u32 block)
{
	return view->blocks[block].seq;
}

static inline bool yaffs_view_is_metadata(const struct yaffs_view *view,
					  u32 block)
{
	return view->blocks[block].metadata;
}

/* What it holds may have to be outlived by younger blocks: see order.h. */
static inline bool yaffs_view_has_order(const struct yaffs_view *view, u32 block)
{
	return !view->segregated || yaffs_view_is_metadata(view, block);
}

/* Holds a header that invalidates older data: see order.h. */
static inline bool yaffs_view_has_shrink(const struct yaffs_view *view, u32 block)
{
	return view->blocks[block].has_shrink;
}

/* It must stay, whatever it holds. */
static inline bool yaffs_view_is_pinned(const struct yaffs_view *view, u32 block)
{
	return view->blocks[block].pinned;
}

/* Nothing in it has to outlive anything. */
static inline bool yaffs_view_is_settled(const struct yaffs_view *view, u32 block)
{
	return view->segregated &&
	       yaffs_view_seq(view, block) < *view->settled_seq;
}

/* Its pages had bit errors. */
static inline bool yaffs_view_is_prioritised(const struct yaffs_view *view,
					     u32 block)
{
	return view->blocks[block].prioritised;
}

/* Holds live pages that cannot be read, which are lost if it is collected. */
static inline bool yaffs_view_is_unreadable(const struct yaffs_view *view,
					    u32 block)
{
	return view->blocks[block].unreadable;
}

static inline u32 yaffs_view_erases(const struct yaffs_view *view, u32 block)
{
	return view->erases[block];
}

/* More than the mean. */
static inline bool yaffs_view_is_worn(const struct yaffs_view *view, u32 block)
{
	return (u64)yaffs_view_erases(view, block) * view->n_blocks >
	       *view->all_erases;
}

static inline u32 yaffs_view_free_chunks(const struct yaffs_view *view)
{
	return view->space->free_chunks;
}

static inline u32 yaffs_view_erased_blocks(const struct yaffs_view *view)
{
	return view->space->erased_blocks;
}

/* Pages of erased blocks. */
static inline u32 yaffs_view_erased_chunks(const struct yaffs_view *view)
{
	return view->space->erased_blocks * view->pages_per_block;
}

#endif
