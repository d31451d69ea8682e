// SPDX-License-Identifier: GPL-2.0-only
#include "chip/chip.h"
#include "harness.h"

void test_chip(void);

static void states(void)
{
	struct chip_state state;

	CHECK(chip_parse_state("state standing\nlevel 0\noperations 12\n"
			       "position 5\ncut lost 0\nrecorded 7\n"
			       "operation 5 touched 1\nvariants lost 1\n",
			       &state));
	CHECK(state.operations == 12 && state.recorded == 7);
	CHECK(state.touched && !state.full);
	CHECK(chip_parse_state("state full\noperations 3\n"
			       "operation 2 touched 0\n", &state));
	CHECK(state.full && !state.touched && !state.recorded);
	CHECK(!chip_parse_state("", &state));
	CHECK(!chip_parse_state("operations x\n", &state));
}

static void counters(void)
{
	struct chip_counts counts;

	CHECK(chip_parse_counts("array_reads 5\ncached_reads 1\nprograms 6\n"
				"oob_programs 2\nerases 7\n", &counts));
	CHECK(counts.reads == 5 && counts.programs == 6 && counts.erases == 7);
	CHECK(!chip_parse_counts("array_reads 5\nerases 7\n", &counts));
}

void test_chip(void)
{
	states();
	counters();
}
