// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy on random partitions that live: blocks are filled, lose pages and are
 * erased as the policy says. What it answers is compared with what a slow search over
 * all blocks finds, and with what its interface promises. By hand: test_policy.c.
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
	erase_block(p, victim);
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

int main(void)
{
	u64 seed;

	for (seed = 1; seed <= 20; seed++)
		live(seed);
	return report("test_policy_random");
}
