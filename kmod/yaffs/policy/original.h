/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The policy of the original design. What it remembers stands here for its tests; the
 * core knows the table alone.
 */
#ifndef YAFFS_ORIGINAL_H
#define YAFFS_ORIGINAL_H

#include "bound.h"
#include "order.h"
#include "policy.h"
#include "pools.h"

/* Selections of a victim between two refreshes; fewer than 10: never refresh. */
#define YAFFS_REFRESH_PERIOD	500
/* And between two looks for one that is worn too little. */
#define YAFFS_COLD_PERIOD	16

/**
 * struct yaffs_original - what the policy remembers
 * @base: what all policies have
 * @order: the oldest block with dead pages
 * @pools: empty blocks, where blocks are to wear alike
 * @alloc_last: where the last block was taken, elsewhere
 * @search_at: where the next search for a victim goes on
 * @candidate: best block found so far, 0 if none
 * @candidate_pages: pages in use of it, then
 * @failed: searches without result since the last victim
 * @refresh_in: selections until the next refresh
 * @cold_in: selections until it is looked whether data that never change have to move
 * @any_prioritised: a block is marked so
 * @looks_ahead: somebody must not wait long, so a victim is sought step by step
 */
struct yaffs_original {
	struct yaffs_policy base;
	struct yaffs_order order;
	struct yaffs_debt debt;
	struct yaffs_pools pools;
	u32 alloc_last;
	u32 search_at;
	u32 candidate;
	u32 candidate_pages;
	u32 failed;
	u32 refresh_in;
	u32 cold_in;
	bool any_prioritised;
	bool looks_ahead;
};

extern const struct yaffs_policy_ops yaffs_policy_original;

/* ---- what policies have that begin with struct yaffs_original ---- */

void yaffs_original_init(struct yaffs_policy *policy);
/* The next empty block in turn. */
u32 yaffs_original_empty_block(struct yaffs_policy *policy, u32 stream);
bool yaffs_original_has_pressing(const struct yaffs_policy *policy);
void yaffs_original_dirtied(struct yaffs_policy *policy, u32 block);
void yaffs_original_erased(struct yaffs_policy *policy, u32 block);
void yaffs_original_prioritised(struct yaffs_policy *policy, u32 block);

/* Whether a block may be collected. */
bool yaffs_original_is_eligible(struct yaffs_original *p, u32 block);
/* Blocks that are looked at for a page, where somebody must not wait long. */
u32 yaffs_original_passive_blocks(const struct yaffs_original *p);
/* The oldest full block, when it is time for that; one with bit errors; 0: there is none. */
u32 yaffs_original_refresh_victim(struct yaffs_original *p, bool background);
u32 yaffs_original_prioritised_victim(struct yaffs_original *p);
/* One that is worn so little that its contents have to move: wear=static. */
u32 yaffs_original_cold_victim(struct yaffs_original *p);
/* One with pages that cannot be read, when there is no other. */
u32 yaffs_original_unreadable_victim(struct yaffs_original *p);

#endif
