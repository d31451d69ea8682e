// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz_main.c - a small mutation driver: fuzz_X ITERATIONS SEED.
 *
 * Every iteration starts from a seed input and changes it a few times: bits,
 * bytes, blocks deleted or doubled, words of the language inserted.  Iteration
 * n depends on (SEED, n) only, so a failure is replayed by its number:
 * fuzz_X 1 SEED n.  A failure is an abort, from a sanitizer or an assertion.
 * Limit: no coverage feedback; the word lists have to make up for it.
 */
#include <string.h>

#include "../replay.h"
#include "core/random.h"
#include "fuzz.h"

#define INPUT_MAX 4096

static size_t insert(uint8_t *data, size_t size, size_t at, const void *what,
		     size_t length)
{
	if (size + length > INPUT_MAX)
		return size;
	memmove(data + at + length, data + at, size - at);
	memcpy(data + at, what, length);
	return size + length;
}

static size_t mutate(struct rng *rng, uint8_t *data, size_t size,
		     size_t n_words)
{
	size_t at = (size_t)rng_below(rng, size + 1);
	size_t length = (size_t)rng_below(rng, size - at + 1);
	const char *word = fuzz_words[rng_below(rng, n_words)];
	uint8_t byte = (uint8_t)rng_next(rng), copy[INPUT_MAX];

	switch (rng_below(rng, 6)) {
	case 0:
		if (at < size)
			data[at] ^= (uint8_t)(1u << (byte & 7));
		return size;
	case 1:
		if (at < size)
			data[at] = byte;
		return size;
	case 2:
		memmove(data + at, data + at + length, size - at - length);
		return size - length;
	case 3:
		memcpy(copy, data + at, length);
		return insert(data, size, at, copy, length);
	case 4:
		return insert(data, size, at, &byte, 1);
	default:
		return insert(data, size, at, word, strlen(word));
	}
}

static void one(size_t n_seeds, size_t n_words)
{
	uint8_t data[INPUT_MAX], *exact;
	const char *seed;
	struct rng rng;
	size_t size, n;

	rng_seed(&rng, replay.seed + rng_mix(replay.run));
	seed = fuzz_seeds[rng_below(&rng, n_seeds)];
	size = strlen(seed);
	memcpy(data, seed, size);
	for (n = (size_t)rng_below(&rng, 12); n; n--)
		size = mutate(&rng, data, size, n_words);
	/* Exactly as large as the input, so that overreads are caught. */
	exact = malloc(size ? size : 1);
	if (!exact)
		abort();
	memcpy(exact, data, size);
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
}

static size_t length(const char *const *list)
{
	size_t n = 0;

	while (list[n])
		n++;
	return n;
}

int main(int argc, char **argv)
{
	uint64_t iterations;

	if (argc < 3) {
		fprintf(stderr, "usage: %s ITERATIONS SEED [FIRST]\n", argv[0]);
		return 2;
	}
	replay_begin(argv[0], argc, argv, 0);
	iterations = replay.end - replay.run;
	for (; replay.run < replay.end; replay.run++)
		one(length(fuzz_seeds), length(fuzz_words));
	printf("%llu inputs, seed %llu: no failure\n",
	       (unsigned long long)iterations, replay.seed);
	printf("1 passed, 0 failed\n");
	return 0;
}
