/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * random.h - seeded random numbers, the same on every machine.
 *
 * The generator is xoshiro256** (Blackman and Vigna, "Scrambled linear
 * pseudorandom number generators", ACM TOMS 47(4), 2021), its state filled by
 * SplitMix64 from a 64-bit seed.  The C library's generators are not used:
 * they differ between libraries, and a seed must mean the same run anywhere.
 */
#ifndef FFSAGENT_RANDOM_H
#define FFSAGENT_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct rng {
	uint64_t state[4];
};

/** rng_mix() - SplitMix64's output function: spreads a number over 64 bits. */
uint64_t rng_mix(uint64_t value);

/** rng_seed() - start the sequence that belongs to @seed. */
void rng_seed(struct rng *rng, uint64_t seed);

/** rng_next() - the next 64 random bits. */
uint64_t rng_next(struct rng *rng);

/** rng_below() - uniform in [0, @bound), without modulo bias; @bound > 0. */
uint64_t rng_below(struct rng *rng, uint64_t bound);

/** rng_between() - uniform in [@low, @high], both included. */
uint64_t rng_between(struct rng *rng, uint64_t low, uint64_t high);

/** rng_fill() - fill a buffer with random bytes, little-endian. */
void rng_fill(struct rng *rng, void *buffer, size_t bytes);

#endif
