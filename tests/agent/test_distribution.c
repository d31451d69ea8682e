// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_distribution.c - what distributions draw, and which texts are refused.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "workloads/tree/distribution.h"

#define DRAWS 200000

static struct distribution parsed(const char *text)
{
	struct distribution distribution = { 0 };
	struct ffs_error error;
	int result = distribution_parse(&distribution, "files", text, &error);

	CHECKF(!result, "%s: %s", text, result ? error.message : "");
	return distribution;
}

struct moments {
	double mean, sd;
	uint64_t low, high;
	int zeros;
};

static struct moments moments_of(const char *text)
{
	struct distribution distribution = parsed(text);
	struct moments m = { .low = UINT64_MAX };
	double sum = 0, squares = 0;
	struct rng rng;
	int i;

	rng_seed(&rng, 7);
	for (i = 0; i < DRAWS; i++) {
		uint64_t value = distribution_draw(&distribution, &rng);

		sum += (double)value;
		squares += (double)value * (double)value;
		m.zeros += !value;
		m.low = value < m.low ? value : m.low;
		m.high = value > m.high ? value : m.high;
	}
	m.mean = sum / DRAWS;
	m.sd = sqrt(squares / DRAWS - m.mean * m.mean);
	return m;
}

static void constant(void)
{
	struct moments m = moments_of("constant(750)");

	CHECK(m.low == 750 && m.high == 750);
	/* To the nearest; a half goes up. */
	CHECK(moments_of("constant(4.95)").low == 5);
	CHECK(moments_of("constant(4.499)").low == 4);
	CHECK(moments_of("constant(0.5)").low == 1);
	CHECK(moments_of("constant(0)").high == 0);
	CHECK(moments_of("constant(2147483648)").high == DISTRIBUTION_MAX);
}

static void uniform(void)
{
	struct distribution distribution = parsed("uniform(3,7)");
	unsigned int seen[5] = { 0 };
	struct moments m;
	struct rng rng;
	int i;

	rng_seed(&rng, 3);
	for (i = 0; i < DRAWS; i++) {
		uint64_t value = distribution_draw(&distribution, &rng);

		if (CHECK(value >= 3 && value <= 7))
			seen[value - 3]++;
	}
	/* 40,000 expected; five standard deviations are 895. */
	for (i = 0; i < 5; i++)
		CHECKF(seen[i] > 39105 && seen[i] < 40895, "%u of %d", seen[i],
		       i + 3);
	m = moments_of("uniform(512,10240)");
	CHECKF(fabs(m.mean - 5376) < 5 * 2808.5 / sqrt(DRAWS), "%f", m.mean);
	CHECKF(fabs(m.sd - 2808.5) < 20, "%f", m.sd);
	CHECK(m.low >= 512 && m.low < 520 && m.high <= 10240 && m.high > 10230);
	/* Thousandths, rounded after: 0 and 3 get half of what 1 and 2 get. */
	m = moments_of("uniform(0.001,2.999)");
	CHECK(m.low == 0 && m.high == 3);
	CHECKF(fabs(m.mean - 1.5) < 0.02, "%f", m.mean);
	CHECKF(fabs(m.sd * m.sd - (1.0 / 3 * 0.25 + 1.0 / 6 * 2.25) * 2) < 0.02,
	       "%f", m.sd * m.sd);
	/* One of the ends is enough: 0 to 499 and so on of 0 to 2,500. */
	m = moments_of("uniform(0,2.5)");
	CHECKF(fabs(m.mean - (1000 + 2 * 1000 + 3) / 2501.0) < 0.01, "%f",
	       m.mean);
	m = moments_of("uniform(0.5,3)");
	CHECKF(fabs(m.mean - (1000 + 2 * 1000 + 3 * 501) / 2501.0) < 0.01, "%f",
	       m.mean);
	CHECK(moments_of("uniform(9,9)").high == 9);
}

/* The share of normal draws below so many standard deviations. */
static double expected_below(double deviations)
{
	return 0.5 * erfc(-deviations / sqrt(2));
}

