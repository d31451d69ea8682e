// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy of the segregated layout, on partitions made up at random: what it answers is
 * compared with what a slow search finds.
 */

#include "harness.h"
#include "../policy/segregated.h"

#define BLOCKS	60
#define PAGES	64

struct layout {
	struct yaffs_block block[BLOCKS + 1];
	struct yaffs_space space;
	struct yaffs_segregated policy;
	u32 settled_seq;
	u32 newest_seq;
};

static const struct yaffs_policy_ops *const ops = &yaffs_policy_segregated;

static void begin(struct layout *l)
{
	const struct yaffs_view view = {
		.blocks = l->block,
		.space = &l->space,
		.segregated = true,
		.settled_seq = &l->settled_seq,
		.newest_seq = &l->newest_seq,
		.n_blocks = BLOCKS,
		.pages_per_block = PAGES,
	};

	yaffs_policy_init(&l->policy.original.base, ops, &view);
}

static void clear(struct layout *l)
{
	u32 i;

	memset(l, 0, sizeof(*l));
	l->newest_seq = YAFFS_SEQ_LOWEST;
	for (i = 1; i <= BLOCKS; i++)
		l->block[i].state = YAFFS_BLOCK_EMPTY;
	begin(l);
}

static void set_full(struct layout *l, u32 block, bool metadata, u32 live)
{
	l->block[block] = (struct yaffs_block) {
		.state = YAFFS_BLOCK_FULL, .seq = ++l->newest_seq,
		.metadata = metadata, .pages_in_use = live,
	};
}

static u32 victim(struct layout *l, bool aggressive, bool background)
{
	return ops->victim(&l->policy.original.base, aggressive, background);
}

/* ---- streams ---- */

static void test_streams(void)
{
	const struct yaffs_policy *policy = NULL;

	check(ops->n_streams == 2, "two streams");
	check(ops->stream_of(policy, YAFFS_PAGE_DATA) == 0 &&
	      ops->stream_of(policy, YAFFS_PAGE_DATA_COPY) == 0, "data");
	check(ops->stream_of(policy, YAFFS_PAGE_METADATA) == 1 &&
	      ops->stream_of(policy, YAFFS_PAGE_METADATA_COPY) == 1, "metadata");
}

/* On a large partition: this one is none. */
static void test_low_blocks(void)
{
	static struct yaffs_block block[1025];
	struct yaffs_space space = {};
	struct yaffs_segregated policy;
	u32 settled_seq = 0, newest_seq = 0, i;
	struct yaffs_view view = {
		.blocks = block, .space = &space, .segregated = true,
		.settled_seq = &settled_seq, .newest_seq = &newest_seq,
		.n_blocks = 1024, .pages_per_block = PAGES,
	};
	struct layout l;

	for (i = 1; i <= 1024; i++)
		block[i].state = i % 100 < 8 ? YAFFS_BLOCK_EMPTY : YAFFS_BLOCK_FULL;
	yaffs_policy_init(&policy.original.base, ops, &view);
	check(ops->empty_block(&policy.original.base, 0) == 5, "the lowest ones are left");
	for (i = 5; i <= 1024; i++)
		block[i].state = YAFFS_BLOCK_FULL;
	check(ops->empty_block(&policy.original.base, 1) == 4, "unless there is no other");
	for (i = 1; i <= 4; i++)
		block[i].state = YAFFS_BLOCK_FULL;
	check(!ops->empty_block(&policy.original.base, 0), "none at all");
	clear(&l);
	check(ops->empty_block(&l.policy.original.base, 0) == 1, "a small one has no such");
}

/* A block for each 256, and four at most. */
static void test_how_many_low_blocks(void)
{
	static const struct {
		u32 blocks, first;
	} cases[] = { { 255, 1 }, { 256, 2 }, { 511, 2 }, { 512, 3 }, { 1279, 5 }, { 1280, 5 } };
	static struct yaffs_block block[1281];
	struct yaffs_segregated policy;
	struct yaffs_view view = { .blocks = block, .segregated = true, .pages_per_block = PAGES };
	u32 i, found;

	for (i = 0; i < ARRAY_SIZE(block); i++)
		block[i].state = YAFFS_BLOCK_EMPTY;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		view.n_blocks = cases[i].blocks;
		yaffs_policy_init(&policy.original.base, ops, &view);
		found = ops->empty_block(&policy.original.base, 0);
		check(found == cases[i].first, "of %u blocks the first is %u", cases[i].blocks,
		      found);
	}
}

