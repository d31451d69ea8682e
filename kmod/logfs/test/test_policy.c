// SPDX-License-Identifier: GPL-2.0-only
/* The policies: which segment is cleaned, when, and when wear is levelled. */

#include "../policy/collect.h"
#include "../policy/wear.h"
#include "harness.h"

/* ---- candidates ---- */

static void test_scan(void)
{
	check(logfs_scan_first(0, 1024) == 0, "from the beginning");
	check(logfs_scan_first(512, 1024) == 512, "the second block");
	check(logfs_scan_first(513, 1024) == 512, "within it");
	check(logfs_scan_first(1023, 1024) == 512, "its last segment");
	check(logfs_scan_first(1024, 1024) == 0, "behind the last segment");
	check(logfs_scan_first(5000, 1024) == 0, "far behind it");
	check(logfs_scan_end(0, 1024) == 512, "a whole block");
	check(logfs_scan_end(512, 1024) == 1024, "the last one");
	check(logfs_scan_end(512, 1000) == 1000, "a part of one");
	check(logfs_scan_end(0, 100) == 100, "a small partition");
}

static bool is_better(u32 a_valid, u32 a_ec, u32 b_valid, u32 b_ec,
		      bool by_valid)
{
	const struct logfs_candidate a = { .valid_bytes = a_valid, .ec = a_ec };
	const struct logfs_candidate b = { .valid_bytes = b_valid, .ec = b_ec };

	return logfs_is_better(&a, &b, by_valid);
}

static void test_order(void)
{
	check(is_better(100, 9, 101, 1, true), "more garbage, though worn");
	check(!is_better(101, 1, 100, 9, true), "less garbage");
	check(is_better(100, 1, 100, 2, true), "as much, less worn");
	check(!is_better(100, 2, 100, 1, true), "as much, more worn");
	check(!is_better(100, 2, 100, 2, true), "alike");
	check(is_better(101, 1, 100, 9, false), "less worn, though valid");
	check(!is_better(100, 9, 101, 1, false), "more worn");
	check(!is_better(100, 2, 101, 2, false), "worn alike");
}

/* 131,072 - 24 of the header - 4,123: an object of 4,124 has no room in that. */
static void test_garbage(void)
{
	check(logfs_has_garbage(126924, 131072), "an object is invalid");
	check(!logfs_has_garbage(126925, 131072), "it may be full");
	check(logfs_has_garbage(0, 131072), "all is");
}

/* ---- collecting ---- */

/* Levels: 3 of the inode file, 4 and the data of others. */
static void test_need(void)
{
	struct logfs_super s = a_super();

	check(logfs_need_free(&s, 0) == 9, "one a level, and one");
	check(logfs_need_free(&s, 4) == 13, "four beside");
	s.iblock_levels = 0;
	check(logfs_need_free(&s, 0) == 5, "fewer levels");
}

static void test_commit(void)
{
	const struct logfs_super s = a_super();

	check(logfs_commit_first(&s, 8, 1, 9), "it is all that is missing");
	check(!logfs_commit_first(&s, 8, 0, 9), "it gives nothing");
	check(!logfs_commit_first(&s, 8, 1, 10), "it does not suffice");
	check(logfs_commit_first(&s, 8, 2, 10), "two do");
	check(logfs_commit_first(&s, 7, 1, 9), "some cannot be cleaned");
	check(!logfs_commit_first(&s, 0, 0, 9), "there is nothing at all");
}

/**
 * struct lists - the candidates with the most garbage
 * @valid_bytes: by distance; 0: there is none
 * @asked: for these, in this order
 * @n_asked: how often
 */
struct lists {
	u32 valid_bytes[8];
	u32 asked[16];
	u32 n_asked;
};

static bool best_of(void *arg, u32 distance, struct logfs_candidate *c)
{
	struct lists *lists = arg;

	lists->asked[lists->n_asked++ & 15] = distance;
	*c = (struct logfs_candidate){
		.segno = 100 + distance,
		.valid_bytes = distance < 8 ? lists->valid_bytes[distance] : 0,
	};
	return c->valid_bytes;
}

/* The distance of the victim; 99: there is none. */
static u32 chosen(struct lists *lists, u32 n_free)
{
	const struct logfs_super s = a_super();
	struct logfs_candidate victim = { .segno = 199 };
	const bool found = logfs_choose(&s, n_free, best_of, lists, &victim);

	check(found == (victim.segno != 199), "it says whether");
	check(!found || victim.valid_bytes ==
	      lists->valid_bytes[victim.segno - 100], "it says which");
	return victim.segno - 100;
}

