// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wear leveling over two pools. Metadata change often and data do not, so blocks that hold
 * the one are erased more often than those with the other. A block that becomes empty goes to
 * the end of the queue of what it held; what is written next takes the first of the other
 * queue, so that the two uses change places. If that block is worn more than the mean of all
 * blocks, the one behind it is looked at, too, and the less worn of the two is taken. All of
 * it is a few steps, however many blocks there are.
 *
 * That levels what is written. Blocks with data that never change are not written, and stay
 * as they are. Static wear leveling collects such a block when it is worn less than the mean
 * by more than a bound: its contents go to a block that is in use, and it is used from then
 * on.
 *
 * A queue may have blocks that were taken for something else, such as a checkpoint. They are
 * passed over.
 */

#include "pools.h"

#define END U32_MAX	/* of a queue: 0 is for blocks that are in none */

static void append(struct yaffs_pools *pools, const struct yaffs_view *view,
		   u32 block)
{
	struct yaffs_pool *pool =
		&pools->pool[yaffs_view_is_metadata(view, block)];

	if (view->links[block])
		return;
	view->links[block] = END;
	if (pool->head)
		view->links[pool->tail] = block;
	else
		pool->head = block;
	pool->tail = block;
}

static void make(struct yaffs_pools *pools, const struct yaffs_view *view)
{
	u32 block;

	pools->made = true;
	for (block = 1; block <= view->n_blocks; block++)
		if (yaffs_view_is_empty(view, block))
			append(pools, view, block);
}

static u32 pop(struct yaffs_pool *pool, const struct yaffs_view *view)
{
	u32 block = pool->head, next;

	if (!block)
		return 0;
	next = view->links[block];
	view->links[block] = 0;
	pool->head = next == END ? 0 : next;
	return block;
}

static u32 pop_empty(struct yaffs_pool *pool, const struct yaffs_view *view)
{
	u32 block;

	do {
		block = pop(pool, view);
	} while (block && !yaffs_view_is_empty(view, block));
	return block;
}

/* To its beginning. */
static void push(struct yaffs_pool *pool, const struct yaffs_view *view,
		 u32 block)
{
	view->links[block] = pool->head ? pool->head : END;
	if (!pool->head)
		pool->tail = block;
	pool->head = block;
}

u32 yaffs_pools_take(struct yaffs_pools *pools, const struct yaffs_view *view,
		     bool metadata)
{
	struct yaffs_pool *pool = &pools->pool[!metadata];
	u32 first, second;

	if (!pools->made)
		make(pools, view);
	first = pop_empty(pool, view);
	if (!first) {
		pool = &pools->pool[metadata];
		first = pop_empty(pool, view);
	}
	if (!first || !yaffs_view_is_worn(view, first))
		return first;
	second = pop_empty(pool, view);
	if (!second)
		return first;
	if (yaffs_view_erases(view, second) >= yaffs_view_erases(view, first)) {
		push(pool, view, second);
		return first;
	}
	push(pool, view, first);
	return second;
}

void yaffs_pools_erased(struct yaffs_pools *pools, const struct yaffs_view *view,
			u32 block)
{
	if (pools->made && yaffs_view_is_empty(view, block))
		append(pools, view, block);
}

u32 yaffs_pools_cold(const struct yaffs_view *view, u32 least)
{
	u64 mean = div_u64(*view->all_erases, view->n_blocks);

	return least && view->spread &&
	       yaffs_view_erases(view, least) + view->spread < mean ? least : 0;
}