/* ---- victims ---- */

static bool is_dirty(const struct yaffs_block *b)
{
	return b->state == YAFFS_BLOCK_FULL && b->pages_in_use < PAGES;
}

static bool may_erase(const struct layout *l, u32 i)
{
	u32 other;

	if (!l->block[i].pinned &&
	    (!l->block[i].has_shrink || l->block[i].seq < l->settled_seq))
		return true;
	for (other = 1; other <= BLOCKS; other++)
		if (l->block[other].metadata && is_dirty(&l->block[other]) &&
		    l->block[other].seq < l->block[i].seq)
			return false;
	return true;
}

static double worth(const struct layout *l, u32 i)
{
	double live = l->block[i].pages_in_use;

	return (PAGES - live) / (PAGES + live) *
	       (l->newest_seq - l->block[i].seq + BLOCKS);
}

static void make_up(struct layout *l, u64 *random)
{
	u32 i;

	clear(l);
	for (i = 1; i <= BLOCKS; i++) {
		if (!draw_below(random, 4))
			continue;
		set_full(l, i, draw_below(random, 3) == 0, draw_below(random, PAGES + 1));
		/* Data mostly live, so that it may be worth to wait for metadata. */
		if (!l->block[i].metadata)
			l->block[i].pages_in_use = PAGES - l->block[i].pages_in_use / 4;
		l->block[i].has_shrink = l->block[i].metadata && draw_below(random, 2);
		l->block[i].pinned = l->block[i].metadata && !draw_below(random, 8);
		l->block[i].unreadable = !draw_below(random, 20);
	}
	l->settled_seq = draw_below(random, 2) ?
		YAFFS_SEQ_LOWEST + draw_below(random, BLOCKS) : 0;
}

/* What a slow search would take, and what waits for others. */
static u32 best(const struct layout *l, double *waiting_live)
{
	u32 i, found = 0, waiting = 0, live = 0;

	for (i = 1; i <= BLOCKS; i++) {
		if (!is_dirty(&l->block[i]) || l->block[i].pinned)
			continue;
		if (!may_erase(l, i)) {
			waiting++;
			live += l->block[i].pages_in_use;
		} else if (!l->block[i].unreadable &&
			   (!found || worth(l, i) > worth(l, found))) {
			found = i;
		}
	}
	*waiting_live = waiting ? (double)live / waiting : PAGES;
	return found;
}

static void test_random_victims(void)
{
	u32 i, n = 0, oldest = 0, wrong = 0, found, expected;
	double waiting_live;
	struct layout l;
	u64 random = 1;

	for (i = 0; i < 3000; i++) {
		make_up(&l, &random);
		expected = best(&l, &waiting_live);
		/* One round to count what waits, and one to use it. */
		victim(&l, true, false);
		found = victim(&l, true, false);
		if (found && expected && may_erase(&l, found) &&
		    worth(&l, found) > 0.999 * worth(&l, expected)) {
			n++;
		} else if (found && l.block[found].metadata &&
			   waiting_live < (expected ? l.block[expected].pages_in_use : PAGES)) {
			oldest++;
			wrong += !may_erase(&l, found) || l.block[found].unreadable;
		} else {
			wrong += found ? !l.block[found].unreadable || expected :
					 expected && !l.block[expected].unreadable;
		}
		wrong += found && !may_erase(&l, found);
	}
	check(!wrong, "%u victims are not those that a slow search finds", wrong);
	check(n > 1000, "%u victims are the best", n);
	check(oldest > 50, "%u are what others wait for", oldest);
}

static void test_age(void)
{
	struct layout l;

	clear(&l);
	set_full(&l, 5, false, 20);
	set_full(&l, 6, false, 18);
	check(victim(&l, true, false) == 6, "of two of one age the emptier one");
	l.newest_seq += 600;
	set_full(&l, 7, false, 10);
	check(victim(&l, true, false) == 6, "an old one rather than a young one");
	l.block[7].pages_in_use = 0;
	l.block[6].pages_in_use = 60;
	l.block[5].pages_in_use = 60;
	check(victim(&l, true, false) == 7, "but not at any price");
}

