/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hard use of a mounted file system of which nothing can be expected: a walk over
 * everything, then operations drawn from a list. Any error is fine; how many calls
 * went well is counted, so that a run that tried nothing can be told.
 */
#ifndef FSFUZZ_USE_H
#define FSFUZZ_USE_H

#include <sys/types.h>

#include "random.h"

#define MAX_PATHS	140
#define PATH_BYTES	1024

struct tally {
	unsigned long good, failed;
};

struct use {
	const char *root;
	const char *statistics;		/* a directory of /proc, or NULL */
	const char *remount;		/* an option for a remount */
	struct rng rng;
	unsigned int paths;
	char path[MAX_PATHS][PATH_BYTES];	/* [0] is the root itself */
	mode_t mode[MAX_PATHS];
	struct tally *tally;
	char buffer[8192];
};

/* Counts a call's result and returns whether it went well. */
bool tally(struct use *u, bool good);

/* Visits up to MAX_PATHS objects, and reads something of each. */
void use_walk(struct use *u);
/* @n operations on what the last walk found, and on new names. */
void use_operate(struct use *u, unsigned int n);

#endif
