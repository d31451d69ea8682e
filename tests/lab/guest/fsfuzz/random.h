/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Seeded random numbers (splitmix64): the same everywhere, so that a seed and a
 * number name a mutation for good.
 */
#ifndef FSFUZZ_RANDOM_H
#define FSFUZZ_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
	uint64_t state;
};

static inline uint64_t rng_next(struct rng *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* A generator for each @number of each @seed, and for each @purpose of its own. */
static inline struct rng rng_for(uint64_t seed, uint64_t number,
				 uint64_t purpose)
{
	struct rng r = { seed };

	r.state = rng_next(&r) ^ number;
	r.state = rng_next(&r) ^ purpose;
	rng_next(&r);
	return r;
}

/* 0 to @n - 1; 0 if @n is 0. */
static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
	return n ? (uint32_t)((rng_next(r) >> 32) % n) : 0;
}

static inline bool rng_chance(struct rng *r, uint32_t percent)
{
	return rng_below(r, 100) < percent;
}

#endif
