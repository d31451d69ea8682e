// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy on random partitions that live: blocks are filled, lose pages and are
 * erased as the policy says. What it answers is compared with what a slow search over
 * all blocks finds, and with what its interface promises.
 */

#include "partition.h"

#define NONE	0xffffffffu

static bool dirty(const struct yaffs_block *b)
{
	return b->state == YAFFS_BLOCK_FULL && b->pages_in_use < PAGES;
}

static u32 oldest_dirty_seq(const struct partition *p)
{
	u32 i, seq = NONE;

	for (i = 1; i <= BLOCKS; i++)
		if (dirty(&p->block[i]) && p->block[i].seq < seq)
			seq = p->block[i].seq;
	return seq;
}

static bool may_erase(const struct partition *p, u32 i)
{
	return !p->block[i].has_shrink ||
	       p->block[i].seq <= oldest_dirty_seq(p);
}

static bool eligible(const struct partition *p, u32 i)
{
	const struct yaffs_block *b = &p->block[i];

	return b->state == YAFFS_BLOCK_FULL && !b->unreadable && may_erase(p, i);
}

static u32 count_state(const struct partition *p, u8 state)
{
	u32 i, n = 0;

	for (i = 1; i <= BLOCKS; i++)
		n += p->block[i].state == state;
	return n;
}

/* ---- events ---- */

static void fill_one(struct partition *p, u64 *random)
{
	u32 last = p->policy.alloc_last, i, expected = last;
	u32 block = next_empty(p);

	for (i = 0; i < BLOCKS; i++) {
		expected = expected % BLOCKS + 1;
		if (p->block[expected].state == YAFFS_BLOCK_EMPTY)
			break;
	}
	if (i == BLOCKS)
		expected = 0;
	check(block == expected, "empty block after %u: %u, not %u", last, block,
	      expected);
	if (!block)
		return;
	p->block[block].state = YAFFS_BLOCK_FULL;
	p->block[block].seq = ++p->seq;
	p->block[block].pages_in_use = PAGES;
	p->block[block].has_shrink = draw_below(random, 3) == 0;
	p->block[block].prioritised = draw_below(random, 30) == 0;
	if (p->block[block].prioritised)
		ops->prioritised(&p->policy.base, block);
}

static void kill_pages(struct partition *p, u64 *random)
{
	u32 block = 1 + draw_below(random, BLOCKS);
	struct yaffs_block *b = &p->block[block];

	if (b->state != YAFFS_BLOCK_FULL || !b->pages_in_use)
		return;
	b->pages_in_use -= 1 + draw_below(random, b->pages_in_use);
	ops->dirtied(&p->policy.base, block);
}

static void erase(struct partition *p, u32 block)
{
	memset(&p->block[block], 0, sizeof(p->block[block]));
	p->block[block].state = YAFFS_BLOCK_EMPTY;
	ops->erased(&p->policy.base, block);
}

/* ---- promises ---- */

static void check_may_erase(struct partition *p)
{
	u32 i, wrong = 0;

	for (i = 1; i <= BLOCKS; i++)
		wrong += p->block[i].state == YAFFS_BLOCK_FULL &&
			 yaffs_order_may_erase(&p->policy.order,
					       &p->policy.base.view, i) !=
			 may_erase(p, i);
	check(!wrong, "%u blocks with another answer to may_erase", wrong);
}

static void check_victim(struct partition *p, bool aggressive, bool background)
{
	u32 oldest = oldest_dirty_seq(p), i, gains = 0;
	u32 refresh = p->policy.refresh_in;
	u32 victim;

	for (i = 1; i <= BLOCKS; i++)
		gains += eligible(p, i) && dirty(&p->block[i]);
	victim = victim_of(p, aggressive, background);
	if (!victim) {
		check(!(aggressive && gains),
		      "aggressive: nothing, though %u blocks give pages", gains);
		return;
	}
	check(victim <= BLOCKS && eligible(p, victim), "victim %u is not eligible",
	      victim);
	check(!aggressive || dirty(&p->block[victim]),
	      "aggressive: block %u gives no page", victim);
	check(dirty(&p->block[victim]) || p->block[victim].prioritised ||
	      refresh == 1, "passive: block %u has nothing to collect", victim);
	if (!aggressive && refresh != 1 && !p->block[victim].prioritised)
		check(p->block[victim].pages_in_use <= PAGES / 2 ||
		      p->block[victim].seq == oldest,
		      "passive: block %u has %u live pages", victim,
		      p->block[victim].pages_in_use);
	erase(p, victim);
}

