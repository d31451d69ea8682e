// SPDX-License-Identifier: GPL-2.0-only
/*
 * contents.c - see contents.h.
 */
#include "core/random.h"
#include "history/contents.h"

#define GOLDEN_GAMMA 0x9e3779b97f4a7c15u
#define WORD_BYTES 8
#define REPEATED_BYTES 64

void contents_fill(uint64_t seed, uint64_t position, void *buffer, size_t bytes)
{
	uint64_t span = seed & 1 ? WORD_BYTES : REPEATED_BYTES, word = 0;
	unsigned char *out = buffer;
	size_t i;

	for (i = 0; i < bytes; i++, position++) {
		if (!i || position % span == 0)
			word = rng_mix(seed +
				       GOLDEN_GAMMA * (1 + position / span));
		out[i] = (unsigned char)(word >> (8 * (position % WORD_BYTES)));
	}
}
