// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy of the segregated layout: data and metadata in streams apart, and collection as
 * late as possible: the longer it is put off, the more pages of a block have died.
 *
 * Any block with data may be collected, and most with metadata. Taken is the one with the
 * highest (dead / (pages + live)) * (age + blocks of the partition): what it gives against
 * what it costs, as log-structured file systems have it, with an age that counts half as
 * much as there. A young block with few live pages will soon have fewer; an old one will not.
 *
 * Some blocks that hold marks of deleted objects may be erased in the order of their age
 * alone (order.h): few, unless there are no summaries. The oldest one may be full of
 * headers that never change, and those behind it empty but for such marks. So such a block is
 * worth what all of them are on average: if that is fewer live pages than the best of the
 * others has, the oldest one is taken.
 *
 * Collection begins when there are hardly more erased blocks than the collector itself needs,
 * where much is free some blocks before, with a few copies for each page that is written. In
 * the background only what costs next to nothing is collected earlier.
 */

#include "segregated.h"
#include "pace.h"

/* With so many erased blocks it can begin one of each kind while it empties a third. */
#define FLOOR_BLOCKS		3
/* If power has failed, at most so many, but half of what is free: see lowest(). */
#define FLOOR_AFTER_CUT		8
/* Beyond these it begins step by step: that share of what is free, at most so many. */
#define HEADROOM_BLOCKS		8
#define HEADROOM_SHARE		32
/* In the background, with more erased blocks than that, no block with more live pages. */
#define CHEAP_PAGES		4
#define COPIES			5
#define MAX_ROUNDS		2

static struct yaffs_segregated *mine(struct yaffs_policy *policy)
{
	return (struct yaffs_segregated *)policy;
}

/* In the order of YAFFS_STREAM_DATA and YAFFS_STREAM_METADATA. */
static u32 segregated_stream_of(const struct yaffs_policy *policy,
				enum yaffs_page_kind kind)
{
	return kind == YAFFS_PAGE_METADATA || kind == YAFFS_PAGE_METADATA_COPY;
}

/* ---- which block is collected ---- */

/* What it is worth to collect the block. */
static u64 score(const struct yaffs_view *view, u32 block)
{
	u32 n = view->pages_per_block, live = yaffs_view_live(view, block);
	u64 age = *view->newest_seq - yaffs_view_seq(view, block);

	return div_u64((n - live) * (age + view->n_blocks) << 10, n + live);
}

static void look_at(struct yaffs_segregated *p, u32 block)
{
	const struct yaffs_view *view = &p->original.base.view;
	struct yaffs_original *o = &p->original;
	u32 live = yaffs_view_live(view, block);

	if (!yaffs_view_is_dirty(view, block) || yaffs_view_is_pinned(view, block))
		return;
	if (!yaffs_order_may_erase(&o->order, view, block)) {
		p->round_blocks++;
		p->round_live += live;
	} else if (!yaffs_view_is_unreadable(view, block) &&
		   (!o->candidate ||
		    score(view, block) > score(view, o->candidate))) {
		o->candidate = block;
		o->candidate_pages = live;
	}
}

/* Goes on with the search where it stopped; remembers the best so far. */
static void look(struct yaffs_segregated *p, u32 blocks)
{
	const struct yaffs_view *view = &p->original.base.view;
	struct yaffs_original *o = &p->original;
	u32 i;

	if (o->candidate && yaffs_original_is_eligible(o, o->candidate))
		o->candidate_pages = yaffs_view_live(view, o->candidate);
	else
		o->candidate = 0;
	for (i = 0; i < blocks; i++) {
		if (o->search_at >= view->n_blocks) {
			p->waiting_blocks = p->round_blocks;
			p->waiting_live = p->round_live;
			p->round_blocks = 0;
			p->round_live = 0;
		}
		o->search_at = yaffs_view_next(view, o->search_at);
		look_at(p, o->search_at);
	}
}

/* Whether blocks that wait for others cost less, on average, than so many copies. */
static bool is_waiting_cheaper(const struct yaffs_segregated *p, u32 copies)
{
	return p->waiting_blocks &&
	       p->waiting_live < p->waiting_blocks * copies;
}

static u32 cheapest_victim(struct yaffs_segregated *p, u32 threshold)
{
	struct yaffs_original *o = &p->original;
	const struct yaffs_view *view = &o->base.view;
	u32 oldest = yaffs_order_oldest(&o->order, view);
	u32 copies = o->candidate ? o->candidate_pages : view->pages_per_block;

	if (oldest && yaffs_original_is_eligible(o, oldest) &&
	    copies > CHEAP_PAGES && is_waiting_cheaper(p, copies) &&
	    is_waiting_cheaper(p, threshold + 1))
		return oldest;
	return copies <= threshold ? o->candidate : 0;
}