static void test_background(void)
{
	struct layout l;

	clear(&l);
	set_full(&l, 3, false, 5);
	check(!victim(&l, false, true), "five pages are too many for the background");
	check(victim(&l, false, false) == 3, "not if a page is to be written");
	l.block[3].pages_in_use = 4;
	check(victim(&l, false, true) == 3, "four are not");
	set_full(&l, 4, false, 40);
	ops->prioritised(&l.policy.original.base, 4);
	l.block[4].prioritised = true;
	check(victim(&l, false, true) == 4, "bit errors come first");
}

static void test_pinned(void)
{
	struct layout l;

	clear(&l);
	set_full(&l, 3, true, 1);
	l.block[3].pinned = true;
	check(!victim(&l, true, false), "what is pinned stays");
	l.block[3].pinned = false;
	check(victim(&l, true, false) == 3, "what is not does not");
	l.block[3].has_shrink = true;
	set_full(&l, 4, true, 2);
	l.block[4].has_shrink = true;
	l.block[3].pages_in_use = PAGES;
	begin(&l);
	check(victim(&l, true, false) == 4, "all pages of the older one are live");
	l.block[3].pages_in_use = PAGES - 1;
	begin(&l);
	check(victim(&l, true, false) != 4, "the older one may be what it voids");
	l.settled_seq = l.block[4].seq + 1;
	begin(&l);
	check(victim(&l, true, false) == 4, "unless a summary says it");
}

/* Looked at twice: what waits is known when all was seen once. */
static u32 second_victim(struct layout *l, bool aggressive, bool background)
{
	victim(l, aggressive, background);
	return victim(l, aggressive, background);
}

/*
 * Each power cut leaves a block with marks that has no summary. When they fill the partition,
 * all wait for the oldest one, which has the last summary.
 */
static void test_pinned_is_the_oldest(void)
{
	struct layout l;
	u32 i;

	clear(&l);
	for (i = 1; i <= BLOCKS; i++) {
		set_full(&l, i, true, 0);
		l.block[i].has_shrink = true;
	}
	l.block[1].pinned = true;
	l.settled_seq = l.block[1].seq;
	check(second_victim(&l, true, false) == 1, "what all wait for goes");
	set_full(&l, 1, true, PAGES);
	begin(&l);
	l.settled_seq = 0;
	check(victim(&l, true, false) == 2, "and then what waited");
	l.block[3].pinned = true;
	l.block[3].prioritised = true;
	begin(&l);
	ops->prioritised(&l.policy.original.base, 3);
	check(victim(&l, false, false) != 3, "not before what it voids, bit errors or not");
}

/*
 * A block with v live pages of 64 that is s blocks old is worth (64 - v) * (s + 60) * 1024 /
 * (64 + v), cut to a whole number. What is worth as much as one that was found before is not
 * taken instead of it.
 */
static u32 of_two(u32 live, u32 age, u32 next_live, u32 next_age)
{
	struct layout l;

	clear(&l);
	set_full(&l, 5, false, live);
	set_full(&l, 6, false, next_live);
	l.newest_seq += 100;
	l.block[5].seq = l.newest_seq - age;
	l.block[6].seq = l.newest_seq - next_age;
	return victim(&l, true, false);
}

static void test_worth(void)
{
	/* 48 * 100 / 80 and 64 * 60 / 64 are 60. */
	check(of_two(16, 40, 0, 0) == 5, "both are worth the same");
	check(of_two(16, 40, 0, 1) == 6, "the next one is older");
	/* 31 * 61 * 1024 / 97 = 19,962.7 and 23 * 89 * 1024 / 105 = 19,963.1. */
	check(of_two(33, 1, 41, 29) == 6, "a little more");
	/* 57 * 61 * 1024 / 71 = 50,147.2 and 55 * 65 * 1024 / 73 = 50,147.9. */
	check(of_two(7, 1, 9, 5) == 5, "less than that is nothing");
}

