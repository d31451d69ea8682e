/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much is collected now when nobody may wait long: mount option gc_bound_us. For the
 * tables of policies.
 */
#ifndef YAFFS_POLICY_BOUND_H
#define YAFFS_POLICY_BOUND_H

#include "policy.h"

/**
 * struct yaffs_debt - what was not collected yet
 * @victim: the block chosen last
 * @live: pages that it had to be copied when it was chosen
 * @owed: steps that are due, in parts of a step (YAFFS_DEBT_PARTS)
 */
struct yaffs_debt {
	u32 victim;
	u32 live;
	u64 owed;
};

#define YAFFS_DEBT_PARTS	256

bool yaffs_bound_budget(struct yaffs_debt *debt, const struct yaffs_view *view,
			const struct yaffs_occasion *occasion,
			struct yaffs_budget *budget);
/* @victim: the block that will be collected, or 0. */
void yaffs_bound_chosen(struct yaffs_debt *debt, const struct yaffs_view *view,
			u32 victim);

#endif
