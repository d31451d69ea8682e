/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The policy of the segregated layout. What it remembers stands here for its tests.
 */
#ifndef YAFFS_SEGREGATED_H
#define YAFFS_SEGREGATED_H

#include "original.h"

/**
 * struct yaffs_segregated - what the policy remembers
 * @original: what it shares with the original one
 * @waiting_blocks: that may not be erased before others, when all were looked at last
 * @waiting_live: live pages in them
 * @round_blocks: the same, as far as the search has come since
 * @round_live: likewise
 * @recovered: since the mount there were enough erased blocks for another power cut
 */
struct yaffs_segregated {
	struct yaffs_original original;
	u32 waiting_blocks;
	u32 waiting_live;
	u32 round_blocks;
	u32 round_live;
	bool recovered;
};

extern const struct yaffs_policy_ops yaffs_policy_segregated;

#endif