static void live(u64 seed)
{
	struct partition p;
	u64 random = seed;
	u32 step;

	begin(&p);
	for (step = 0; step < 5000; step++) {
		switch (draw_below(&random, 4)) {
		case 0:
			fill_one(&p, &random);
			break;
		case 1:
		case 2:
			kill_pages(&p, &random);
			break;
		default:
			if (count_state(&p, YAFFS_BLOCK_EMPTY) < 8)
				check_victim(&p, draw_below(&random, 2),
					     draw_below(&random, 2));
		}
		check_may_erase(&p);
	}
}

/* ---- rules by hand ---- */

static void test_patience(void)
{
	struct partition p;
	u32 calls;

	/* Too many live pages to be worth it: taken only when nothing else comes. */
	begin(&p);
	set_full(&p, 3, 100, 60);
	set_full(&p, 4, 101, 63);
	for (calls = 1; !victim_of(&p, false, false); calls++)
		check(calls < 100, "no victim after %u calls", calls);
	check(calls == 21, "oldest dirty block after %u failures, not 20",
	      calls - 1);
	begin(&p);
	set_full(&p, 3, 100, 60);
	for (calls = 1; !victim_of(&p, false, true); calls++)
		check(calls < 100, "no victim after %u calls", calls);
	check(calls == 11, "in the background after %u failures, not 10",
	      calls - 1);
}

static void test_aggressive_takes_the_best(void)
{
	struct partition p;
	u32 i, victim;

	begin(&p);
	for (i = 1; i <= BLOCKS; i++)
		set_full(&p, i, 100 + i, 40 + i % 20);
	p.block[17].pages_in_use = 5;
	victim = victim_of(&p, true, false);
	check(victim == 17, "aggressive: %u, not the emptiest", victim);
	for (i = 1; i <= BLOCKS; i++)
		p.block[i].pages_in_use = PAGES;
	p.policy.order.seq = 0;
	victim = victim_of(&p, true, false);
	check(!victim, "aggressive: %u, though all pages are live", victim);
}

static void test_order(void)
{
	struct partition p;
	u32 victim;

	/* A block with bit errors first, but not when space is short. */
	begin(&p);
	set_full(&p, 5, 100, 2);
	set_full(&p, 9, 101, PAGES);
	p.block[9].prioritised = true;
	p.policy.any_prioritised = true;
	victim = victim_of(&p, true, false);
	check(victim == 5, "aggressive: %u", victim);
	victim = victim_of(&p, false, false);
	check(victim == 9, "prioritised: %u", victim);

	/* A shrink header waits for older blocks. */
	begin(&p);
	set_full(&p, 5, 100, 30);
	set_full(&p, 9, 101, 0);
	p.block[9].has_shrink = true;
	victim = victim_of(&p, true, false);
	check(victim == 5, "shrink header: %u goes before older data", victim);
	erase(&p, 5);
	victim = victim_of(&p, true, false);
	check(victim == 9, "shrink header: %u", victim);
}

static void test_unreadable_last(void)
{
	struct partition p;
	u32 victim;

	/* Kept as long as there is another one, but not at the price of all others. */
	begin(&p);
	set_full(&p, 5, 100, 1);
	p.block[5].unreadable = true;
	set_full(&p, 7, 101, 60);
	set_full(&p, 9, 102, 0);
	p.block[9].has_shrink = true;
	victim = victim_of(&p, true, false);
	check(victim == 7, "unreadable: %u, though 7 is readable", victim);
	erase(&p, 7);
	victim = victim_of(&p, false, false);
	check(!victim, "unreadable: %u, though space is not short", victim);
	victim = victim_of(&p, true, false);
	check(victim == 5, "unreadable: %u, though all wait for 5", victim);
	erase(&p, 5);
	victim = victim_of(&p, true, false);
	check(victim == 9, "unreadable: %u behind 5", victim);

	/* All its pages are live: nothing is gained. */
	begin(&p);
	set_full(&p, 5, 100, PAGES);
	p.block[5].unreadable = true;
	victim = victim_of(&p, true, false);
	check(!victim, "unreadable: %u, though all its pages are live", victim);
}

