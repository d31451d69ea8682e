// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much is collected, by how much is erased: each limit of the original design, and one
 * beside it.
 */

#include "partition.h"
#include "../policy/pace.h"

struct amount {
	u32 erased, free;	/* blocks, pages */
	struct yaffs_occasion occasion;
	u32 copies;		/* 0: nothing is to be collected */
	bool aggressive;
};

static void check_amounts(const struct amount *cases, u32 n)
{
	struct yaffs_budget budget;
	struct partition p;
	u32 i;
	bool any;

	for (i = 0; i < n; i++) {
		begin(&p);
		p.space.erased_blocks = cases[i].erased;
		p.space.free_chunks = cases[i].free;
		memset(&budget, 0xff, sizeof(budget));
		any = yaffs_pace_budget(&p.policy.base, &cases[i].occasion, &budget);
		check(any == (cases[i].copies != 0), "amount %u: %u", i, any);
		if (any)
			check(budget.copies == cases[i].copies && !budget.ns &&
			      !budget.forced &&
			      budget.aggressive == cases[i].aggressive,
			      "amount %u: %u copies, aggressive %u", i,
			      budget.copies, budget.aggressive);
	}
}

/* Five blocks are reserved, as in the mechanism; 64 pages in a block. */
static void test_amounts(void)
{
	static const struct amount cases[] = {
		/* Aggressive below reserve, checkpoint and one: all of a block. */
		{ 5, 4000, { false, 0, 5, 0, false, 0, 0, false }, 64, true },
		{ 6, 4000, { false, 0, 5, 0, false, 0, 0, false }, 5, false },
		{ 7, 4000, { false, 0, 5, 2, false, 0, 0, false }, 64, true },
		{ 8, 4000, { false, 0, 5, 2, false, 0, 0, false }, 5, false },
		{ 5, 320, { true, 0, 5, 0, false, 0, 0, false }, 64, true },
		/* Passive unless more than a quarter of what is free is erased. */
		{ 10, 2560, { false, 0, 5, 0, false, 0, 0, false }, 5, false },
		{ 10, 2559, { false, 0, 5, 0, false, 0, 0, false }, 0, false },
		{ 10, 2556, { false, 0, 5, 0, false, 0, 0, false }, 0, false },
		{ 10, 640, { true, 0, 5, 0, false, 0, 0, false }, 5, false },
		/* Once more as long as the reserve is not whole, and no more. */
		{ 4, 4000, { false, 1, 5, 0, false, 0, 0, false }, 64, true },
		{ 5, 4000, { false, 1, 5, 0, false, 0, 0, false }, 0, false },
		{ 6, 4000, { false, 1, 5, 0, false, 0, 0, false }, 0, false },
		{ 4, 4000, { true, 1, 5, 0, false, 0, 0, false }, 64, true },
		{ 4, 4000, { false, 2, 5, 0, false, 0, 0, false }, 0, false },
		{ 4, 4000, { false, 3, 5, 0, false, 0, 0, false }, 0, false },
	};

	check_amounts(cases, ARRAY_SIZE(cases));
}

static void test_urgency(void)
{
	static const struct {
		u32 erased, free;
		unsigned int urgency;
	} cases[] = {
		/* 10 blocks of 64 pages are erased: half of 1,280, a quarter of 2,560. */
		{ 10, 640, 0 }, { 10, 1279, 0 }, { 10, 1280, 1 },
		{ 10, 2559, 1 }, { 10, 2560, 2 }, { 10, 4000, 2 },
		/* Not for less than two blocks. */
		{ 1, 191, 0 }, { 1, 192, 1 }, { 1, 255, 1 }, { 1, 256, 2 },
		{ 0, 127, 0 }, { 0, 128, 2 },
		/* Pages of the block being written are erased, and free no more. */
		{ 10, 600, 0 },
	};
	struct partition p;
	unsigned int found;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		begin(&p);
		p.space.erased_blocks = cases[i].erased;
		p.space.free_chunks = cases[i].free;
		found = yaffs_pace_urgency(&p.policy.base);
		check(found == cases[i].urgency, "urgency %u: %u, not %u", i,
		      found, cases[i].urgency);
	}
}

int main(void)
{
	test_amounts();
	test_urgency();
	return report("test_pace");
}
