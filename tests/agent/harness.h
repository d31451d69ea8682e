/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * harness.h - the whole test framework: named checks, counted.
 *
 * A test is a function; each CHECK() in it counts as one check and names the
 * file and line when it fails.  The suites are listed in test_main.c.
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

void test_histogram(void);
void test_random(void);
void test_record(void);
void test_plan(void);
void test_ops(void);
void test_file_io(void);
void test_monitor(void);
void test_live(void);
void test_memory(void);
void test_image(void);
void test_content(void);
void test_micro_pattern(void);
void test_micro_report(void);
void test_distribution(void);
void test_tree(void);
void test_postmark(void);

#endif
