/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * harness.h - the whole test framework: named checks, counted.
 *
 * A test is a function; each CHECK() in it counts as one check and names the
 * file and line when it fails.  The suites are listed below.
 */
#ifndef FFSAGENT_TEST_HARNESS_H
#define FFSAGENT_TEST_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** check() - count one check and print it if it failed. */
bool check(bool good, const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#define CHECK(condition) \
	check((condition), __FILE__, __LINE__, "%s", #condition)
/* For loops: the values that failed are worth more than the text. */
#define CHECKF(condition, ...) \
	check((condition), __FILE__, __LINE__, __VA_ARGS__)

/** scratch_template() - what mkstemp() and mkdtemp() make a name of: in
 * memory where that can be, since a loaded disk takes minutes for what these
 * tests write, else in $TMPDIR or /tmp.
 */
void scratch_template(char *path, size_t size, const char *name);

/* The suites, each test_NAME() in test_NAME.c; tests/cutter has its own. */
#ifndef SUITES
#define SUITES(SUITE) \
	SUITE(histogram) \
	SUITE(latency) \
	SUITE(random) \
	SUITE(record) \
	SUITE(plan) \
	SUITE(calls) \
	SUITE(pool) \
	SUITE(file_io) \
	SUITE(monitor) \
	SUITE(mtd_statistics) \
	SUITE(live) \
	SUITE(whose_time) \
	SUITE(memory) \
	SUITE(image) \
	SUITE(content) \
	SUITE(micro_pattern) \
	SUITE(micro_report) \
	SUITE(distribution) \
	SUITE(tree) \
	SUITE(postmark) \
	SUITE(append_log_lines) \
	SUITE(append_log) \
	SUITE(database) \
	SUITE(tiobench) \
	SUITE(step_keys)
#endif

#define DECLARE_SUITE(name) void test_##name(void);
SUITES(DECLARE_SUITE)
#undef DECLARE_SUITE

#endif
