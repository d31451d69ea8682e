// SPDX-License-Identifier: GPL-2.0-only
/*
 * told.c - see told.h.
 */
#include <errno.h>

#include "series/told.h"

int chip_logged(const struct chip *chip, uint64_t *operations,
		struct ffs_error *error)
{
	struct chip_state state;

	if (chip_read(chip, &state, error))
		return -1;
	if (state.full)
		return ffs_fail(error, ENOMEM, "the chip's log is full");
	*operations = state.operations;
	return 0;
}

void failure_note(struct failure *failure, const char *name, int errnum)
{
	if (*failure->name)
		return;
	failure->name = name;
	failure->errnum = errnum;
}

void put_number(struct text *out, const char *key, bool there, uint64_t number)
{
	text_add(out, " ", 1);
	text_string(out, key);
	text_add(out, "=", 1);
	if (there)
		text_number(out, number);
	else
		text_add(out, "-", 1);
}
