/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What tests of random inputs share: a failure is an abort, of a sanitizer or of an assertion,
 * and says with which arguments the program repeats it: PROGRAM RUNS SEED FIRST.
 */
#ifndef TESTS_REPLAY_H
#define TESTS_REPLAY_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/**
 * struct replay - how far the program is
 * @program: its name
 * @seed: of all runs
 * @run: which depends on @seed and its number only
 * @end: the run behind the last
 */
struct replay {
	const char *program;
	unsigned long long seed;
	volatile unsigned long long run;
	unsigned long long end;
};

static struct replay replay;

/* A report of the sanitizers ends like any other failure. */
const char *__asan_default_options(void)
{
	return "abort_on_error=1";
}

/* Only what is safe in a signal handler, apart from the formatting. */
static void replay_on_abort(int number)
{
	char text[120];
	int n = snprintf(text, sizeof(text), "FAIL: repeat with: %s 1 %llu %llu\n",
			 replay.program, replay.seed, replay.run);

	(void)!write(2, text, (size_t)n);
	signal(number, SIG_DFL);
	raise(number);
}

/* Arguments that are missing: @runs runs from the first on, seed 1. */
static void replay_begin(const char *program, int argc, char **argv,
			 unsigned long long runs)
{
	if (argc > 1)
		runs = strtoull(argv[1], NULL, 0);
	replay.program = program;
	replay.seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	replay.run = argc > 3 ? strtoull(argv[3], NULL, 0) : 0;
	replay.end = replay.run + runs;
	signal(SIGABRT, replay_on_abort);
}

#endif