static u32 segregated_victim(struct yaffs_policy *policy, bool aggressive,
			     bool background)
{
	const struct yaffs_view *view = &policy->view;
	struct yaffs_segregated *p = mine(policy);
	struct yaffs_original *o = &p->original;
	u32 threshold = view->pages_per_block - 1;
	u32 victim = 0;

	if (!aggressive) {
		victim = yaffs_original_refresh_victim(o, background);
		if (!victim)
			victim = yaffs_original_prioritised_victim(o);
		if (background)
			threshold = CHEAP_PAGES;
	}
	if (!victim)
		victim = yaffs_original_cold_victim(o);
	if (!victim) {
		look(p, o->looks_ahead ? yaffs_original_passive_blocks(o) :
					 view->n_blocks);
		if (!o->candidate && aggressive && o->looks_ahead)
			look(p, view->n_blocks);
		victim = cheapest_victim(p, threshold);
	}
	if (!victim && aggressive)
		victim = yaffs_original_unreadable_victim(o);
	yaffs_bound_chosen(&o->debt, view, victim);
	if (victim)
		o->candidate = 0;
	return victim;
}

/* ---- how much of it ---- */

/* Where little is free, it has to be used: erased blocks lie idle. */
static u32 headroom(const struct yaffs_view *view)
{
	u32 free = yaffs_view_free_chunks(view) / view->pages_per_block;

	return min_t(u32, free / HEADROOM_SHARE, HEADROOM_BLOCKS);
}

/*
 * A power cut leaves two blocks that nothing is written to any more, and it may come before
 * the collector has erased one for them. A second and a third one then find no block to copy
 * to, for good. So if power has failed once, more are kept.
 */
static u32 lowest(const struct yaffs_view *view,
		  const struct yaffs_occasion *occasion)
{
	u32 half = yaffs_view_free_chunks(view) / view->pages_per_block / 2;

	if (!occasion->after_cut || half < FLOOR_BLOCKS)
		return FLOOR_BLOCKS;
	return min_t(u32, half, FLOOR_AFTER_CUT);
}

static bool pace(const struct yaffs_view *view,
		 const struct yaffs_occasion *occasion,
		 struct yaffs_budget *budget)
{
	u32 erased = yaffs_view_erased_blocks(view);
	u32 least = lowest(view, occasion);
	bool is_short = erased < least + headroom(view);

	budget->forced = false;
	budget->ns = 0;
	if (erased < least) {
		budget->aggressive = true;
		budget->copies = view->pages_per_block;
		return occasion->round < MAX_ROUNDS;
	}
	/* To take a whole victim of the background's threshold would be early. */
	budget->aggressive = occasion->background && is_short;
	budget->copies = COPIES;
	return !occasion->round && (occasion->background || is_short);
}

/*
 * With a bound there may be no time for that before power fails again. So once, until that many
 * are erased, nobody asks for time.
 */
static bool has_to_recover(struct yaffs_segregated *p,
			   const struct yaffs_occasion *occasion)
{
	const struct yaffs_view *view = &p->original.base.view;

	if (yaffs_view_erased_blocks(view) >= lowest(view, occasion))
		p->recovered = true;
	return occasion->after_cut && !occasion->background && !p->recovered;
}

static bool segregated_budget(struct yaffs_policy *policy,
			      const struct yaffs_occasion *occasion,
			      struct yaffs_budget *budget)
{
	struct yaffs_segregated *p = mine(policy);
	struct yaffs_original *o = &p->original;

	o->looks_ahead = occasion->bounded;
	if (!occasion->bounded)
		return pace(&policy->view, occasion, budget);
	if (has_to_recover(p, occasion)) {
		pace(&policy->view, occasion, budget);
		budget->forced = true;
		return occasion->round < MAX_ROUNDS;
	}
	if (!yaffs_bound_budget(&o->debt, &policy->view, occasion, budget))
		return false;
	if (budget->aggressive && !occasion->round && !occasion->background)
		look(p, yaffs_original_passive_blocks(o));
	return true;
}

/* Only when it becomes short; the background need not hurry before. */
static unsigned int segregated_urgency(const struct yaffs_policy *policy)
{
	const struct yaffs_view *view = &policy->view;

	return yaffs_view_erased_blocks(view) < 2 * HEADROOM_BLOCKS ? 2 : 0;
}

/* ---- the table ---- */

const struct yaffs_policy_ops yaffs_policy_segregated = {
	.name = "segregated",
	.bytes = sizeof(struct yaffs_segregated),
	.n_streams = 2,
	.init = yaffs_original_init,
	.stream_of = segregated_stream_of,
	.empty_block = yaffs_original_empty_block,
	.victim = segregated_victim,
	.budget = segregated_budget,
	.urgency = segregated_urgency,
	.has_pressing = yaffs_original_has_pressing,
	.dirtied = yaffs_original_dirtied,
	.erased = yaffs_original_erased,
	.prioritised = yaffs_original_prioritised,
};
