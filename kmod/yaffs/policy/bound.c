// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collection in proportion to what is written. A block with v live pages of n gives n - v
 * pages for v copies and an erase: so each page that is written makes (v + 1) / (n - v) steps
 * due, and an eighth more so that what is erased grows back. What the time does not allow now
 * stays due.
 *
 * That begins some blocks before the original design becomes aggressive, so that a burst of
 * writes has something to live on. If it is used up nevertheless, a block is collected as a
 * whole, and said to be forced.
 */

#include "bound.h"

/*
 * Erased blocks beyond the reserve with which work begins; in the segregated layout, which does
 * nothing before, some more, as a share of what is free.
 */
#define HEADROOM_BLOCKS	8
#define MORE_SHARE	16
#define MORE_BLOCKS	32
/* With so many, and no more, the collector has room for the copies of a block. */
#define FLOOR_BLOCKS	2
/* More than so many blocks are never due. */
#define MOST_BLOCKS	4
#define FORCED_ROUNDS	2

/* For one page that is about to be written. */
static void owe(struct yaffs_debt *debt, const struct yaffs_view *view)
{
	u32 left = debt->victim ? yaffs_view_live(view, debt->victim) : 0;
	u32 n = view->pages_per_block;
	/* A block with all pages live is moved for another reason than room. */
	u64 steps = div_u64((debt->live + 1) * YAFFS_DEBT_PARTS,
			    debt->live < n ? n - debt->live : n);

	steps += steps / 8;
	/* What is forced pays that much, and what was due before stays due. */
	if (yaffs_view_erased_blocks(view) <= FLOOR_BLOCKS)
		steps = max_t(u64, steps, (left + 1) * YAFFS_DEBT_PARTS);
	debt->owed = min_t(u64, debt->owed + steps,
			   (u64)MOST_BLOCKS * n * YAFFS_DEBT_PARTS);
}

static void pay(struct yaffs_debt *debt, u32 steps)
{
	debt->owed -= min_t(u64, debt->owed, (u64)steps * YAFFS_DEBT_PARTS);
}

static u32 headroom(const struct yaffs_view *view)
{
	u32 free = yaffs_view_free_chunks(view) / view->pages_per_block;

	return HEADROOM_BLOCKS +
	       (view->segregated ? min_t(u32, free / MORE_SHARE, MORE_BLOCKS) : 0);
}

bool yaffs_bound_budget(struct yaffs_debt *debt, const struct yaffs_view *view,
			const struct yaffs_occasion *occasion,
			struct yaffs_budget *budget)
{
	u32 erased = yaffs_view_erased_blocks(view);

	budget->aggressive = erased < yaffs_enough_blocks(occasion) +
				      headroom(view);
	budget->forced = !occasion->background && erased <= FLOOR_BLOCKS;
	budget->ns = occasion->ns;
	/* The segregated layout collects as late as possible (segregated.c). */
	if (!budget->aggressive && !occasion->background &&
	    (view->segregated || yaffs_view_erased_chunks(view) >
				 yaffs_view_free_chunks(view) / 4)) {
		debt->owed = 0;
		return false;
	}
	if (occasion->background) {
		budget->copies = 1;
		budget->ns = U64_MAX;
		return !occasion->round;
	}
	if (occasion->round)
		pay(debt, occasion->steps);
	else
		owe(debt, view);
	if (budget->forced) {
		budget->copies = view->pages_per_block + 1;
		budget->ns = 0;
		return occasion->round < FORCED_ROUNDS;
	}
	budget->copies = div_u64(debt->owed, YAFFS_DEBT_PARTS);
	/* A round that came to nothing found no time for what is next. */
	return budget->copies && occasion->ns &&
	       (!occasion->round || occasion->steps);
}

void yaffs_bound_chosen(struct yaffs_debt *debt, const struct yaffs_view *view,
			u32 victim)
{
	debt->victim = victim;
	if (victim)
		debt->live = yaffs_view_live(view, victim);
}