/* Kolmogorov's distance to the normal law; moments up to the fourth. */
static void normal_law(void)
{
	static unsigned int below[401];	/* -4 to 4 by 0.02 */
	double sums[5] = { 0 }, worst = 0;
	struct rng rng;
	int i, k;

	rng_seed(&rng, 99);
	for (i = 0; i < DRAWS; i++) {
		double z = (double)normal_draw(&rng) / (1 << 28), power = 1;

		for (k = 1; k <= 4; k++)
			sums[k] += power *= z;
		k = (int)ceil((z + 4) / 0.02);
		if (k <= 400)
			below[k < 0 ? 0 : k]++;
	}
	for (i = 0, k = 0; i <= 400; i++) {
		double off;

		k += (int)below[i];
		off = fabs((double)k / DRAWS - expected_below(i * 0.02 - 4));
		worst = off > worst ? off : worst;
	}
	/* 1.95 / sqrt(n) is passed by chance once in a thousand times. */
	CHECKF(worst < 1.95 / sqrt(DRAWS), "distance %f", worst);
	CHECKF(fabs(sums[1] / DRAWS) < 5 / sqrt(DRAWS), "%f", sums[1]);
	CHECKF(fabs(sums[2] / DRAWS - 1) < 5 * sqrt(2.0 / DRAWS), "%f",
	       sums[2]);
	CHECKF(fabs(sums[3] / DRAWS) < 5 * sqrt(15.0 / DRAWS), "%f", sums[3]);
	CHECKF(fabs(sums[4] / DRAWS - 3) < 5 * sqrt(96.0 / DRAWS), "%f",
	       sums[4]);
}

/* The same draws by floating point: the integers lose no digit that matters. */
static void normal_precision(void)
{
	struct rng rng, again;
	double worst = 0;
	int i;

	rng_seed(&rng, 5);
	again = rng;
	for (i = 0; i < DRAWS; i++) {
		double z = (double)normal_draw(&rng) / (1 << 28), x, y, s;

		do {
			uint64_t bits = rng_next(&again);

			x = (double)(bits >> 32) / 2147483648.0 - 1;
			y = (double)(bits & 0xffffffff) / 2147483648.0 - 1;
			s = x * x + y * y;
		} while (s >= 1 || s == 0);
		x *= sqrt(-2 * log(s) / s);
		worst = fabs(x - z) > worst ? fabs(x - z) : worst;
	}
	CHECKF(worst < 1e-6, "off by %g", worst);
}

static void normal(void)
{
	struct moments m = moments_of("normal(1024,64)");
	double half;

	normal_law();
	normal_precision();
	CHECKF(fabs(m.mean - 1024) < 5 * 64 / sqrt(DRAWS), "%f", m.mean);
	CHECKF(fabs(m.sd - 64) < 5 * 64 / sqrt(2.0 * DRAWS), "%f", m.sd);
	CHECK(m.low > 650 && m.low < 800 && m.high > 1250 && m.high < 1400);
	CHECK(moments_of("normal(5,0)").low == 5);
	CHECK(moments_of("normal(5,0)").high == 5);
	/* Cut at 0: half of the draws; the others' mean is known. */
	m = moments_of("normal(0,1000)");
	half = 1000 / sqrt(2 * 3.14159265358979);
	CHECKF(abs(m.zeros - DRAWS / 2) < 1500, "%d", m.zeros);
	CHECKF(fabs(m.mean - half) < 10, "%f", m.mean);
	CHECK(moments_of("normal(2000000000,2000000000)").high ==
	      DISTRIBUTION_MAX);
	m = moments_of("normal(1000000000.5,100000000.25)");
	CHECKF(fabs(m.mean - 1e9) < 5 * 1e8 / sqrt(DRAWS), "%f", m.mean);
	CHECKF(fabs(m.sd - 1e8) < 5 * 1e8 / sqrt(2.0 * DRAWS), "%f", m.sd);
}