/* An old block of headers that never change, and behind it some with marks alone. */
static void set_waiting(struct layout *l, u32 live)
{
	set_full(l, 10, true, PAGES - 1);
	set_full(l, 11, true, live);
	set_full(l, 12, true, live);
	l->block[11].has_shrink = true;
	l->block[12].has_shrink = true;
}

static void test_what_waits(void)
{
	struct layout l;

	clear(&l);
	set_waiting(&l, 3);
	set_full(&l, 20, false, 5);
	check(second_victim(&l, true, false) == 10, "it is cheaper to let them go");
	l.block[20].pages_in_use = 4;
	check(second_victim(&l, true, false) == 20, "hardly anything is cheaper than four");
	clear(&l);
	set_waiting(&l, 4);
	check(second_victim(&l, false, true) == 10, "in the background, too, up to four");
	clear(&l);
	set_waiting(&l, 5);
	check(!second_victim(&l, false, true), "five are too many there");
	l.block[11].has_shrink = false;
	l.block[12].has_shrink = false;
	begin(&l);
	check(second_victim(&l, false, false) == 11, "what need not wait does not");
	clear(&l);
	set_full(&l, 30, false, PAGES - 1);
	check(victim(&l, true, false) == 30, "a page is a page");
	check(victim(&l, false, false) == 30, "also when nothing is short");
}

/* Whenever all blocks were looked at it is counted anew. */
static void test_what_waits_is_counted_anew(void)
{
	struct layout l;
	u32 i;

	clear(&l);
	set_waiting(&l, 5);
	set_full(&l, 20, false, 5);
	for (i = 0; i < 4; i++)
		check(victim(&l, true, false) == 20, "five on average, not fewer: %u", i);
	/* 4 + 5 live pages in two blocks. */
	l.block[11].pages_in_use = 4;
	victim(&l, true, false);
	for (i = 0; i < 4; i++)
		check(victim(&l, true, false) == 10, "four and a half are fewer: %u", i);
}

static void test_other_reasons(void)
{
	struct layout l;
	u32 erases[BLOCKS + 1] = {}, i, found = 0;
	u64 all_erases = 0;

	clear(&l);
	set_full(&l, 7, false, PAGES);
	for (i = 0; i < YAFFS_REFRESH_PERIOD; i++)
		found += victim(&l, false, false) == 7;
	check(found == 1, "data that stay are refreshed: %u", found);
	check(!victim(&l, true, false), "not when space is short");
	clear(&l);
	set_full(&l, 8, false, 10);
	l.block[8].unreadable = true;
	check(!victim(&l, false, false), "what cannot be read stays");
	check(victim(&l, true, false) == 8, "until nothing else is there");
	check(l.policy.original.debt.victim == 8, "the pace is told of it");
	clear(&l);
	set_full(&l, 9, false, PAGES);
	l.policy.original.base.view.erases = erases;
	l.policy.original.base.view.all_erases = &all_erases;
	l.policy.original.base.view.spread = 16;
	all_erases = 20 * BLOCKS;
	check(victim(&l, false, false) == 9, "what is worn too little moves");
	check(!victim(&l, false, false), "now and then");
}

/* ---- how much, and when ---- */

static bool budget(struct layout *l, const struct yaffs_occasion *occasion,
		   struct yaffs_budget *b)
{
	return ops->budget(&l->policy.original.base, occasion, b);
}

