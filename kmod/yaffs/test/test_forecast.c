// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long the collector will take: the published sum, means that follow what is measured,
 * and errors in their places.
 */

#include "harness.h"
#include "../policy/forecast.h"

static const struct yaffs_prices PRICES = {
	.read_ns = 100, .program_ns = 300, .erase_ns = 2000, .map_ns = 7,
};

static void test_the_sum(void)
{
	static const struct { struct yaffs_work work; u64 flash, all; } cases[] = {
		{ { 0, 0, 0 }, 0, 0 },
		{ { 1, 0, 0 }, 400, 407 },
		{ { 5, 0, 0 }, 2000, 2035 },
		{ { 0, 0, 1 }, 2000, 2000 },
		{ { 0, 1, 0 }, 300, 300 },
		{ { 62, 1, 1 }, 62 * 400 + 300 + 2000, 62 * 407 + 300 + 2000 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		check(yaffs_forecast_flash(&PRICES, &cases[i].work) ==
		      cases[i].flash, "flash of %u", i);
		check(yaffs_forecast(&PRICES, &cases[i].work) == cases[i].all,
		      "forecast of %u", i);
	}
}

/* A copy is 407, an erase 2,000. */
static void test_what_fits(void)
{
	static const struct {
		u64 ns;
		u32 steps, live;	/* the whole block: live pages, and its erase */
		u32 copies, erases;
	} cases[] = {
		{ 406, 9, 5, 0, 0 }, { 407, 9, 5, 1, 0 }, { 813, 9, 5, 1, 0 },
		{ 814, 9, 5, 2, 0 }, { 5 * 407, 9, 5, 5, 0 },
		{ 5 * 407 + 1999, 9, 5, 5, 0 }, { 5 * 407 + 2000, 9, 5, 5, 1 },
		{ 1000000, 6, 5, 5, 1 }, { 1000000, 5, 5, 5, 0 },
		{ 1999, 1, 0, 0, 0 }, { 2000, 1, 0, 0, 1 }, { 2000, 0, 0, 0, 0 },
		{ 3000, 9, 8, 7, 0 },
	};
	struct yaffs_work work;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		work = (struct yaffs_work){ cases[i].live, 0, 1 };
		yaffs_forecast_fit(&PRICES, cases[i].ns, cases[i].steps, &work);
		check(work.copies == cases[i].copies &&
		      work.erases == cases[i].erases, "fit %u: %u copies, %u",
		      i, work.copies, work.erases);
	}
	/* No erase is made of none. */
	work = (struct yaffs_work){ 2, 0, 0 };
	yaffs_forecast_fit(&PRICES, 1000000, 9, &work);
	check(work.copies == 2 && !work.erases, "a part of a block");
}

/* The first is to find out. */
static void test_what_fits_without_prices(void)
{
	static const struct yaffs_prices unknown[] = {
		{ 0 }, { .read_ns = 100 }, { .program_ns = 300 },
	};
	struct yaffs_work work;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(unknown); i++) {
		work = (struct yaffs_work){ 5, 0, 1 };
		yaffs_forecast_fit(&unknown[i], 1, 9, &work);
		check(work.copies == 1 && !work.erases, "one of %u", i);
		work = (struct yaffs_work){ 0, 0, 1 };
		yaffs_forecast_fit(&unknown[i], 1, 9, &work);
		check(!work.copies && work.erases == 1, "an erase of %u", i);
	}
}

static void test_more_than_32_bits(void)
{
	struct yaffs_prices dear = { .read_ns = 3u << 30, .erase_ns = 1 };
	struct yaffs_work work = { .copies = 5, .erases = 1 };

	check(yaffs_forecast(&dear, &work) == 5 * (3ull << 30) + 1,
	      "seconds for a page");
}

static void test_a_mean_follows(void)
{
	u64 mean = 0;
	u32 i;

	yaffs_price_learn(&mean, 800);
	check(mean == 800, "the first is taken as it is: %llu",
	      (unsigned long long)mean);
	yaffs_price_learn(&mean, 1600);
	check(mean == 900, "up by an eighth: %llu", (unsigned long long)mean);
	yaffs_price_learn(&mean, 100);
	check(mean == 800, "down by an eighth: %llu", (unsigned long long)mean);
	for (i = 0; i < 100; i++)
		yaffs_price_learn(&mean, 5000);
	check(mean > 4990 && mean <= 5000, "it arrives: %llu",
	      (unsigned long long)mean);
}

static void test_what_is_not_flash_is_of_the_copies(void)
{
	struct yaffs_prices p = { .read_ns = 100, .program_ns = 300,
				  .erase_ns = 2000 };
	struct yaffs_work work = { .copies = 10, .erases = 1 }, none = { .erases = 1 };

	yaffs_forecast_learn(&p, &work, 6000 + 70);
	check(p.map_ns == 7, "map: %llu", (unsigned long long)p.map_ns);
	yaffs_forecast_learn(&p, &work, 5000);
	check(p.map_ns == 7, "a run faster than its flash says nothing");
	p.map_ns = 800;
	yaffs_forecast_learn(&p, &work, 6000);
	check(p.map_ns == 800, "nor does one as fast");
	yaffs_forecast_learn(&p, &none, 9000);
	check(p.map_ns == 800, "nor does one without a copy");
}

static struct yaffs_errors errors;

static void test_errors(void)
{
	u32 i;

	check(yaffs_errors_quantile(&errors, 990) == 0, "none yet");
	for (i = 0; i < 98; i++)
		yaffs_errors_add(&errors, 1000, 1000);
	yaffs_errors_add(&errors, 1050, 1000);
	check(errors.permille == 50 && errors.histogram[50] == 1, "too long");
	yaffs_errors_add(&errors, 900, 1000);
	check(errors.permille == 150 && errors.histogram[100] == 1, "too short");
	check(errors.runs == 100 && errors.histogram[0] == 98, "all of them");
	check(yaffs_errors_quantile(&errors, 980) == 0, "98 of 100");
	check(yaffs_errors_quantile(&errors, 990) == 50, "99 of 100");
	check(yaffs_errors_quantile(&errors, 991) == 100, "and one more");
	yaffs_errors_add(&errors, 5000, 1000);
	check(errors.histogram[YAFFS_ERROR_STEPS] == 1, "off by more than all");
	yaffs_errors_add(&errors, 1, 0);
	yaffs_errors_add(&errors, 0, 0);
	check(errors.histogram[YAFFS_ERROR_STEPS] == 3, "of nothing");
	check(yaffs_errors_quantile(&errors, 1000) == YAFFS_ERROR_STEPS, "all");
}

static void test_the_last_of_many(void)
{
	static struct yaffs_errors many = {
		.runs = 10000, .histogram = { [0] = 9995, [50] = 5 },
	};

	check(yaffs_errors_quantile(&many, 1000) == 50, "all of 10,000");
}

int main(void)
{
	test_the_sum();
	test_what_fits();
	test_what_fits_without_prices();
	test_more_than_32_bits();
	test_a_mean_follows();
	test_what_is_not_flash_is_of_the_copies();
	test_errors();
	test_the_last_of_many();
	return report("test_forecast");
}
