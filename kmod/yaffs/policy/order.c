// SPDX-License-Identifier: GPL-2.0-only
/*
 * In which order blocks may be erased: see order.h. The answer is needed for each block
 * that is thought of as a victim, so the oldest dirty block is remembered. A block that
 * becomes dirty can only make it older; that it is erased makes it unknown.
 */

#include "order.h"

static void find_oldest(struct yaffs_order *order, const struct yaffs_view *view)
{
	u32 block;

	order->seq = YAFFS_SEQ_ERASED;
	order->block = 0;
	for (block = 1; block <= view->n_blocks; block++)
		if (yaffs_view_is_dirty(view, block) &&
		    yaffs_view_has_order(view, block) &&
		    yaffs_view_seq(view, block) < order->seq) {
			order->seq = yaffs_view_seq(view, block);
			order->block = block;
		}
}

u32 yaffs_order_oldest(struct yaffs_order *order, const struct yaffs_view *view)
{
	if (!order->seq)
		find_oldest(order, view);
	return order->block;
}

bool yaffs_order_may_erase(struct yaffs_order *order,
			   const struct yaffs_view *view, u32 block)
{
	if (!yaffs_view_is_pinned(view, block) &&
	    (!yaffs_view_has_shrink(view, block) ||
	     yaffs_view_is_settled(view, block)))
		return true;
	if (!order->seq)
		find_oldest(order, view);
	return yaffs_view_seq(view, block) <= order->seq;
}

void yaffs_order_dirtied(struct yaffs_order *order,
			 const struct yaffs_view *view, u32 block)
{
	if (order->seq && yaffs_view_is_dirty(view, block) &&
	    yaffs_view_has_order(view, block) &&
	    yaffs_view_seq(view, block) < order->seq) {
		order->seq = yaffs_view_seq(view, block);
		order->block = block;
	}
}

void yaffs_order_erased(struct yaffs_order *order, u32 block)
{
	if (order->block == block)
		order->seq = 0;
}
