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

/* Selections of a victim between two refreshes; fewer than 10: never refresh. */
#define YAFFS_REFRESH_PERIOD	500

/**
 * struct yaffs_original - what the policy remembers
 * @base: what all policies have
 * @order: the oldest block with dead pages
 * @alloc_last: where the last block was taken
 * @search_at: where the next search for a victim goes on
 * @candidate: best block found so far, 0 if none
 * @candidate_pages: pages in use of it, then
 * @failed: searches without result since the last victim
 * @refresh_in: selections until the next refresh
 * @any_prioritised: a block is marked so
 * @looks_ahead: somebody must not wait long, so a victim is sought step by step
 */
struct yaffs_original {
	struct yaffs_policy base;
	struct yaffs_order order;
	struct yaffs_debt debt;
	u32 alloc_last;
	u32 search_at;
	u32 candidate;
	u32 candidate_pages;
	u32 failed;
	u32 refresh_in;
	bool any_prioritised;
	bool looks_ahead;
};

extern const struct yaffs_policy_ops yaffs_policy_original;

#endif
