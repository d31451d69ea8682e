// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy of the original design: one block is written at a time, the next empty one in
 * turn; what costs least is collected, but sometimes what is old.
 *
 * A victim is, in this order: the oldest full block, once in a while, so that data
 * that never change are moved before they fade (refresh); a block with bit errors;
 * the block with the fewest live pages among some that are looked at in turn. In
 * passive mode only blocks with very few live pages count; the longer nothing is
 * found, the more may be live, and in the end the oldest block with dead pages is
 * taken. Such a block may be all that keeps younger blocks with shrink headers from
 * being erased. In aggressive mode every block that gives a page back will do; one
 * with pages that cannot be read only if there is no other.
 */

#include "original.h"
#include "pace.h"

#define PASSIVE_LIVE_PAGES	4
#define ENOUGH_LIVE_PAGES	2
#define MAX_PASSIVE_BLOCKS	100
#define FAILED_FOREGROUND	20
#define LOW_SHARE		256
#define LOW_BLOCKS		4
#define FAILED_BACKGROUND	10

/* The table's functions are given the base, which is the first member. */
static struct yaffs_original *mine(struct yaffs_policy *policy)
{
	return (struct yaffs_original *)policy;
}

void yaffs_original_init(struct yaffs_policy *policy)
{
	mine(policy)->refresh_in = YAFFS_REFRESH_PERIOD;
}

/* ---- what is written ---- */

static u32 original_stream_of(const struct yaffs_policy *policy,
			      enum yaffs_page_kind kind)
{
	return 0;
}

/*
 * The first blocks of a large partition in the segregated layout: a mount looks there for
 * the checkpoint before it looks elsewhere. So they are used last.
 */
static u32 low_blocks(const struct yaffs_view *view)
{
	return view->segregated ? min_t(u32, view->n_blocks / LOW_SHARE, LOW_BLOCKS) :
				  0;
}

u32 yaffs_original_empty_block(struct yaffs_policy *policy, u32 stream)
{
	const struct yaffs_view *view = &policy->view;
	struct yaffs_original *p = mine(policy);
	u32 block = p->alloc_last, low = low_blocks(view), found_low = 0;
	u32 i;

	if (view->links)
		return yaffs_pools_take(&p->pools, view, stream);

	for (i = 0; i < view->n_blocks; i++) {
		block = yaffs_view_next(view, block);
		if (!yaffs_view_is_empty(view, block))
			continue;
		if (block > low) {
			p->alloc_last = block;
			return block;
		}
		found_low = block;
	}
	return found_low;
}

/* ---- what happened ---- */

void yaffs_original_dirtied(struct yaffs_policy *policy, u32 block)
{
	yaffs_order_dirtied(&mine(policy)->order, &policy->view, block);
}

void yaffs_original_erased(struct yaffs_policy *policy, u32 block)
{
	struct yaffs_original *p = mine(policy);

	if (p->candidate == block)
		p->candidate = 0;
	yaffs_order_erased(&p->order, block);
	if (policy->view.links)
		yaffs_pools_erased(&p->pools, &policy->view, block);
}

void yaffs_original_prioritised(struct yaffs_policy *policy, u32 block)
{
	mine(policy)->any_prioritised = true;
}

bool yaffs_original_has_pressing(const struct yaffs_policy *policy)
{
	return ((const struct yaffs_original *)policy)->any_prioritised;
}

/* ---- which block is collected ---- */

bool yaffs_original_is_eligible(struct yaffs_original *p, u32 block)
{
	const struct yaffs_view *view = &p->base.view;

	return yaffs_view_is_full(view, block) &&
	       !yaffs_view_is_unreadable(view, block) &&
	       yaffs_order_may_erase(&p->order, view, block);
}

/* All blocks are looked at for that, so where somebody waits it is put off. */
static bool is_time_to_refresh(struct yaffs_original *p, bool background)
{
	if (YAFFS_REFRESH_PERIOD < 10)
		return false;
	if (p->refresh_in > 1 || (p->looks_ahead && !background)) {
		p->refresh_in -= p->refresh_in > 1;
		return false;
	}
	return true;
}

/* The oldest full block, when it is time for that. */
u32 yaffs_original_refresh_victim(struct yaffs_original *p, bool background)
{
	const struct yaffs_view *view = &p->base.view;
	u32 block, oldest = 0;

	if (!is_time_to_refresh(p, background))
		return 0;
	p->refresh_in = YAFFS_REFRESH_PERIOD;
	for (block = 1; block <= view->n_blocks; block++)
		if (yaffs_original_is_eligible(p, block) &&
		    (!oldest || yaffs_view_seq(view, block) <
				yaffs_view_seq(view, oldest)))
			oldest = block;
	return oldest;
}

/* All blocks are looked at, so not with each selection. */
u32 yaffs_original_cold_victim(struct yaffs_original *p)
{
	const struct yaffs_view *view = &p->base.view;
	u32 block, least = 0;

	if (!view->spread || p->cold_in--)
		return 0;
	p->cold_in = YAFFS_COLD_PERIOD - 1;
	for (block = 1; block <= view->n_blocks; block++)
		if (yaffs_original_is_eligible(p, block) &&
		    (!least || yaffs_view_erases(view, block) <
			       yaffs_view_erases(view, least)))
			least = block;
	return yaffs_pools_cold(view, least);
}

u32 yaffs_original_prioritised_victim(struct yaffs_original *p)
{
	const struct yaffs_view *view = &p->base.view;
	bool any = false;
	u32 block;

	if (!p->any_prioritised)
		return 0;
	for (block = 1; block <= view->n_blocks; block++) {
		if (!yaffs_view_is_prioritised(view, block) ||
		    yaffs_view_is_unreadable(view, block))
			continue;
		any = true;
		if (yaffs_original_is_eligible(p, block))
			return block;
	}
	p->any_prioritised = any;
	return 0;
}

