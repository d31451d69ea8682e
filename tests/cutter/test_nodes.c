// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "harness.h"
#include "tree/nodes.h"
#include "tree/tree.h"
#include "walk/digests.h"

void test_nodes(void);

static void lines(void)
{
	char text[] = "1 pass append a 700 3\n2 visit append a 700 5;fsync a\n"
		      "3 end unlink a\n2 visit remount\n1 visit rename a e/a";
	static const size_t depths[] = { 1, 2, 3, 2, 1 };
	struct nodes nodes;
	struct ffs_error error;
	size_t i;

	if (!CHECK(!nodes_parse(&nodes, text, &error)))
		return;
	CHECK(nodes.n == 5);
	for (i = 0; i < nodes.n; i++)
		CHECK(nodes.all[i].depth == depths[i] &&
		      nodes.all[i].visited == (i > 0) &&
		      nodes.all[i].only_end == (i == 2) && !nodes.all[i].known);
	CHECK(nodes.all[1].calls.n == 2);
	CHECK(nodes.all[1].calls.ops[0].seed == 5);
	CHECK(nodes.all[1].calls.ops[1].kind == OP_FSYNC);
	CHECK(nodes.all[3].calls.ops[0].kind == OP_REMOUNT);
	CHECK(!strcmp(nodes.all[4].calls.ops[0].path, "e/a"));
	nodes_free(&nodes);
}

static void wrong_lines(void)
{
	static const char *const wrong[] = {
		"\n", "1", "1 visit", "0 visit sync", "3 visit sync",
		"x visit sync", "1 see sync", "1 visit nothing",
		"1 visit ;sync", "1  visit sync",
		"4097 visit sync", "visit sync", "1 visit sync 1",
	};
	struct nodes nodes;
	struct ffs_error error;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		char text[64] = "1 visit sync\n";

		strncat(text, wrong[i], sizeof(text) - strlen(text) - 1);
		if (!CHECKF(nodes_parse(&nodes, text, &error), "'%s'", wrong[i]))
			nodes_free(&nodes);
	}
}

static void kinds(void)
{
	static const char *const wrong[] = {
		"", ",", "lost,", ",lost", "lost++", "*", "lost;done",
		"a-kind-that-is-as-long-as-no-kind-is",
		"a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a",
	};
	struct tree_cuts cuts;
	size_t i;

	CHECK(tree_cuts_parse(&cuts, "lost,torn-prefix+,torn-bits*"));
	CHECK(cuts.n == 3 && !strcmp(cuts.kinds[1].name, "torn-prefix"));
	CHECK(cuts.kinds[0].variants == TREE_ONE);
	CHECK(cuts.kinds[1].variants == TREE_COUNTED);
	CHECK(cuts.kinds[2].variants == TREE_SEEDS);
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		CHECKF(!tree_cuts_parse(&cuts, wrong[i]), "'%s'", wrong[i]);
}

static void numbers(void)
{
	struct digests digests = { 0 };
	bool is_new;
	uint64_t i;

	for (i = 0; i < 3000; i++)
		CHECK(digests_number(&digests, 7 * (i + 1), &is_new) == i && is_new);
	for (i = 0; i < 3000; i++)
		CHECK(digests_number(&digests, 7 * (i + 1), &is_new) == i && !is_new);
	digests_free(&digests);
}

void test_nodes(void)
{
	lines();
	wrong_lines();
	kinds();
	numbers();
}