/* Each segment that is free lets one be cleaned that is one level farther from the root. */
static void test_reach(void)
{
	static const struct { u32 n_free, farthest; } cases[] = {
		{ 0, 0 }, { 1, 1 }, { 3, 3 }, { 6, 6 }, { 7, 7 }, { 8, 7 },
		{ 100, 7 },
	};
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct lists lists = {};

		check(chosen(&lists, cases[i].n_free) == 99, "there is none");
		check(lists.n_asked == cases[i].farthest + 1,
		      "%u free: %u lists", cases[i].n_free, lists.n_asked);
		for (k = 0; k < lists.n_asked; k++)
			check(lists.asked[k] == cases[i].farthest - k,
			      "%u free: the farthest first", cases[i].n_free);
	}
}

static void test_choice(void)
{
	struct lists lists = { .valid_bytes = { [3] = 10000 } };

	check(chosen(&lists, 7) == 3, "the only one");
	check(chosen(&lists, 2) == 99, "too few are free for it");
	lists.valid_bytes[2] = 10000 - 4123;
	check(chosen(&lists, 7) == 3, "hardly better");
	lists.valid_bytes[2] = 10000 - 4124;
	check(chosen(&lists, 7) == 2, "better by an object");
	lists.valid_bytes[5] = 10001;
	check(chosen(&lists, 7) == 2, "it is so than the farthest, too");
	lists.valid_bytes[5] = 9999;
	check(chosen(&lists, 7) == 5, "not better than the farthest");
	check(chosen(&lists, 4) == 2, "which is too far");
	/* Each against the best so far: 20,000, 15,876, and 11,753 is not, 11,752 is. */
	lists = (struct lists){ .valid_bytes = {
		[3] = 20000, [2] = 15876, [1] = 11753, [0] = 11752,
	} };
	check(chosen(&lists, 7) == 0, "a chain");
	lists.valid_bytes[0] = 11753;
	check(chosen(&lists, 7) == 2, "a broken one");
	lists = (struct lists){ .valid_bytes = { [0] = 120000 } };
	check(chosen(&lists, 0) == 0, "next to the root it can be, always");
}

static void test_limits(void)
{
	check(logfs_most_idle(1024) == 4, "both blocks, and two more");
	check(logfs_most_idle(511) == 2, "less than one");
	check(logfs_most_steps(10) == 104, "steps");
	check(logfs_most_steps(1024) == 4160, "steps of a larger one");
}

/* ---- wear ---- */

static void test_leveling(void)
{
	check(logfs_wear_is_due(1100, 1000), "a hundred erasures");
	check(!logfs_wear_is_due(1099, 1000), "one less");
	check(logfs_wear_is_due(0x100000064ull, 0x100000000ull), "more bits");
	check(logfs_lags_behind(2, 400), "by 398");
	check(!logfs_lags_behind(3, 400), "by 397");
	check(!logfs_lags_behind(400, 2), "ahead");
}

/* Behind the last slot there is what nobody may look at. */
static void test_journal(void)
{
	u32 segno[LOGFS_JOURNAL_SEGMENTS + 1] = {
		0, 7, 8, [LOGFS_JOURNAL_SEGMENTS] = 5,
	};
	u32 ec[LOGFS_JOURNAL_SEGMENTS + 1] = { 1, 30, 20, 5 };
	bool failed[LOGFS_JOURNAL_SEGMENTS + 1] = {
		[LOGFS_JOURNAL_SEGMENTS] = true,
	};

	check(logfs_lowest_ec(segno, ec) == 20, "of those that there are");
	segno[LOGFS_JOURNAL_SEGMENTS - 1] = 9;
	ec[LOGFS_JOURNAL_SEGMENTS - 1] = 10;
	check(logfs_lowest_ec(segno, ec) == 10, "the last slot");
	segno[0] = 6;
	check(logfs_lowest_ec(segno, ec) == 1, "the first slot");
	memset(segno, 0, LOGFS_JOURNAL_SEGMENTS * sizeof(*segno));
	check(logfs_lowest_ec(segno, ec) == 0xffffffff, "no journal");
	check(!logfs_has_failed(failed), "none has failed");
	failed[LOGFS_JOURNAL_SEGMENTS - 1] = true;
	check(logfs_has_failed(failed), "the last has");
	failed[LOGFS_JOURNAL_SEGMENTS - 1] = false;
	failed[0] = true;
	check(logfs_has_failed(failed), "the first has");
	check(logfs_journal_is_worn(805, 10), "by 795");
	check(!logfs_journal_is_worn(804, 10), "by 794");
}

int main(void)
{
	test_scan();
	test_order();
	test_garbage();
	test_need();
	test_commit();
	test_reach();
	test_choice();
	test_limits();
	test_leveling();
	test_journal();
	return report("test_policy");
}
