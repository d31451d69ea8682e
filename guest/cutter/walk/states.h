/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * states.h - which states of the flash are walked through: one line each.
 *
 *	K KIND VARIANT
 *	K KIND VARIANT K2 KIND2 VARIANT2
 *
 * and behind either "fill", if using it shall fill it until it is full.
 *
 * The second is a power cut in the recovery from the first: K2 is the number of
 * an operation of the recovery's own log, "*" for all of them, or "N+" for those
 * from N on.
 */
#ifndef FFSCRASH_STATES_H
#define FFSCRASH_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

#define KIND_BYTES 32

struct cut_point {
	uint64_t operation;
	char kind[KIND_BYTES];
	uint64_t variant;
};

struct state_line {
	struct cut_point cut;
	struct cut_point second;	/* if ->deeper */
	bool deeper;
	bool onwards;		/* all operations from that of ->second on */
	bool fill;
};

struct states {
	struct state_line *lines;
	size_t n;
};

/**
 * states_parse() - the lines of @text, which is cut into words.
 *
 * Return: 0, or -1 with @error, which names the line (from 0).
 */
int states_parse(struct states *states, char *text, struct ffs_error *error);
void states_free(struct states *states);

#endif
