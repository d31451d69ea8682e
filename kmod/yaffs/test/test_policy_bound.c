// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which block is collected where somebody must not wait long: the search goes on with each
 * page that is written. How much of it is in test_bound.c.
 */

#include "partition.h"

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
	return report("test_policy_bound");
}
