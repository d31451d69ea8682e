/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One boot's part of a fuzz run: makes the base image, then mutates, mounts and uses
 * it as often as it is told, unloads the file system's module, and looks for leaks.
 */
#ifndef FSFUZZ_RUN_H
#define FSFUZZ_RUN_H

#include <stdbool.h>
#include <stdint.h>

struct run_options {
	uint64_t seed, first, count;
	const char *base;
	const char *chip, *vnand, *mtd;
	const char *type, *source, *module, *name;
	const char *options, *always, *faults;
	unsigned int operations;
	uint32_t tags_at;
	bool leaks;
};

/* Returns the program's exit status: 0, or 1 if there was a finding. */
int run(const struct run_options *options);

#endif