static u32 passive_threshold(const struct yaffs_original *p, bool background)
{
	u32 limit = max_t(u32, PASSIVE_LIVE_PAGES,
			  p->base.view.pages_per_block / (background ? 2 : 8));
	u32 threshold = PASSIVE_LIVE_PAGES;

	if (background)
		threshold += 2 * p->failed;
	return min_t(u32, threshold, limit);
}

/* Looks at the next block of the search; true if it is better than the candidate. */
static bool is_better(struct yaffs_original *p, u32 block)
{
	const struct yaffs_view *view = &p->base.view;

	return yaffs_view_is_dirty(view, block) &&
	       (!p->candidate ||
		yaffs_view_live(view, block) < p->candidate_pages) &&
	       yaffs_original_is_eligible(p, block);
}

u32 yaffs_original_passive_blocks(const struct yaffs_original *p)
{
	return min_t(u32, p->base.view.n_blocks / 16 + 1, MAX_PASSIVE_BLOCKS);
}

/* Goes on with the search where it stopped; remembers the best so far. */
static void look(struct yaffs_original *p, u32 blocks)
{
	const struct yaffs_view *view = &p->base.view;
	u32 i;

	if (p->candidate && yaffs_original_is_eligible(p, p->candidate))
		p->candidate_pages = yaffs_view_live(view, p->candidate);
	else
		p->candidate = 0;

	for (i = 0; i < blocks; i++) {
		if (p->candidate && p->candidate_pages <= ENOUGH_LIVE_PAGES)
			break;
		p->search_at = yaffs_view_next(view, p->search_at);
		if (!is_better(p, p->search_at))
			continue;
		p->candidate = p->search_at;
		p->candidate_pages = yaffs_view_live(view, p->search_at);
	}
}

/*
 * Where somebody must not wait long, every page that is written has looked at some blocks,
 * and the best of them is taken: to look at all now would take longer than a few copies.
 */
static u32 rolling_victim(struct yaffs_original *p, bool aggressive,
			  bool background)
{
	const struct yaffs_view *view = &p->base.view;
	u32 threshold = view->pages_per_block - 1;

	if (!aggressive)
		threshold = passive_threshold(p, background);
	look(p, aggressive && !p->looks_ahead ? view->n_blocks :
						yaffs_original_passive_blocks(p));
	if (!p->candidate && aggressive && p->looks_ahead)
		look(p, view->n_blocks);
	if (!p->candidate || p->candidate_pages > threshold)
		return 0;
	return p->candidate;
}

static u32 oldest_victim(struct yaffs_original *p)
{
	const struct yaffs_view *view = &p->base.view;
	u32 oldest = yaffs_order_oldest(&p->order, view);

	return oldest && !yaffs_view_is_unreadable(view, oldest) ? oldest : 0;
}

/* The oldest of them: it may be what the others wait for. */
u32 yaffs_original_unreadable_victim(struct yaffs_original *p)
{
	const struct yaffs_view *view = &p->base.view;
	u32 block, oldest = 0;

	for (block = 1; block <= view->n_blocks; block++)
		if (yaffs_view_is_unreadable(view, block) &&
		    yaffs_view_is_dirty(view, block) &&
		    yaffs_order_may_erase(&p->order, view, block) &&
		    (!oldest || yaffs_view_seq(view, block) <
				yaffs_view_seq(view, oldest)))
			oldest = block;
	return oldest;
}

static u32 original_victim(struct yaffs_policy *policy, bool aggressive,
			   bool background)
{
	u32 patience = background ? FAILED_BACKGROUND : FAILED_FOREGROUND;
	struct yaffs_original *p = mine(policy);
	u32 victim = 0;

	if (!aggressive)
		victim = yaffs_original_refresh_victim(p, background);
	if (!victim && !aggressive)
		victim = yaffs_original_prioritised_victim(p);
	if (!victim)
		victim = yaffs_original_cold_victim(p);
	if (!victim)
		victim = rolling_victim(p, aggressive, background);
	if (!victim && (aggressive || p->failed >= patience))
		victim = oldest_victim(p);
	if (!victim && aggressive)
		victim = yaffs_original_unreadable_victim(p);
	yaffs_bound_chosen(&p->debt, &policy->view, victim);
	if (!victim) {
		p->failed++;
		return 0;
	}
	p->failed = 0;
	p->candidate = 0;
	return victim;
}

/* ---- how much of it ---- */

static bool original_budget(struct yaffs_policy *policy,
			    const struct yaffs_occasion *occasion,
			    struct yaffs_budget *budget)
{
	struct yaffs_original *p = mine(policy);

	p->looks_ahead = occasion->bounded;
	if (!occasion->bounded)
		return yaffs_pace_budget(policy, occasion, budget);
	if (!yaffs_bound_budget(&p->debt, &policy->view, occasion, budget))
		return false;
	if (budget->aggressive && !occasion->round && !occasion->background)
		look(p, yaffs_original_passive_blocks(p));
	return true;
}

/* ---- the table ---- */

const struct yaffs_policy_ops yaffs_policy_original = {
	.name = "original",
	.bytes = sizeof(struct yaffs_original),
	.n_streams = 1,
	.init = yaffs_original_init,
	.stream_of = original_stream_of,
	.empty_block = yaffs_original_empty_block,
	.victim = original_victim,
	.budget = original_budget,
	.urgency = yaffs_pace_urgency,
	.has_pressing = yaffs_original_has_pressing,
	.dirtied = yaffs_original_dirtied,
	.erased = yaffs_original_erased,
	.prioritised = yaffs_original_prioritised,
};