/* Wherever it lies; and not by patience, which is for space that is not short. */
static void test_unreadable_alone(void)
{
	static const u32 places[] = { 1, 5, BLOCKS };
	struct partition p;
	u32 i, calls, victim;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		begin(&p);
		set_full(&p, places[i], 100, 30);
		p.block[places[i]].unreadable = true;
		for (calls = 0; calls < 30; calls++) {
			victim = victim_of(&p, false, calls % 2);
			check(!victim, "unreadable: %u by patience", victim);
		}
		victim = victim_of(&p, true, false);
		check(victim == places[i], "unreadable, alone: %u", victim);
	}
}

static void test_refresh(void)
{
	struct partition p;
	u32 i, victim = 0;

	begin(&p);
	set_full(&p, 7, 90, PAGES);
	set_full(&p, 8, 91, PAGES);
	for (i = 1; i <= YAFFS_REFRESH_PERIOD && !victim; i++)
		victim = victim_of(&p, false, false);
	check(victim == 7 && i == YAFFS_REFRESH_PERIOD + 1,
	      "refresh: block %u at selection %u", victim, i - 1);
}

/* As begin(), on @blocks blocks of @pages; block 0, which is none, would be the best. */
static void begin_with(struct partition *p, u32 blocks, u32 pages)
{
	begin(p);
	memset(&p->policy, 0xff, sizeof(p->policy));
	init(p, blocks, pages);
	set_full(p, 0, 1, 1);
	p->block[0].prioritised = true;
}

/* Calls until there is a victim, that one among them; @victim: which it was. */
static u32 calls_until(struct partition *p, bool background, u32 *victim)
{
	u32 calls = 0;

	do
		*victim = victim_of(p, false, background);
	while (++calls < 100 && !*victim);
	return calls;
}

static u32 passive(struct partition *p)
{
	return victim_of(p, false, false);
}

static void test_empty_blocks_in_turn(void)
{
	static const u32 wanted[] = { 1, 2, 3, 4, 1, 2, 0 };
	struct partition p;
	u32 i, block;

	begin_with(&p, 4, PAGES);
	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		/* Blocks 1 and 2 come back, but it is the turn of those behind. */
		if (i == 3) {
			p.block[1].state = YAFFS_BLOCK_EMPTY;
			p.block[2].state = YAFFS_BLOCK_EMPTY;
		}
		block = next_empty(&p);
		check(block == wanted[i], "empty block %u: %u, not %u", i, block,
		      wanted[i]);
		p.block[block].state = YAFFS_BLOCK_FULL;
	}
}

/* How far a passive search goes in one call: a sixteenth of all and one, at most 100. */
static void test_length_of_a_search(void)
{
	static const struct {
		u32 blocks, length;
	} cases[] = { { 15, 1 }, { 16, 2 }, { 31, 2 }, { 32, 3 }, { 40, 3 } };
	static struct yaffs_block many[1701];
	const struct yaffs_view view = {
		.blocks = many,
		.n_blocks = ARRAY_SIZE(many) - 1,
		.pages_per_block = PAGES,
	};
	struct yaffs_original policy;
	struct partition p;
	u32 i, block, victim;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		for (block = 1; block <= 2 * cases[i].length; block++) {
			u32 calls, wanted = block <= cases[i].length ? 1 : 2;

			begin_with(&p, cases[i].blocks, PAGES);
			set_full(&p, block, 100, 4);
			calls = calls_until(&p, false, &victim);
			check(calls == wanted && victim == block,
			      "of %u blocks %u is found by call %u, not %u",
			      cases[i].blocks, block, calls, wanted);
		}
	}
	for (block = 100; block <= 101; block++) {
		memset(many, 0, sizeof(many));
		yaffs_policy_init(&policy.base, ops, &view);
		many[block].state = YAFFS_BLOCK_FULL;
		many[block].pages_in_use = 4;
		victim = ops->victim(&policy.base, false, false);
		check(victim == (block == 100 ? 100 : 0),
		      "of 1,700 blocks %u is found: %u", block, victim);
	}
}