static void test_budget(void)
{
	struct yaffs_occasion write = { .reserved_blocks = 6, .checkpoint_blocks = 3 };
	struct yaffs_occasion idle = { .background = true, .reserved_blocks = 6 };
	struct yaffs_budget b;
	struct layout l;

	clear(&l);
	l.space.free_chunks = 20 * PAGES;
	l.space.erased_blocks = 3;
	check(!budget(&l, &write, &b), "three erased blocks are enough");
	check(budget(&l, &idle, &b) && !b.aggressive && b.copies == 5,
	      "the background takes what costs little");
	l.space.erased_blocks = 2;
	b.ns = 1;
	b.forced = true;
	check(budget(&l, &write, &b) && b.aggressive && b.copies == PAGES && !b.ns &&
	      !b.forced, "two are not");
	write.round = 1;
	check(budget(&l, &write, &b), "and once more");
	l.space.erased_blocks = 3;
	check(!budget(&l, &write, &b), "not with what is enough");
	l.space.erased_blocks = 2;
	write.round = 2;
	check(!budget(&l, &write, &b), "not for ever");
	write.round = 1;
	l.space.erased_blocks = 4;
	check(!budget(&l, &write, &b), "until there are some");
	write.round = 0;
	l.space.free_chunks = 40 * PAGES;
	l.space.erased_blocks = 3;
	check(budget(&l, &write, &b) && !b.aggressive && b.copies == 5,
	      "where much is free it begins a block before");
	check(budget(&l, &idle, &b) && b.aggressive, "in the background, too");
	write.after_cut = true;
	l.space.erased_blocks = 7;
	check(budget(&l, &write, &b) && b.aggressive, "if power failed it may fail again");
	l.space.erased_blocks = 8;
	check(budget(&l, &write, &b) && !b.aggressive, "eight are enough");
	l.space.free_chunks = 10 * PAGES;
	l.space.erased_blocks = 4;
	check(budget(&l, &write, &b) && b.aggressive, "or half of what is free");
	l.space.erased_blocks = 5;
	check(!budget(&l, &write, &b), "more would be hard to come by");
	l.space.free_chunks = 4 * PAGES;
	l.space.erased_blocks = 3;
	check(!budget(&l, &write, &b), "three always");
	l.space.erased_blocks = 2;
	check(budget(&l, &write, &b) && b.aggressive, "and never fewer");
	write.after_cut = false;
	l.space.free_chunks = 40 * PAGES;
	l.space.erased_blocks = 4;
	check(!budget(&l, &write, &b), "and no more");
	/* A block for each 32 that are free. */
	l.space.free_chunks = 32 * PAGES - 1;
	l.space.erased_blocks = 3;
	check(!budget(&l, &write, &b), "31 are free, and a page less than a block");
	l.space.free_chunks++;
	check(budget(&l, &write, &b), "32 are free");
	l.space.free_chunks = 64 * PAGES - 1;
	l.space.erased_blocks = 4;
	check(!budget(&l, &write, &b), "not yet two blocks before");
	l.space.free_chunks++;
	check(budget(&l, &write, &b), "64 are free");
	l.space.free_chunks = 4000 * PAGES;
	l.space.erased_blocks = 10;
	check(budget(&l, &write, &b), "eight blocks before at most");
	l.space.erased_blocks = 11;
	check(!budget(&l, &write, &b), "not nine");
	check(ops->urgency(&l.policy.original.base) == 2, "the background hurries");
	l.space.erased_blocks = 16;
	check(!ops->urgency(&l.policy.original.base), "it need not");
}

static void test_bounded(void)
{
	struct yaffs_occasion write = { .bounded = true, .ns = 1000000, .reserved_blocks = 6 };
	struct yaffs_budget b;
	struct layout l;
	u32 pages;

	clear(&l);
	set_full(&l, 3, false, 10);
	l.space.free_chunks = 20 * PAGES;
	l.space.erased_blocks = 4;
	check(!budget(&l, &write, &b), "a page alone makes nothing due");
	for (pages = 1; pages < 200 && !budget(&l, &write, &b); pages++)
		;
	check(pages > 1 && pages < 64 && b.ns == 1000000 && b.copies == 1,
	      "with a bound in proportion to what is written: after %u pages", pages);
	check(victim(&l, true, false) == 3, "and some blocks looked at for each page");
}

