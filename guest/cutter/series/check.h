/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * check.h - whether what is there after a power cut is what may be there.
 */
#ifndef FFSCRASH_CHECK_H
#define FFSCRASH_CHECK_H

#include "series/slots.h"
#include "text/text.h"

/* Names that are nobody's; no more than so many are told of. */
#define STRAYS_MAX 16

struct checker {
	char stray[STRAYS_MAX][256];
	size_t strays;
	const char *own_name;	/* a directory that the file system makes, or NULL */
	bool two_names;		/* renaming may leave both */
};

/* The power cut after which it is checked. */
struct cut_made {
	uint64_t cycle;
	uint64_t operations;	/* so many were done */
	bool torn;		/* the page of the next one is not whole */
	bool reordered;		/* and of what was in it any part may be there */
};

/**
 * slots_check() - look at all names below @root; what is there is ->now then.
 * @out: gets a line "wrong CYCLE OUTCOME NAME" for each that is not as it may be;
 *	 the words are those of the explorer's outcomes.
 *
 * What is weaker here than in the explorer's oracle: between
 * what was and what a call makes, contents may be divided in any way, whatever
 * the file system.  Return: how many are wrong.
 */
unsigned int slots_check(struct slots *slots, struct checker *checker, int root,
			 const struct cut_made *cut, struct text *out);

#endif