/* How many live pages a victim may have, by mode, size of the block and failures. */
static void test_thresholds(void)
{
	static const struct {
		u32 pages, live, calls;
		bool background;
	} cases[] = {
		/* Always 4 in front; else the oldest is taken after 20 failures. */
		{ 64, 4, 1, false }, { 64, 5, 21, false },
		{ 16, 4, 1, false }, { 16, 5, 21, false },
		/* 4 + 2 for each failure, at most half a block; 10 failures. */
		{ 64, 4, 1, true }, { 64, 5, 2, true }, { 64, 6, 2, true },
		{ 64, 7, 3, true }, { 64, 8, 3, true }, { 64, 22, 10, true },
		{ 64, 40, 11, true },
		{ 16, 8, 3, true }, { 16, 9, 11, true },
		/* Half of six pages is less than 4. */
		{ 6, 4, 1, true }, { 6, 5, 11, true },
	};
	struct partition p;
	u32 i, calls, victim;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		begin_with(&p, 15, cases[i].pages);
		/* The search comes to it with every call, as it is the only one. */
		set_full(&p, 1, 100, cases[i].live);
		calls = calls_until(&p, cases[i].background, &victim);
		check(calls == cases[i].calls && victim == 1,
		      "case %u: block %u by call %u, not %u", i, victim, calls,
		      cases[i].calls);
		/* Patience begins anew. */
		if (cases[i].calls == 21 || cases[i].calls == 11) {
			calls = calls_until(&p, cases[i].background, &victim);
			check(calls == cases[i].calls,
			      "case %u: again by call %u", i, calls);
		}
	}
}

/* A search ends where 2 live pages are left, and goes on where there are 3. */
static void test_enough(void)
{
	struct partition p;
	u32 live, victim;

	for (live = 2; live <= 3; live++) {
		begin_with(&p, BLOCKS, PAGES);
		set_full(&p, 1, 100, live);
		set_full(&p, 2, 101, 0);
		victim = passive(&p);
		check(victim == (live == 2 ? 1 : 2), "%u live pages: block %u",
		      live, victim);
	}
}

/* Three blocks are looked at in each call: what is behind them is found later. */
static void test_candidate(void)
{
	struct partition p;

	/* The best so far is remembered, and how many pages it has now. */
	begin_with(&p, BLOCKS, PAGES);
	set_full(&p, 2, 100, 30);
	check(!passive(&p) && p.policy.candidate == 2, "a candidate");
	p.block[2].pages_in_use = 3;
	check(passive(&p) == 2, "a candidate that lost pages");
	/* Once chosen it is no candidate: the search goes on behind it. */
	set_full(&p, 1, 90, 3);
	check(!passive(&p), "a victim is chosen once in a round");

	/* Nor is it when it was erased, whatever it holds next. */
	begin_with(&p, BLOCKS, PAGES);
	set_full(&p, 1, 90, PAGES);
	set_full(&p, 2, 100, 30);
	check(!passive(&p) && p.policy.candidate == 2, "a candidate");
	erase(&p, 2);
	set_full(&p, 2, 200, 3);
	p.block[1].pages_in_use = 3;
	check(!passive(&p), "a candidate that was erased");

	/* Another block's erase does not touch it. */
	begin_with(&p, BLOCKS, PAGES);
	set_full(&p, 2, 100, 30);
	set_full(&p, 20, 101, PAGES);
	check(!passive(&p), "nothing yet");
	erase(&p, 20);
	p.block[2].pages_in_use = 3;
	check(passive(&p) == 2, "a candidate beside an erased block");
}