/* After a power cut, until eight are erased, or half of what is free; and not once more. */
static void test_bounded_after_a_cut(void)
{
	struct yaffs_occasion write = { .bounded = true, .ns = 1, .reserved_blocks = 6,
					.after_cut = true };
	struct yaffs_budget b;
	struct layout l;

	clear(&l);
	l.space.free_chunks = 40 * PAGES;
	l.space.erased_blocks = 7;
	check(budget(&l, &write, &b) && b.forced && b.aggressive && !b.ns &&
	      b.copies == PAGES, "it takes what it needs, and says so");
	write.round = 1;
	check(budget(&l, &write, &b), "once more");
	write.round = 2;
	check(!budget(&l, &write, &b), "but not for ever");
	write.round = 0;
	write.background = true;
	check(budget(&l, &write, &b) && !b.forced, "the background has time");
	write.background = false;
	l.space.erased_blocks = 8;
	check(!budget(&l, &write, &b) || !b.forced, "with eight it is over");
	l.space.erased_blocks = 7;
	check(!budget(&l, &write, &b) || !b.forced, "and stays so");
	clear(&l);
	l.space.free_chunks = 40 * PAGES;
	l.space.erased_blocks = 7;
	write.after_cut = false;
	check(!budget(&l, &write, &b) || !b.forced, "without a cut there is time");
}

/* With a bound four of these blocks are looked at for a page, and four for a victim. */
static u32 bounded_victim(const struct yaffs_occasion *occasion, u32 near, u32 far)
{
	struct yaffs_budget b;
	struct layout l;
	u32 pages;

	clear(&l);
	if (near)
		set_full(&l, near, false, 30);
	set_full(&l, far, false, 10);
	l.space.free_chunks = 20 * PAGES;
	l.space.erased_blocks = 4;
	/* Steps become due, and the search begins anew. */
	for (pages = 0; pages < 200 && !budget(&l, occasion, &b); pages++)
		;
	l.policy.original.search_at = 0;
	l.policy.original.candidate = 0;
	budget(&l, occasion, &b);
	return victim(&l, true, occasion->background);
}

static void test_looking_ahead(void)
{
	struct yaffs_occasion write = { .bounded = true, .ns = 1000000, .reserved_blocks = 6 };
	struct yaffs_occasion again = { .bounded = true, .ns = 1000000, .reserved_blocks = 6,
					.round = 1, .steps = 1 };
	struct yaffs_occasion idle = { .bounded = true, .background = true,
				       .reserved_blocks = 6 };
	struct layout l;

	check(bounded_victim(&write, 2, 6) == 6, "for the page, and for the victim");
	check(bounded_victim(&write, 2, 10) == 2, "but not all of them");
	check(bounded_victim(&again, 2, 6) == 2, "once for a page");
	check(bounded_victim(&idle, 2, 6) == 2, "in the background there is no page");
	check(bounded_victim(&write, 0, 50) == 50, "unless there is nothing else");
	clear(&l);
	set_full(&l, 2, false, 30);
	set_full(&l, 50, false, 10);
	check(victim(&l, true, false) == 50, "without a bound all are looked at");
}

/* Four blocks were looked at, and the best of them is remembered. */
static void begin_candidate(struct layout *l, u32 block, u32 live)
{
	const struct yaffs_occasion write = { .bounded = true, .ns = 1000000,
					      .reserved_blocks = 6 };
	struct yaffs_budget b;

	clear(l);
	set_full(l, block, false, live);
	l->space.free_chunks = 20 * PAGES;
	l->space.erased_blocks = 4;
	l->policy.original.debt.owed = 10 * YAFFS_DEBT_PARTS;
	check(budget(l, &write, &b) && l->policy.original.candidate == block,
	      "a candidate is found");
}

static void test_candidate(void)
{
	struct layout l;

	begin_candidate(&l, 2, 30);
	l.block[2].pages_in_use = 4;
	check(victim(&l, false, true) == 2, "its pages are those that are live now");
	/* Once chosen it is none, nor is what the search is not at. */
	set_full(&l, 1, false, 3);
	check(!victim(&l, false, true), "it is chosen once in a round");

	begin_candidate(&l, 2, 30);
	l.block[2].unreadable = true;
	set_full(&l, 6, false, 40);
	check(victim(&l, true, false) == 6, "it cannot be read any more");
}

int main(void)
{
	test_streams();
	test_low_blocks();
	test_how_many_low_blocks();
	test_random_victims();
	test_age();
	test_worth();
	test_background();
	test_pinned();
	test_pinned_is_the_oldest();
	test_what_waits();
	test_what_waits_is_counted_anew();
	test_other_reasons();
	test_budget();
	test_bounded();
	test_bounded_after_a_cut();
	test_looking_ahead();
	test_candidate();
	return report("test_segregated");
}
