/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * digests.h - a set of digests, numbered as they come; of texts that are printed once,
 * and of flashes that are visited once.
 */
#ifndef FFSCRASH_DIGESTS_H
#define FFSCRASH_DIGESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text/text.h"

#define DIGEST_DIGITS 16

struct digest_slot {
	uint64_t digest;	/* 0: an empty one */
	size_t number;
};

struct digests {
	struct digest_slot *slots;
	size_t n, room;		/* a power of two, or 0 */
};

void digests_free(struct digests *digests);

/**
 * digests_number() - the number of a digest, from 0; a new one gets the next.
 *
 * Without memory it counts as new.
 */
size_t digests_number(struct digests *digests, uint64_t digest, bool *is_new);

/**
 * digests_put() - print @text to @out if it was not printed before, between
 * "text DIGEST" and "end".
 *
 * Without memory it may be printed again.  Return: the digest.
 */
uint64_t digests_put(struct digests *digests, const struct text *text,
		     struct text *out);

#endif