static void test_oldest(void)
{
	struct partition p;
	u32 victim;

	/* Of as many live pages the first that is found, not the oldest. */
	begin_with(&p, BLOCKS, PAGES);
	set_full(&p, 3, 200, PAGES - 1);
	set_full(&p, 8, 100, PAGES - 1);
	victim = victim_of(&p, true, false);
	check(victim == 3, "aggressive, one page to gain: %u", victim);

	/* What was the oldest is not, once it is erased and none has dead pages. */
	begin_with(&p, BLOCKS, PAGES);
	set_full(&p, 5, 100, 30);
	set_full(&p, 9, 101, PAGES);
	p.block[9].has_shrink = true;
	check(!yaffs_order_may_erase(&p.policy.order, &p.policy.base.view, 9), "older data");
	erase(&p, 5);
	victim = victim_of(&p, true, false);
	check(!victim, "aggressive, nothing to gain: %u", victim);
}

static void test_prioritised(void)
{
	static const u32 ends[] = { 1, BLOCKS };
	struct partition p;
	u32 i, victim;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		begin_with(&p, BLOCKS, PAGES);
		set_full(&p, ends[i], 100, PAGES);
		p.block[ends[i]].prioritised = true;
		p.policy.any_prioritised = true;
		victim = passive(&p);
		check(victim == ends[i], "prioritised: %u", victim);
	}
	/* Looked for as long as there is one, though it may not be erased yet. */
	begin_with(&p, BLOCKS, PAGES);
	set_full(&p, 5, 100, 60);
	set_full(&p, 9, 101, PAGES);
	p.block[9].has_shrink = true;
	p.block[9].prioritised = true;
	p.policy.any_prioritised = true;
	check(!passive(&p) && p.policy.any_prioritised, "it has to wait");
	erase(&p, 5);
	victim = passive(&p);
	check(victim == 9, "it has waited: %u", victim);
	erase(&p, 9);
	check(!passive(&p) && !p.policy.any_prioritised, "there is none left");
}

static void test_refresh_comes_again(void)
{
	static const u32 ends[] = { 1, BLOCKS };
	struct partition p;
	u32 i, n, victim;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		begin_with(&p, BLOCKS, PAGES);
		set_full(&p, ends[i], 100, PAGES);
		for (n = 1; n <= 3 * YAFFS_REFRESH_PERIOD; n++) {
			u32 wanted = n % YAFFS_REFRESH_PERIOD ? 0 : ends[i];

			victim = passive(&p);
			check(victim == wanted, "selection %u: block %u", n,
			      victim);
		}
	}
}

/* One stream for all, and the background told of bit errors only. */
static void test_the_table(void)
{
	struct partition p;
	u32 kind;

	begin(&p);
	check(ops->n_streams == 1 && ops->n_streams <= YAFFS_STREAMS, "streams");
	for (kind = 0; kind < YAFFS_PAGE_KINDS; kind++)
		check(ops->stream_of(&p.policy.base, kind) == 0, "kind %u", kind);
	check(!ops->has_pressing(&p.policy.base), "nothing presses");
	set_full(&p, 3, 100, 10);
	ops->dirtied(&p.policy.base, 3);
	check(!ops->has_pressing(&p.policy.base), "dead pages do not press");
	ops->prioritised(&p.policy.base, 3);
	check(ops->has_pressing(&p.policy.base), "bit errors press");
	p.erases[3] = 7;
	check(yaffs_view_erases(&p.policy.base.view, 3) == 7, "erase count");
}

/* ---- which block, where somebody must not wait long ---- */

/* Where work begins: the reserve, one, the checkpoint and eight. */
#define BOUND_BEGINS	(5 + 1 + 2 + 8)

static bool ask_policy(struct partition *p, bool background, u32 round,
		       struct yaffs_budget *budget)
{
	const struct yaffs_occasion occasion = {
		.background = background, .round = round,
		.reserved_blocks = 5, .checkpoint_blocks = 2,
		.bounded = true, .steps = 1, .ns = 1000000,
	};

	return ops->budget(&p->policy.base, &occasion, budget);
}

/* 40 blocks, of which 3 are looked at with each page; the last has the fewest live pages. */
static void begin_search(struct partition *p)
{
	u32 block;

	begin(p);
	for (block = 1; block <= BLOCKS; block++)
		set_full(p, block, 0x1000 + block, 40);
	p->block[BLOCKS].pages_in_use = 5;
	p->space.erased_blocks = BOUND_BEGINS - 1;
	p->space.free_chunks = 4000;
	p->policy.debt.owed = 100 * YAFFS_DEBT_PARTS;
}

