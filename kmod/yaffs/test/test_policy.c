// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy on random partitions that live: blocks are filled, lose pages and are
 * erased as the policy says. What it answers is compared with what a slow search over
 * all blocks finds, and with what its interface promises.
 */

#include "harness.h"
#include "../policy.h"

#define BLOCKS	40
#define PAGES	64
#define NONE	0xffffffffu

struct partition {
	struct yaffs_block block[BLOCKS + 1];
	struct yaffs_policy policy;
	u32 seq;
};

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

static void begin(struct partition *p)
{
	u32 i;

	memset(p, 0, sizeof(*p));
	p->seq = YAFFS_SEQ_LOWEST;
	for (i = 1; i <= BLOCKS; i++)
		p->block[i].state = YAFFS_BLOCK_EMPTY;
	yaffs_policy_init(&p->policy, p->block, BLOCKS, PAGES);
}

/* ---- events ---- */

static void fill_one(struct partition *p, u64 *random)
{
	u32 last = p->policy.alloc_last, i, expected = last;
	u32 block = yaffs_policy_empty_block(&p->policy);

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
	p->policy.any_prioritised |= p->block[block].prioritised;
}

static void kill_pages(struct partition *p, u64 *random)
{
	u32 block = 1 + draw_below(random, BLOCKS);
	struct yaffs_block *b = &p->block[block];

	if (b->state != YAFFS_BLOCK_FULL || !b->pages_in_use)
		return;
	b->pages_in_use -= 1 + draw_below(random, b->pages_in_use);
	yaffs_policy_dirtied(&p->policy, block);
}

static void erase(struct partition *p, u32 block)
{
	memset(&p->block[block], 0, sizeof(p->block[block]));
	p->block[block].state = YAFFS_BLOCK_EMPTY;
	yaffs_policy_erased(&p->policy, block);
}

/* ---- promises ---- */

static void check_may_erase(struct partition *p)
{
	u32 i, wrong = 0;

	for (i = 1; i <= BLOCKS; i++)
		wrong += p->block[i].state == YAFFS_BLOCK_FULL &&
			 yaffs_policy_may_erase(&p->policy, i) !=
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
	victim = yaffs_policy_victim(&p->policy, aggressive, background);
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

static void set_full(struct partition *p, u32 block, u32 seq, u32 in_use)
{
	p->block[block].state = YAFFS_BLOCK_FULL;
	p->block[block].seq = seq;
	p->block[block].pages_in_use = in_use;
}

static void test_patience(void)
{
	struct partition p;
	u32 calls;

	/* Too many live pages to be worth it: taken only when nothing else comes. */
	begin(&p);
	set_full(&p, 3, 100, 60);
	set_full(&p, 4, 101, 63);
	for (calls = 1; !yaffs_policy_victim(&p.policy, false, false); calls++)
		check(calls < 100, "no victim after %u calls", calls);
	check(calls == 21, "oldest dirty block after %u failures, not 20",
	      calls - 1);
	begin(&p);
	set_full(&p, 3, 100, 60);
	for (calls = 1; !yaffs_policy_victim(&p.policy, false, true); calls++)
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
	victim = yaffs_policy_victim(&p.policy, true, false);
	check(victim == 17, "aggressive: %u, not the emptiest", victim);
	for (i = 1; i <= BLOCKS; i++)
		p.block[i].pages_in_use = PAGES;
	p.policy.oldest_dirty_seq = 0;
	victim = yaffs_policy_victim(&p.policy, true, false);
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
	victim = yaffs_policy_victim(&p.policy, true, false);
	check(victim == 5, "aggressive: %u", victim);
	victim = yaffs_policy_victim(&p.policy, false, false);
	check(victim == 9, "prioritised: %u", victim);

	/* A shrink header waits for older blocks. */
	begin(&p);
	set_full(&p, 5, 100, 30);
	set_full(&p, 9, 101, 0);
	p.block[9].has_shrink = true;
	victim = yaffs_policy_victim(&p.policy, true, false);
	check(victim == 5, "shrink header: %u goes before older data", victim);
	erase(&p, 5);
	victim = yaffs_policy_victim(&p.policy, true, false);
	check(victim == 9, "shrink header: %u", victim);
}

static void test_refresh(void)
{
	struct partition p;
	u32 i, victim = 0;

	begin(&p);
	set_full(&p, 7, 90, PAGES);
	set_full(&p, 8, 91, PAGES);
	for (i = 1; i <= YAFFS_REFRESH_PERIOD && !victim; i++)
		victim = yaffs_policy_victim(&p.policy, false, false);
	check(victim == 7 && i == YAFFS_REFRESH_PERIOD + 1,
	      "refresh: block %u at selection %u", victim, i - 1);
}

int main(void)
{
	u64 seed;

	test_patience();
	test_aggressive_takes_the_best();
	test_order();
	test_refresh();
	for (seed = 1; seed <= 20; seed++)
		live(seed);
	return report("test_policy");
}
