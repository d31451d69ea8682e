/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which empty block is written next, so that blocks wear alike: mount option wear=pools, as
 * published. Needs the counts of erases, and a place for the queues: view.h.
 */
#ifndef YAFFS_POOLS_H
#define YAFFS_POOLS_H

#include "view.h"

/**
 * struct yaffs_pool - empty blocks with the same last use, those that wait longest first
 * @head: the first; 0: there is none
 * @tail: the last
 */
struct yaffs_pool {
	u32 head;
	u32 tail;
};

/**
 * struct yaffs_pools - of data, and of metadata
 * @pool: by what blocks were used for last
 * @made: the blocks that were empty at mount are in them
 */
struct yaffs_pools {
	struct yaffs_pool pool[2];
	bool made;
};

/* The empty block that goes on with data, or metadata; 0: there is none. */
u32 yaffs_pools_take(struct yaffs_pools *pools, const struct yaffs_view *view,
		     bool metadata);
/* The block was erased, or is no more. */
void yaffs_pools_erased(struct yaffs_pools *pools, const struct yaffs_view *view,
			u32 block);

/*
 * wear=static: the full block that is so little worn, against the mean, that its contents
 * have to move; 0: there is none. @least: the least worn one that the caller found.
 */
u32 yaffs_pools_cold(const struct yaffs_view *view, u32 least);

#endif