/* The same on every machine: computed once by an independent program. */
static void known_draws(void)
{
	static const uint64_t wanted[] = {
		1034, 1035, 1029, 986, 1126, 952, 976, 973, 1066, 1043,
		1088, 1092, 1021, 1004, 1024, 1091,
	};
	struct distribution distribution = parsed("normal(1024,64)");
	struct rng rng;
	size_t i;

	rng_seed(&rng, 1);
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		uint64_t value = distribution_draw(&distribution, &rng);

		CHECKF(value == wanted[i], "draw %zu is %llu", i,
		       (unsigned long long)value);
	}
}

/* So are these, to the last bit: a few, and the FNV-1a sum of many. */
static void known_normals(void)
{
	static const int64_t wanted[] = {
		41873308, 44285634, 19423956, -157376527, 429532021, -300676943,
	};
	uint64_t sum = 0xcbf29ce484222325;
	struct rng rng;
	size_t i;

	rng_seed(&rng, 1);
	for (i = 0; i < DRAWS; i++) {
		int64_t value = normal_draw(&rng);

		if (i < sizeof(wanted) / sizeof(wanted[0]))
			CHECKF(value == wanted[i], "draw %zu is %lld", i,
			       (long long)value);
		sum = (sum ^ (uint64_t)value) * 0x100000001b3;
	}
	CHECKF(sum == 0xb3e0aff0aa1eae0b, "sum %llx",
	       (unsigned long long)sum);
}

/* What comes after the reason: the form, and an example that is accepted. */
static void advised(void)
{
	static const char *const advice[][2] = {
		{ "constant(", "it is constant(N), for example constant(4)" },
		{ "uniform(", "it is uniform(LOW,HIGH), for example uniform(1,6)" },
		{ "normal(", "it is normal(MEAN,SD), for example normal(4,1.5)" },
	};
	struct distribution distribution;
	struct ffs_error error;
	size_t i;

	for (i = 0; i < sizeof(advice) / sizeof(advice[0]); i++) {
		CHECK(distribution_parse(&distribution, "size", advice[i][0],
					 &error));
		CHECKF(strstr(error.message, advice[i][1]) &&
		       !strcmp(strstr(error.message, advice[i][1]),
			       advice[i][1]), "%s", error.message);
		CHECK(error.errnum == 0);
		parsed(strrchr(advice[i][1], ' ') + 1);
	}
	CHECK(distribution_parse(&distribution, "size", "gauss(1)", &error) &&
	      error.errnum == 0);
}

static void refused(void)
{
	static const struct {
		const char *text, *message;
	} wrong[] = {
		{ "", "is no distribution" },
		{ "4", "is no distribution" },
		{ "constant", "is no distribution" },
		{ "gauss(4,1)", "is no distribution" },
		{ "Normal(4,1)", "is no distribution" },
		{ "constant(", "a number is missing" },
		{ "constant()", "a number is missing" },
		{ "constant(4", "it must end with ')'" },
		{ "constant(4) ", "it must end with ')'" },
		{ "constant(4x)", "it must end with ')'" },
		{ "constant(4,1)", "too many numbers" },
		{ "constant(-4)", "below 0" },
		{ "constant(+4)", "a number is missing" },
		{ "constant(4.)", "digits are missing" },
		{ "constant(.5)", "a number is missing" },
		{ "constant(1.0001)", "more than three decimals" },
		{ "constant(2147483649)", "above 2147483648" },
		{ "constant(2147483648.001)", "above 2147483648" },
		{ "constant(99999999999999999999999)", "above 2147483648" },
		{ "uniform(3)", "two numbers" },
		{ "uniform(3, 4)", "a number is missing" },
		{ "uniform(4,3)", "LOW is above HIGH" },
		{ "uniform(1,2,3)", "too many numbers" },
		{ "normal(4)", "two numbers" },
		{ "normal(4,-1)", "below 0" },
		{ "normal(4;1)", "two numbers" },
	};
	struct distribution distribution;
	struct ffs_error error;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		int result = distribution_parse(&distribution, "files",
						wrong[i].text, &error);

		CHECKF(result && strstr(error.message, wrong[i].message) &&
		       !strncmp(error.message, "files=", 6), "%s: %s",
		       wrong[i].text, result ? error.message : "accepted");
	}
}

void test_distribution(void)
{
	constant();
	uniform();
	normal();
	known_draws();
	known_normals();
	refused();
	advised();
}
