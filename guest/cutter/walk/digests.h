/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * digests.h - texts that are printed once: a set of their digests.
 */
#ifndef FFSCRASH_DIGESTS_H
#define FFSCRASH_DIGESTS_H

#include <stddef.h>
#include <stdint.h>

#include "text/text.h"

#define DIGEST_DIGITS 16

struct digests {
	uint64_t *slots;	/* 0 is an empty one */
	size_t n, room;		/* a power of two, or 0 */
};

void digests_free(struct digests *digests);

/**
 * digests_put() - print @text to @out if it was not printed before, between
 * "text DIGEST" and "end".
 *
 * Without memory it may be printed again.  Return: the digest.
 */
uint64_t digests_put(struct digests *digests, const struct text *text,
		     struct text *out);

#endif
