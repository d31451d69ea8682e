// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much is collected when nobody may wait long: in proportion to what is written, and a
 * block as a whole when space has run out. Which block is in test_policy_bound.c.
 */

#include "partition.h"
#include "../policy/bound.h"

#define RESERVED	5
#define CHECKPOINT	2
/* Where work begins: the reserve, one, the checkpoint and eight. */
#define BEGINS		(RESERVED + 1 + CHECKPOINT + 8)

static struct yaffs_occasion occasion_with(u64 ns)
{
	return (struct yaffs_occasion){
		.bounded = true,
		.reserved_blocks = RESERVED,
		.checkpoint_blocks = CHECKPOINT,
		.ns = ns,
	};
}

static bool ask(struct partition *p, struct yaffs_debt *debt,
		const struct yaffs_occasion *occasion,
		struct yaffs_budget *budget)
{
	memset(budget, 0xff, sizeof(*budget));
	return yaffs_bound_budget(debt, &p->policy.base.view, occasion, budget);
}

/* Steps that @writes pages make due, if all of them are done at once. */
static u32 steps_of(u32 erased, u32 victim_live, u32 writes)
{
	struct yaffs_occasion occasion;
	struct yaffs_debt debt = { 0 };
	struct yaffs_budget budget;
	struct partition p;
	u32 steps = 0;

	begin(&p);
	p.space.erased_blocks = erased;
	p.space.free_chunks = 4000;
	set_full(&p, 1, 0x1001, victim_live);
	yaffs_bound_chosen(&debt, &p.policy.base.view, 1);
	while (writes--) {
		occasion = occasion_with(1000000);
		while (ask(&p, &debt, &occasion, &budget)) {
			steps += budget.copies;
			occasion.steps = budget.copies;
			occasion.round++;
		}
	}
	return steps;
}

/* 16 live of 64: 17 steps give 48 pages, and an eighth more of steps is done. */
static void test_proportion(void)
{
	u32 many = steps_of(BEGINS - 1, 16, 48 * 100);

	check(many >= 17 * 100 && many <= 20 * 100, "%u steps", many);
	many = steps_of(BEGINS - 1, 0, 64 * 100);
	check(many >= 100 && many <= 115, "%u erases of empty blocks", many);
	/* 60 live: 61 steps for 4 pages, so 17 for each with the eighth. */
	many = steps_of(BEGINS - 1, 60, 100);
	check(many >= 1525 && many <= 1720, "%u steps of full blocks", many);
	/* All live is moved for another reason: about a page for a page. */
	many = steps_of(BEGINS - 1, 64, 100);
	check(many >= 100 && many <= 120, "%u steps of a whole block", many);
}

/* A block of 48 live pages is copied and erased before the 16 that it gives are written. */
static void test_the_block_is_done_before_space_runs_out(void)
{
	u32 far = steps_of(BEGINS - 1, 1, 16), near = steps_of(3, 48, 16);

	/* 2 * 256 / 63 = 8 parts, and one more, for each of 16 pages: 144 parts. */
	check(!far, "%u steps with room", far);
	/* 49 * 256 / 16 = 784 parts, and 98 more, for each: 14,112, or 55 steps. */
	check(near == 55, "%u steps without", near);
}

static void test_where_it_begins(void)
{
	struct yaffs_occasion occasion = occasion_with(1000000);
	struct yaffs_debt debt = { .owed = 100 * YAFFS_DEBT_PARTS };
	struct yaffs_budget budget;
	struct partition p;

	begin(&p);
	/* A quarter of what is free is erased, and more than the headroom: nothing. */
	p.space.erased_blocks = BEGINS;
	p.space.free_chunks = BEGINS * PAGES * 4 - 1;
	check(!ask(&p, &debt, &occasion, &budget) && !debt.owed, "with much");
	/* Less than a quarter: what costs little. */
	p.space.free_chunks++;
	debt.owed = 100 * YAFFS_DEBT_PARTS;
	check(ask(&p, &debt, &occasion, &budget) && !budget.aggressive &&
	      !budget.forced && budget.ns == 1000000, "passive");
	p.space.erased_blocks = BEGINS - 1;
	check(ask(&p, &debt, &occasion, &budget) && budget.aggressive &&
	      !budget.forced, "aggressive");
	p.space.erased_blocks = 3;
	check(ask(&p, &debt, &occasion, &budget) && !budget.forced, "above the floor");
	p.space.erased_blocks = 2;
	check(ask(&p, &debt, &occasion, &budget) && budget.forced &&
	      budget.aggressive && !budget.ns && budget.copies == PAGES + 1,
	      "on the floor");
	occasion.round = 1;
	check(ask(&p, &debt, &occasion, &budget), "and once more");
	occasion.round = 2;
	check(!ask(&p, &debt, &occasion, &budget), "and no more");
}

/* What the time does not allow stays due, up to four blocks. */
static void test_debts(void)
{
	struct yaffs_occasion occasion = occasion_with(0);
	struct yaffs_debt debt = { 0 };
	struct yaffs_budget budget;
	struct partition p;
	u32 i;

	begin(&p);
	p.space.erased_blocks = BEGINS - 1;
	p.space.free_chunks = 4000;
	set_full(&p, 1, 0x1001, 32);
	yaffs_bound_chosen(&debt, &p.policy.base.view, 1);
	for (i = 0; i < 10; i++)
		check(!ask(&p, &debt, &occasion, &budget), "no time");
	occasion.ns = 1;
	check(ask(&p, &debt, &occasion, &budget) && budget.copies == 12,
	      "%u steps of eleven pages", budget.copies);
	/* It found none for the next: not asked for ever. */
	occasion.round = 1;
	occasion.steps = 0;
	check(!ask(&p, &debt, &occasion, &budget), "in vain");
	occasion.steps = 5;
	check(ask(&p, &debt, &occasion, &budget) && budget.copies == 7,
	      "%u are left", budget.copies);
	occasion.round = 0;
	occasion.ns = 0;
	for (i = 0; i < 1000; i++)
		ask(&p, &debt, &occasion, &budget);
	check(debt.owed == 4 * PAGES * YAFFS_DEBT_PARTS, "%u parts owed",
	      (u32)debt.owed);
}

