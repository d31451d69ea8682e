// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "harness.h"
#include "walk/states.h"

void test_states(void);

static void lines(void)
{
	char text[] = "0 lost 0\n17 torn-bits 18446744073709551615\n"
		      "1 done 2 3 erase-half 4\n5 lost 0 * lost 1\n"
		      "6 lost 0 12+ paired 3\n7 lost 0 fill\n"
		      "8 lost 0 * lost 0 fill";
	struct states states;
	struct ffs_error error;
	const struct state_line *line;

	if (!CHECK(!states_parse(&states, text, &error)))
		return;
	line = states.lines;
	CHECK(states.n == 7);
	CHECK(!line[0].deeper && !line[0].cut.operation);
	CHECK(line[1].cut.operation == 17 && line[1].cut.variant == UINT64_MAX);
	CHECK(!strcmp(line[1].cut.kind, "torn-bits"));
	CHECK(line[2].deeper && !line[2].onwards);
	CHECK(line[2].second.operation == 3 && line[2].second.variant == 4);
	CHECK(!strcmp(line[2].second.kind, "erase-half"));
	CHECK(line[3].deeper && line[3].onwards && !line[3].second.operation);
	CHECK(line[4].onwards && line[4].second.operation == 12);
	CHECK(!line[4].fill && line[5].fill && !line[5].deeper);
	CHECK(line[6].fill && line[6].onwards && !line[6].second.operation);
	states_free(&states);
}

static void wrong_lines(void)
{
	static const char *const wrong[] = {
		"\n", "1", "1 lost", "lost 1 0", "1 lost x", "1 LOST 0",
		"1 lost 0 fall", "1 lost fill", "fill", " fill",
		"1 lost 0 fill fill", "1 lost 0 2", "1 lost 0 2 lost", "1 lost 0 2 lost 0 3",
		"1 lost 0 + lost 0", "1+ lost 0", "* lost 0", "1  lost 0",
		"9223372036854775808 lost 0", "1 lost 0 ** lost 0",
		"1 a-kind-that-is-as-long-as-no-kind-is 0",
	};
	struct states states;
	struct ffs_error error;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		char text[128] = "1 lost 0\n";

		strncat(text, wrong[i], sizeof(text) - strlen(text) - 1);
		if (!CHECKF(states_parse(&states, text, &error), "'%s'",
			    wrong[i]))
			states_free(&states);
		else
			CHECK(!strncmp(error.message, "line 1 ", 7));
	}
}

void test_states(void)
{
	lines();
	wrong_lines();
}
