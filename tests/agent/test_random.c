// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_random.c - the generators against published values, and uniformity.
 */
#include <string.h>

#include "core/random.h"
#include "harness.h"

/* SplitMix64 from seed 1234567, and xoshiro256** from state 1, 2, 3, 4. */
static void known_answers(void)
{
	static const uint64_t splitmix[] = {
		6457827717110365317u, 3203168211198807973u,
		9817491932198370423u, 4593380528125082431u,
	};
	static const uint64_t xoshiro[] = {
		11520u, 0u, 1509978240u, 1215971899390074240u,
		1216172134540287360u, 607988272756665600u,
		16172922978634559625u, 8476171486693032832u,
	};
	struct rng rng;
	size_t i;

	rng_seed(&rng, 1234567);
	for (i = 0; i < 4; i++)
		CHECK(rng.state[i] == splitmix[i]);
	for (i = 0; i < 4; i++)
		rng.state[i] = i + 1;
	for (i = 0; i < sizeof(xoshiro) / sizeof(xoshiro[0]); i++)
		CHECK(rng_next(&rng) == xoshiro[i]);
}

/* 9 degrees of freedom: chi-square above 27.9 has a chance of 0.1 %. */
static void uniform(void)
{
	enum { DRAWS = 100000, BINS = 10 };
	unsigned int bins[BINS] = { 0 };
	double chi = 0, mean = DRAWS / BINS;
	struct rng rng;
	bool inside = true;
	int i;

	rng_seed(&rng, 3);
	for (i = 0; i < DRAWS; i++) {
		uint64_t value = rng_between(&rng, 100, 109);

		inside &= value >= 100 && value <= 109;
		bins[value % BINS]++;
	}
	CHECK(inside);
	for (i = 0; i < BINS; i++)
		chi += (bins[i] - mean) * (bins[i] - mean) / mean;
	CHECKF(chi < 27.9, "chi-square is %f", chi);
}

static void bounds(void)
{
	bool low_seen = false, high_seen = false, inside = true;
	struct rng rng;
	int i;

	rng_seed(&rng, 4);
	CHECK(rng_below(&rng, 1) == 0);
	CHECK(rng_between(&rng, 7, 7) == 7);
	for (i = 0; i < 100000; i++) {
		uint64_t value = rng_between(&rng, 512, 1023);

		inside &= value >= 512 && value <= 1023;
		low_seen |= value == 512;
		high_seen |= value == 1023;
	}
	CHECK(inside && low_seen && high_seen);
	/* A bound above 2^63 would show modulo bias at once. */
	for (i = 0; i < 1000; i++)
		inside &= rng_below(&rng, 3ull << 62) < 3ull << 62;
	rng_between(&rng, 0, UINT64_MAX);
	CHECK(inside);
}

static void repeatable(void)
{
	unsigned char a[1001], b[1001];
	struct rng rng;

	rng_seed(&rng, 5);
	rng_fill(&rng, a, sizeof(a));
	rng_seed(&rng, 5);
	rng_fill(&rng, b, sizeof(b));
	CHECK(!memcmp(a, b, sizeof(a)));
	rng_seed(&rng, 6);
	rng_fill(&rng, b, sizeof(b));
	CHECK(memcmp(a, b, sizeof(a)));
}

void test_random(void)
{
	known_answers();
	uniform();
	bounds();
	repeatable();
}