/* A step, whatever it takes, and then it is asked by somebody else. */
static void test_background(void)
{
	struct yaffs_occasion occasion = occasion_with(0);
	struct yaffs_debt debt = { 0 };
	struct yaffs_budget budget;
	struct partition p;

	begin(&p);
	p.space.erased_blocks = 2;
	p.space.free_chunks = 4000;
	occasion.background = true;
	check(ask(&p, &debt, &occasion, &budget) && budget.copies == 1 &&
	      budget.ns && !budget.forced && !debt.owed, "one step");
	occasion.round = 1;
	occasion.steps = 1;
	check(!ask(&p, &debt, &occasion, &budget), "and no second one");
}

/* Exactly what one page makes due: 256 parts are a step. @left: pages still live. */
static u64 owed_after(u32 erased, u32 victim_live, u32 left)
{
	struct yaffs_occasion occasion = occasion_with(0);
	struct yaffs_debt debt = { 0 };
	struct yaffs_budget budget;
	struct partition p;

	begin(&p);
	p.space.erased_blocks = erased;
	p.space.free_chunks = 4000;
	set_full(&p, 1, 0x1001, victim_live);
	yaffs_bound_chosen(&debt, &p.policy.base.view, 1);
	p.block[1].pages_in_use = left;
	ask(&p, &debt, &occasion, &budget);
	return debt.owed;
}

static u64 owed_for(u32 erased, u32 victim_live)
{
	return owed_after(erased, victim_live, victim_live);
}

static u64 owed_for_none(u32 erased)
{
	struct yaffs_occasion occasion = occasion_with(0);
	struct yaffs_debt debt = { 0 };
	struct yaffs_budget budget;
	struct partition p;

	begin(&p);
	p.space.erased_blocks = erased;
	p.space.free_chunks = 4000;
	ask(&p, &debt, &occasion, &budget);
	return debt.owed;
}

static void test_what_a_page_makes_due(void)
{
	/* 17 * 256 / 48 = 90, and 11 more. */
	check(owed_for(BEGINS - 1, 16) == 101, "far: %u", (u32)owed_for(BEGINS - 1, 16));
	/* One block above the floor it is no more. */
	check(owed_for(3, 16) == 101, "near: %u", (u32)owed_for(3, 16));
	/* On it every page may be the last: 17 steps for one. */
	check(owed_for(2, 16) == 17 * 256, "floor: %u", (u32)owed_for(2, 16));
	check(owed_for(1, 16) == 17 * 256, "below: %u", (u32)owed_for(1, 16));
	/* 63 live: 64 * 256 / 1, an eighth more. */
	check(owed_for(BEGINS - 1, 63) == 18432, "%u", (u32)owed_for(BEGINS - 1, 63));
	/* All live: 65 * 256 / 64 = 260, and 32 more. On the floor what is left of it counts. */
	check(owed_for(3, 64) == 292, "whole: %u", (u32)owed_for(3, 64));
	/* 9 * 256, as 55 of its 63 pages died, is less than 18,432. */
	check(owed_after(2, 63, 8) == 18432, "%u", (u32)owed_after(2, 63, 8));
	/* 9 * 256 is more than 31 * 256 / 34 = 233, and 29 more. */
	check(owed_after(2, 30, 8) == 9 * 256, "%u", (u32)owed_after(2, 30, 8));
	/* Of no block nothing is left but its erase. */
	check(owed_for_none(2) == 256, "%u", (u32)owed_for_none(2));
}

/* It collects nothing before, and so begins a sixteenth of what is free before, at most 32. */
static void test_segregated(void)
{
	struct yaffs_occasion occasion = occasion_with(1000000);
	struct yaffs_debt debt = { 0 };
	struct yaffs_budget budget;
	struct partition p;

	begin(&p);
	p.policy.base.view.segregated = true;
	p.space.free_chunks = 160 * PAGES;
	p.space.erased_blocks = BEGINS + 10;
	check(!ask(&p, &debt, &occasion, &budget) && !budget.aggressive,
	      "a quarter of what is free is not erased, and that is all right");
	p.space.erased_blocks = BEGINS + 9;
	ask(&p, &debt, &occasion, &budget);
	check(budget.aggressive && debt.owed, "ten blocks before the plain layout");
	p.space.erased_blocks = BEGINS + 10;
	p.space.free_chunks = 176 * PAGES - 1;
	ask(&p, &debt, &occasion, &budget);
	check(!budget.aggressive, "175 blocks are free: ten sixteenths, and some pages");
	p.space.free_chunks++;
	ask(&p, &debt, &occasion, &budget);
	check(budget.aggressive, "eleven");
	p.space.free_chunks = 6400 * PAGES;
	p.space.erased_blocks = BEGINS + 31;
	ask(&p, &debt, &occasion, &budget);
	check(budget.aggressive, "32 blocks before it");
	p.space.erased_blocks = BEGINS + 32;
	check(!ask(&p, &debt, &occasion, &budget) && !budget.aggressive && !debt.owed,
	      "and no more");
}

int main(void)
{
	test_segregated();
	test_what_a_page_makes_due();
	test_proportion();
	test_the_block_is_done_before_space_runs_out();
	test_where_it_begins();
	test_debts();
	test_background();
	return report("test_bound");
}
