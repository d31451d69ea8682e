/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Policy, apart from mechanism: which block to write to next, and which block to
 * collect. Pure: it sees the blocks and answers with a number; the core does
 * what it says. Another design is another implementation of these functions.
 */
#ifndef YAFFS_POLICY_H
#define YAFFS_POLICY_H

#include "../format/codec.h"

/* Selections of a victim between two refreshes; fewer than 10: never refresh. */
#define YAFFS_REFRESH_PERIOD	500

/**
 * struct yaffs_policy - what the policy sees, and what it remembers
 * @blocks: by internal number; [0] is not used
 * @n_blocks: the last internal number
 * @pages_per_block: of each block
 * @alloc_last: where the last block was taken
 * @search_at: where the next search for a victim goes on
 * @candidate: best block found so far, 0 if none
 * @candidate_pages: pages in use of it, then
 * @failed: searches without result since the last victim
 * @refresh_in: selections until the next refresh
 * @oldest_dirty_seq: cached answer of yaffs_policy_oldest_dirty(), 0 if unknown
 * @oldest_dirty: the block of that sequence number
 * @any_prioritised: a block is marked so
 */
struct yaffs_policy {
	const struct yaffs_block *blocks;
	u32 n_blocks;
	u32 pages_per_block;
	u32 alloc_last;
	u32 search_at;
	u32 candidate;
	u32 candidate_pages;
	u32 failed;
	u32 refresh_in;
	u32 oldest_dirty_seq;
	u32 oldest_dirty;
	bool any_prioritised;
};

void yaffs_policy_init(struct yaffs_policy *p, const struct yaffs_block *blocks,
		       u32 n_blocks, u32 pages_per_block);

/* The empty block to write to next; 0 if there is none. O(blocks). */
u32 yaffs_policy_empty_block(struct yaffs_policy *p);

/*
 * The block to collect next; 0 if none is worth it now. @aggressive: space is short,
 * any block that gives a page back will do. @background: nobody waits for it.
 */
u32 yaffs_policy_victim(struct yaffs_policy *p, bool aggressive, bool background);

/*
 * A block that holds a shrink header invalidates older data on flash. It may be
 * erased only when no older block can hold such data: when it is not younger than
 * the oldest block with dead pages.
 */
bool yaffs_policy_may_erase(struct yaffs_policy *p, u32 block);

/* To be told: pages of @block died, or @block was erased or retired. */
void yaffs_policy_dirtied(struct yaffs_policy *p, u32 block);
void yaffs_policy_erased(struct yaffs_policy *p, u32 block);

#endif
