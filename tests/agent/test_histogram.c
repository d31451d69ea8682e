// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_histogram.c - the error bound and the format of core/histogram.h.
 */
#include <stdlib.h>
#include <string.h>

#include "core/histogram.h"
#include "core/random.h"
#include "harness.h"

/* The promise: the mid-point is within 1/256 of every value of the bucket. */
static bool bucket_is_good(uint64_t value)
{
	unsigned int index = histogram_index(value);
	uint64_t low = histogram_low(index);
	uint64_t middle = histogram_middle(index);
	uint64_t distance = middle > value ? middle - value : value - middle;

	if (index >= HISTOGRAM_BUCKETS || low > value)
		return false;
	if (index + 1 < HISTOGRAM_BUCKETS && histogram_low(index + 1) <= value)
		return false;
	return distance <= value / 256;
}

static void error_bound(void)
{
	struct rng rng;
	uint64_t value;
	bool good = true;
	int i;

	for (value = 0; value < 1 << 21 && good; value++)
		good = bucket_is_good(value);
	CHECKF(good, "bucket of %llu", (unsigned long long)value - 1);
	rng_seed(&rng, 1);
	for (i = 0; i < 1000000 && good; i++) {
		value = rng_next(&rng) >> rng_below(&rng, 64);
		good = bucket_is_good(value);
	}
	CHECKF(good, "bucket of %llu", (unsigned long long)value);
	for (i = 0; i < 64 && good; i++) {
		value = (uint64_t)1 << i;
		good = bucket_is_good(value) && bucket_is_good(value - 1) &&
		       bucket_is_good(value + 1);
	}
	CHECKF(good, "around 2^%d", i - 1);
	CHECK(bucket_is_good(UINT64_MAX));
}

/* Fixed points of the format: a change of them breaks stored results. */
static void format(void)
{
	CHECK(histogram_index(0) == 0);
	CHECK(histogram_index(127) == 127);
	CHECK(histogram_index(128) == 128);
	CHECK(histogram_index(255) == 255);
	CHECK(histogram_index(256) == 256);
	CHECK(histogram_index(257) == 256);
	CHECK(histogram_index(258) == 257);
	CHECK(histogram_index(1000000) == 1780);
	CHECK(histogram_index(UINT64_MAX) == HISTOGRAM_BUCKETS - 1);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void quantiles(void)
{
	enum { N = 20000 };
	static const unsigned int wanted[] = { 0, 1, 500, 900, 990, 999, 1000 };
	static struct histogram h, half, other;
	static uint64_t values[N];
	struct rng rng;
	size_t i;

	rng_seed(&rng, 2);
	histogram_reset(&h);
	histogram_reset(&half);
	histogram_reset(&other);
	CHECK(histogram_quantile(&h, 500) == 0);
	for (i = 0; i < N; i++) {
		values[i] = rng_next(&rng) >> (34 + rng_below(&rng, 20));
		histogram_add(&h, values[i]);
		histogram_add(i % 2 ? &half : &other, values[i]);
	}
	qsort(values, N, sizeof(values[0]), compare);
	CHECK(h.min == values[0] && h.max == values[N - 1] && h.count == N);
	histogram_merge(&half, &other);
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		uint64_t got = histogram_quantile(&h, wanted[i]);
		uint64_t rank = ((uint64_t)N * wanted[i] + 999) / 1000;
		uint64_t exact = values[rank ? rank - 1 : 0];
		double error = (double)got - (double)exact;

		CHECKF(error <= 0.01 * (double)exact &&
		       error >= -0.01 * (double)exact, "quantile %u: %llu, not %llu",
		       wanted[i], (unsigned long long)got,
		       (unsigned long long)exact);
		CHECK(histogram_quantile(&half, wanted[i]) == got);
	}
	CHECK(half.sum == h.sum && half.min == h.min && half.max == h.max);
}

/* The middle of a bucket: it starts where the one before ends, and is 2^(e-7) wide. */
static void middles(void)
{
	CHECK(histogram_middle(127) == 127 && histogram_middle(255) == 255);
	CHECK(histogram_middle(256) == 257);	/* 256 and 257 */
	CHECK(histogram_middle(300) == 345);	/* (128 + 44) * 2, and 1 */
	CHECK(histogram_middle(600) == 1732);	/* (128 + 88) * 8, and 4 */
}

/*
 * 1,001 values: 501st, 901st, 991st and 1,000th stand alone, and these are the ranks
 * of 500.5, 900.9, 990.99 and 999.999, rounded up.
 */
static void ranks(void)
{
	static const struct {
		uint64_t value;
		int count;
	} values[] = {
		{ 10, 500 }, { 11, 1 }, { 20, 399 }, { 21, 1 }, { 30, 89 },
		{ 31, 1 }, { 40, 8 }, { 41, 1 }, { 50, 1 },
	};
	static struct histogram h, other;
	size_t i;
	int n;

	memset(&h, 0xee, sizeof(h));
	histogram_reset(&h);
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		for (n = 0; n < values[i].count; n++)
			histogram_add(&h, values[i].value);
	CHECK(h.count == 1001 && h.sum == 16124 && h.min == 10 && h.max == 50);
	CHECK(histogram_quantile(&h, 0) == 10);
	CHECK(histogram_quantile(&h, 500) == 11);
	CHECK(histogram_quantile(&h, 900) == 21);
	CHECK(histogram_quantile(&h, 990) == 31);
	CHECK(histogram_quantile(&h, 999) == 41);
	CHECK(histogram_quantile(&h, 1000) == 50);

	/* Of eleven, 91 in a thousand are 1.001: the second. */
	histogram_reset(&h);
	for (i = 1; i <= 11; i++)
		histogram_add(&h, i);
	CHECK(histogram_quantile(&h, 91) == 2);

	/* Not even of 0 is it less than the first, nor outside of the extremes. */
	histogram_reset(&h);
	histogram_add(&h, 1730);
	histogram_add(&h, 1735);
	CHECK(histogram_quantile(&h, 0) == 1732);
	histogram_reset(&h);
	histogram_add(&h, 1733);
	CHECK(histogram_quantile(&h, 500) == 1733);
	histogram_add(&h, 1729);
	h.max = 1731;
	CHECK(histogram_quantile(&h, 1000) == 1731);

	/* The last bucket, of 2^56 values. */
	histogram_reset(&h);
	histogram_add(&h, 0xff00000000000000);
	histogram_add(&h, UINT64_MAX);
	CHECK(histogram_quantile(&h, 500) == 0xff80000000000000);

	/* The extremes of two may be of either. */
	histogram_reset(&h);
	histogram_reset(&other);
	histogram_add(&h, 5);
	histogram_add(&other, 3);
	histogram_add(&other, 9);
	histogram_merge(&h, &other);
	CHECK(h.min == 3 && h.max == 9 && h.count == 3 && h.sum == 17);
	histogram_reset(&other);
	histogram_add(&other, 7);
	histogram_merge(&h, &other);
	CHECK(h.min == 3 && h.max == 9 && h.count == 4 && h.sum == 24);
}

void test_histogram(void)
{
	error_bound();
	format();
	middles();
	ranks();
	quantiles();
}
