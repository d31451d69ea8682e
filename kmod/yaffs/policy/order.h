/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * In which order blocks may be erased. Every policy has to keep to it, and may use this.
 *
 * A block that holds a shrink header invalidates older data on flash. It may be erased
 * only when no older block can hold such data: when it is not younger than the oldest
 * block with dead pages. In the segregated layout data pages are invalidated by what their
 * file's header says, so among the older blocks only those with metadata count.
 *
 * A block with the newest summary of which objects there are voids older metadata, and is
 * in this order, too. It could not stay for good: after many power cuts, none of which lets a
 * block with metadata become full, all others may wait for it.
 */
#ifndef YAFFS_ORDER_H
#define YAFFS_ORDER_H

#include "view.h"

/**
 * struct yaffs_order - the oldest block with dead pages, kept as blocks come and go
 * @seq: its sequence number; YAFFS_SEQ_ERASED: there is none; 0: to be looked for
 * @block: that block, 0 if there is none; not valid while @seq is 0
 */
struct yaffs_order {
	u32 seq;
	u32 block;
};

/* The oldest block with dead pages, or 0. O(blocks), but mostly known. */
u32 yaffs_order_oldest(struct yaffs_order *order, const struct yaffs_view *view);
bool yaffs_order_may_erase(struct yaffs_order *order,
			   const struct yaffs_view *view, u32 block);
/* To be told what the policy is told. */
void yaffs_order_dirtied(struct yaffs_order *order,
			 const struct yaffs_view *view, u32 block);
void yaffs_order_erased(struct yaffs_order *order, u32 block);

#endif
