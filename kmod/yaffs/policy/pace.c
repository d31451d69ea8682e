// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much is collected now, as the original design has it. Passive collection makes
 * space before it is short: a few copies before a write, the same block again at the next
 * write, so that no writer waits long. Aggressive collection, when hardly any erased block
 * is left, empties a whole block at once. In the background it is passive even where much
 * is erased.
 */

#include "pace.h"

#define PASSIVE_COPIES	5
#define MAX_ROUNDS	2

bool yaffs_pace_budget(struct yaffs_policy *policy,
		       const struct yaffs_occasion *occasion,
		       struct yaffs_budget *budget)
{
	const struct yaffs_view *view = &policy->view;
	u32 erased = yaffs_view_erased_blocks(view);

	if (occasion->round && (occasion->round >= MAX_ROUNDS ||
				erased >= occasion->reserved_blocks))
		return false;
	budget->aggressive = erased < yaffs_enough_blocks(occasion);
	if (!budget->aggressive && !occasion->background &&
	    yaffs_view_erased_chunks(view) > yaffs_view_free_chunks(view) / 4)
		return false;
	budget->copies = budget->aggressive ? view->pages_per_block :
					      PASSIVE_COPIES;
	budget->forced = false;
	budget->ns = 0;
	return true;
}

/* By how much of the free space is erased; little that is not is not worth it. */
unsigned int yaffs_pace_urgency(const struct yaffs_policy *policy)
{
	const struct yaffs_view *view = &policy->view;
	u32 erased = yaffs_view_erased_chunks(view);
	u32 free = yaffs_view_free_chunks(view);
	u32 scattered = free > erased ? free - erased : 0;

	if (scattered < 2 * view->pages_per_block)
		return 0;
	if (erased <= free / 4)
		return 2;
	return erased <= free / 2;
}
