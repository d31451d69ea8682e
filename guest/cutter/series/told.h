/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * told.h - what all that makes calls in a series notes and tells alike.
 */
#ifndef FFSCRASH_TOLD_H
#define FFSCRASH_TOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "chip/chip.h"
#include "core/error.h"
#include "text/text.h"

/* The first call that failed between two cuts. */
struct failure {
	const char *name;	/* "" if none did */
	int errnum;
};

/** failure_note() - of several the first stays. */
void failure_note(struct failure *failure, const char *name, int errnum);

/** chip_logged() - so many operations. Return: 0, or -1 with @error: also of a full log. */
int chip_logged(const struct chip *chip, uint64_t *operations,
		struct ffs_error *error);

/* Words of a line: " KEY=NUMBER", and " KEY=-" if there is none. */
void put_number(struct text *out, const char *key, bool there, uint64_t number);

#endif