static void test_the_search_goes_on_with_each_page(void)
{
	struct yaffs_budget budget;
	struct partition p;
	u32 i;

	begin_search(&p);
	check(ask_policy(&p, false, 0, &budget), "a page");
	check(victim_of(&p, true, false) == 1, "the first of those it has seen");
	begin_search(&p);
	for (i = 0; i < 14; i++)
		ask_policy(&p, false, 0, &budget);
	check(victim_of(&p, true, false) == BLOCKS, "it has seen all");
	/* The background does not look ahead: it has three blocks behind it then. */
	begin_search(&p);
	for (i = 0; i < 14; i++)
		check(ask_policy(&p, true, 0, &budget), "a step");
	check(victim_of(&p, true, false) == 1, "none but those of the search itself");
	/* Nor does a second round for the same page. */
	begin_search(&p);
	for (i = 0; i < 14; i++)
		check(ask_policy(&p, false, 1, &budget), "a round");
	check(victim_of(&p, true, false) == 1, "one page, one look");
	/* Nor does a page for which nothing is due. */
	begin_search(&p);
	p.space.erased_blocks = BOUND_BEGINS;
	p.space.free_chunks = BOUND_BEGINS * PAGES;
	for (i = 0; i < 14; i++)
		check(!ask_policy(&p, false, 0, &budget), "nothing is due");
	check(victim_of(&p, true, false) == 1, "it has not looked");
}

/* Without a bound all are looked at, as the original design has it. */
static void test_without_a_bound_the_search_is_whole(void)
{
	const struct yaffs_occasion occasion = {
		.reserved_blocks = 5, .checkpoint_blocks = 2,
	};
	struct yaffs_budget budget;
	struct partition p;

	begin_search(&p);
	check(ask_policy(&p, false, 0, &budget), "a page with a bound");
	p.space.erased_blocks = 7;
	check(ops->budget(&p.policy.base, &occasion, &budget) &&
	      budget.copies == PAGES && !budget.ns, "a page without");
	check(victim_of(&p, true, false) == BLOCKS, "the best of all");
}

/* If those that were looked at have nothing to gain, all the others are. */
static void test_a_victim_is_found_in_any_case(void)
{
	struct yaffs_budget budget;
	struct partition p;
	u32 block;

	begin_search(&p);
	for (block = 1; block < BLOCKS; block++)
		p.block[block].pages_in_use = PAGES;
	/* Older, and not as good. */
	p.block[BLOCKS - 1].pages_in_use = PAGES - 1;
	ask_policy(&p, false, 0, &budget);
	check(victim_of(&p, true, false) == BLOCKS, "the better one");
	check(p.policy.debt.victim == BLOCKS && p.policy.debt.live == 5, "noted");
}

/* All are looked at for the oldest, so it is left to the background. */
static void test_refreshing_is_put_off(void)
{
	struct yaffs_budget budget;
	struct partition p;

	begin_search(&p);
	p.block[7].seq = 0x1000;
	p.policy.refresh_in = 1;
	ask_policy(&p, false, 0, &budget);
	check(victim_of(&p, false, false) != 7, "not while somebody waits");
	check(p.policy.refresh_in == 1, "it stays due");
	check(victim_of(&p, false, true) == 7, "in the background");
	check(p.policy.refresh_in == YAFFS_REFRESH_PERIOD, "and not again soon");
	p.policy.refresh_in = 3;
	victim_of(&p, false, false);
	check(p.policy.refresh_in == 2, "pages of those who wait count");
}

int main(void)
{
	test_the_search_goes_on_with_each_page();
	test_without_a_bound_the_search_is_whole();
	test_a_victim_is_found_in_any_case();
	test_refreshing_is_put_off();
	u64 seed;

	test_empty_blocks_in_turn();
	test_length_of_a_search();
	test_thresholds();
	test_enough();
	test_candidate();
	test_oldest();
	test_prioritised();
	test_refresh_comes_again();
	test_patience();
	test_aggressive_takes_the_best();
	test_order();
	test_unreadable_last();
	test_unreadable_alone();
	test_refresh();
	test_the_table();
	for (seed = 1; seed <= 20; seed++)
		live(seed);
	return report("test_policy");
}
