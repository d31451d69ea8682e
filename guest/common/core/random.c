// SPDX-License-Identifier: GPL-2.0-only
/*
 * random.c - xoshiro256** seeded by SplitMix64; see random.h.
 */
#include "core/random.h"

uint64_t rng_mix(uint64_t value)
{
	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
	value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
	return value ^ (value >> 31);
}

void rng_seed(struct rng *rng, uint64_t seed)
{
	int i;

	for (i = 0; i < 4; i++) {
		seed += 0x9e3779b97f4a7c15u;
		rng->state[i] = rng_mix(seed);
	}
}

static uint64_t rotate_left(uint64_t value, int bits)
{
	return value << bits | value >> (64 - bits);
}

uint64_t rng_next(struct rng *rng)
{
	uint64_t *s = rng->state;
	uint64_t result = rotate_left(s[1] * 5, 7) * 9;
	uint64_t shifted = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= shifted;
	s[3] = rotate_left(s[3], 45);
	return result;
}

uint64_t rng_below(struct rng *rng, uint64_t bound)
{
	/* The lowest 2^64 mod bound values would be over-represented. */
	uint64_t reject_below = (0 - bound) % bound;
	uint64_t value;

	do
		value = rng_next(rng);
	while (value < reject_below);
	return value % bound;
}

uint64_t rng_between(struct rng *rng, uint64_t low, uint64_t high)
{
	if (high - low == UINT64_MAX)
		return rng_next(rng);
	return low + rng_below(rng, high - low + 1);
}

void rng_fill(struct rng *rng, void *buffer, size_t bytes)
{
	unsigned char *out = buffer;
	uint64_t word = 0;
	size_t i;

	for (i = 0; i < bytes; i++) {
		if (i % 8 == 0)
			word = rng_next(rng);
		out[i] = (unsigned char)(word >> (i % 8 * 8));
	}
}
