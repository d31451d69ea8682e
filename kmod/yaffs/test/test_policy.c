// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which block is written and which collected, by hand, where nobody minds how long it
 * takes. Where somebody does: test_policy_bound.c.
 */

#include "partition.h"

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
	erase_block(&p, 5);
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
	erase_block(&p, 7);
	victim = victim_of(&p, false, false);
	check(!victim, "unreadable: %u, though space is not short", victim);
	victim = victim_of(&p, true, false);
	check(victim == 5, "unreadable: %u, though all wait for 5", victim);
	erase_block(&p, 5);
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
	erase_block(&p, 2);
	set_full(&p, 2, 200, 3);
	p.block[1].pages_in_use = 3;
	check(!passive(&p), "a candidate that was erased");

	/* Another block's erase does not touch it. */
	begin_with(&p, BLOCKS, PAGES);
	set_full(&p, 2, 100, 30);
	set_full(&p, 20, 101, PAGES);
	check(!passive(&p), "nothing yet");
	erase_block(&p, 20);
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
	erase_block(&p, 5);
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
	erase_block(&p, 5);
	victim = passive(&p);
	check(victim == 9, "it has waited: %u", victim);
	erase_block(&p, 9);
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

int main(void)
{
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
	return report("test_policy");
}
