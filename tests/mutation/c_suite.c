// SPDX-License-Identifier: GPL-2.0-only
/*
 * Suites of the agent's unit tests as a program: -DSUITE=test_histogram, or of two
 * -DSUITE=test_plan();test_calls. The tests of all parts together take too long for every
 * mutant of one.
 */
#include "harness.h"

static unsigned int failed;

bool check(bool good, const char *file, int line, const char *format, ...)
{
	(void)file;
	(void)line;
	(void)format;
	failed += !good;
	return good;
}

const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

int main(void)
{
	SUITE();
	return failed != 0;
}
