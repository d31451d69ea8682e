// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unit tests of vnand's pure parts. Expected values come from the C library's
 * floating-point functions, from the definitions, or from a data sheet's sums
 * done by hand; never from an earlier run of the code.
 */

#include <math.h>

#include "../faults.h"
#include "../rules.h"
#include "../timing.h"
#include "../../../tests/c_check.h"

static void test_timing(void)
{
	const struct vnand_params p = {
		.page_bytes = 2048, .oob_bytes = 64, .t_read_ns = 25000,
		.t_prog_ns = 200000, .t_erase_ns = 1500000,
		.t_command_ns = 300, .bus_read_ps = 50000,
		.bus_write_ps = 40000, .ecc_read_ns = 8000, .ecc_write_ns = 4000,
	};
	struct vnand_duration t = vnand_time_read(&p, 2048, 64);

	/* 2112 bytes at 50 ns are 105600 ns. */
	check(t.array_ns == 25000 && t.busy_ns == 300 + 8000 &&
	      t.bus_ns == 105600, "page read: %llu + %llu + %llu ns",
	      (unsigned long long)t.array_ns, (unsigned long long)t.busy_ns,
	      (unsigned long long)t.bus_ns);
	t = vnand_time_read(&p, 512, 0);
	check(t.busy_ns == 300 + 2000 && t.bus_ns == 25600, "sub-page read");
	t = vnand_time_program(&p, 2048, 64);
	check(t.array_ns == 200000 && t.busy_ns == 300 + 4000 &&
	      t.bus_ns == 84480, "page program");
	t = vnand_time_erase(&p);
	check(t.array_ns == 1500000 && t.busy_ns == 300 && !t.bus_ns, "erase");
	check(t.driver_ns == 0, "a driver that costs nothing");
}

static void test_driver(void)
{
	struct vnand_params p = {
		.page_bytes = 2048, .oob_bytes = 64, .t_read_ns = 25000,
		.driver_read_ns = 165000, .driver_program_ns = 185000,
		.driver_erase_ns = 20000,
	};
	struct vnand_duration t = vnand_time_read(&p, 2048, 64);

	check(t.driver_ns == 165000 && t.array_ns == 25000 && !t.busy_ns &&
	      !t.bus_ns,
	      "a page read: the driver's time is its own");
	check(vnand_time_program(&p, 2048, 64).driver_ns == 185000, "program");
	check(vnand_time_erase(&p).driver_ns == 20000, "erase");
	/* 20000 + 145000 * 64 / 2112 = 24393.9 */
	check(vnand_time_read(&p, 0, 64).driver_ns == 24393, "OOB alone");
	/* 20000 + 165000 * 64 / 2112 = 25000 */
	check(vnand_time_program(&p, 0, 64).driver_ns == 25000, "OOB program");
	/* 20000 + 145000 * 512 / 2112 = 55151.5 */
	check(vnand_time_read(&p, 512, 0).driver_ns == 55151, "sub-page");
	p.driver_read_ns = 5000;
	check(vnand_time_read(&p, 0, 64).driver_ns == 5000,
	      "a page cheaper than an erase costs the same in parts");
	p.driver_read_ns = 0;
	check(vnand_time_read(&p, 2048, 64).driver_ns == 0, "a free read");
	p.driver_read_ns = 1000000000;
	p.page_bytes = 16384;
	p.oob_bytes = 2048;
	check(vnand_time_read(&p, 16384, 2048).driver_ns == 1000000000,
	      "the largest product");
}

static void test_rules(void)
{
	struct vnand_params p = { .nop = 2, .ordered = 1 };
	struct vnand_page_state fresh = { 0 };
	struct vnand_page_state half = { .programs = 1, .subpages = 0x3 };
	struct vnand_page_state often = { .programs = 2, .subpages = 0x3 };

	check(vnand_check_program(&p, &fresh, 0, 0, false, 0xf) == VNAND_OK,
	      "a fresh page may be programmed");
	check(vnand_check_program(&p, &half, 5, 6, false, 0xc) == VNAND_OK,
	      "other sub-pages of the same page may follow");
	check(vnand_check_program(&p, &half, 5, 6, false, 0x2) ==
	      VNAND_SUBPAGE_TWICE, "a sub-page must not be programmed twice");
	check(vnand_check_program(&p, &often, 5, 6, false, 0x4) ==
	      VNAND_PAGE_TOO_OFTEN, "NOP is a limit");
	check(vnand_check_program(&p, &fresh, 4, 6, false, 0xf) ==
	      VNAND_OUT_OF_ORDER, "an earlier page is out of order");
	check(vnand_check_program(&p, &fresh, 9, 6, false, 0xf) == VNAND_OK,
	      "skipping pages is allowed");
	check(vnand_check_program(&p, &fresh, 0, 0, true, 0xf) ==
	      VNAND_BAD_BLOCK, "a bad block must not be programmed");
	p.ordered = 0;
	check(vnand_check_program(&p, &fresh, 4, 6, false, 0xf) == VNAND_OK,
	      "SLC chips allow any order");
	p.nop = 0;
	check(vnand_check_program(&p, &often, 5, 6, false, 0x4) == VNAND_OK,
	      "NOP 0 is no limit");
}

/* Numbers of every length, and such of 61 bits and more, as quotients that fit. */
static void test_mul_div(void)
{
	u64 state = 1, wrong = 0;
	int i;

	for (i = 0; i < 1000000; i++) {
		u64 n[3];
		int k;

		for (k = 0; k < 3; k++) {
			state = state * 6364136223846793005ULL + 1442695040888963407ULL;
			n[k] = (state ^ state >> 29) >>
			       (state >> 20) % (i % 2 ? 4 : 64);
		}
		if (!n[2] || (unsigned __int128)n[0] * n[1] / n[2] >> 64)
			continue;
		wrong += vnand_long_mul_div(n[0], n[1], n[2]) !=
			 (u64)((unsigned __int128)n[0] * n[1] / n[2]);
	}
	check(!wrong, "a * b / c is wrong %llu times", (unsigned long long)wrong);
	/* Where Linux's own says 2^60: exp(-x) of a small x. */
	check(vnand_long_mul_div(1ULL << 60, 1ULL << 60, (1ULL << 60) + (1ULL << 57)) ==
	      1024819115206086200ULL, "2^120 / (2^60 + 2^57)");
}

static void test_exp(void)
{
	double worst = 0;
	u64 x;

	for (x = 0; x < 20ULL << 32; x += 0x1234567) {
		double want = exp(-(double)x / 4294967296.0);
		double have = (double)vnand_exp_neg(x) / 0x1p60;

		worst = fmax(worst, fabs(want - have) / want);
	}
	check(worst < 1e-8, "exp(-x) is off by a relative %g", worst);
}

/* The smallest k whose cumulative probability exceeds u, by the definition. */
static u32 poisson_by_definition(double mean, double u)
{
	double term = exp(-mean), sum = term;
	u32 k = 0;

	while (u >= sum && k < VNAND_MAX_BITFLIPS) {
		k++;
		term *= mean / k;
		sum += term;
	}
	return k;
}

static void test_poisson(void)
{
	static const double means[] = { 1e-6, 0.01, 0.5, 1, 3.7, 12 };
	size_t m;
	u32 i, different = 0;

	/* Fixed-point rounding may move a boundary by some 10^-8 of u. */
	for (m = 0; m < sizeof(means) / sizeof(means[0]); m++)
		for (i = 0; i < 20000; i++) {
			u32 u = i * 214748u;
			double x = u / 4294967296.0;
			u32 have = vnand_poisson((u64)(means[m] * 4294967296.0),
						 u);

			different += have < poisson_by_definition(means[m],
								  x - 2e-8) ||
				     have > poisson_by_definition(means[m],
								  x + 2e-8);
		}
	check(different == 0, "Poisson differs in %u of 120000", different);
}

static void test_bitflips(void)
{
	struct vnand_params p = {
		.page_bytes = 2048, .ecc_step_bytes = 512, .seed = 7,
		.endurance_cycles = 1000, .rber_e12 = 100000000,
		.rber_disturb_e12 = 50000000,
	};
	const struct vnand_age new = { .erases = 3 };
	const struct vnand_age read = { .erases = 3, .reads = 100000 };
	u32 few[VNAND_MAX_BITFLIPS], many[VNAND_MAX_BITFLIPS];
	u64 sum = 0;
	u32 page, i, n1, n2;

	for (page = 0; page < 20000; page++) {
		n1 = vnand_bitflips(&p, 1, page, 0, &new, few);
		n2 = vnand_bitflips(&p, 1, page, 0, &read, many);
		sum += n1;
		if (n2 < n1 || memcmp(few, many, n1 * sizeof(u32))) {
			check(false, "bit errors of page %u healed", page);
			return;
		}
		for (i = 0; i < n2; i++)
			if (many[i] >= 4096) {
				check(false, "bit %u is not in the step", many[i]);
				return;
			}
	}
	check(true, "bit errors grow");
	/* 4096 bits at 1e-4 are 0.4096 errors; 20,000 draws, 4 sigma. */
	check(fabs(sum / 20000.0 - 0.4096) < 4 * sqrt(0.4096 / 20000),
	      "mean of bit errors is %g, not 0.4096", sum / 20000.0);
}

/* The mean of 20,000 steps of 4,096 bits, against a rate worked out by hand. */
static void check_mean(const struct vnand_params *p, const struct vnand_age *age,
		       double mean, const char *what)
{
	u32 place[VNAND_MAX_BITFLIPS], page;
	u64 sum = 0;

	for (page = 0; page < 20000; page++)
		sum += vnand_bitflips(p, 1, page, 0, age, place);
	check(fabs(sum / 20000.0 - mean) <= 4 * sqrt(mean / 20000),
	      "%s: mean of bit errors is %g, not %g", what, sum / 20000.0, mean);
}

static void test_retention(void)
{
	/* 1e-4 per 1,000 h at the endurance limit. */
	struct vnand_params p = {
		.page_bytes = 2048, .ecc_step_bytes = 512, .seed = 9,
		.endurance_cycles = 1000, .rber_retention_e12 = 100000000,
	};
	struct vnand_age age = { .erases = 1000, .reads = 5000 };
	u32 young[VNAND_MAX_BITFLIPS], old[VNAND_MAX_BITFLIPS];
	struct vnand_age later;
	u32 page, n, m;

	check(vnand_has_bitflips(&p), "retention alone is a reason to look");
	check_mean(&p, &age, 0, "no time");
	age.shelf_hours = 1000;
	check_mean(&p, &age, 0.4096, "1,000 h");
	age.shelf_hours = 5000;
	check_mean(&p, &age, 2.048, "5,000 h");
	age.erases = 250;
	check_mean(&p, &age, 0.512, "5,000 h at a quarter of the endurance");
	age.erases = 0;
	check_mean(&p, &age, 0, "a block that was never erased");
	age.erases = 500;
	later = age;
	later.shelf_hours = 20000;
	for (page = 0; page < 2000; page++) {
		n = vnand_bitflips(&p, 1, page, 0, &age, young);
		m = vnand_bitflips(&p, 1, page, 0, &later, old);
		if (m < n || memcmp(young, old, n * sizeof(u32))) {
			check(false, "bit errors of page %u healed", page);
			return;
		}
	}
	check(true, "what was wrong stays wrong");
	p.endurance_cycles = 0;
	check_mean(&p, &later, 0, "no endurance, nothing to scale by");
}

static void test_failures(void)
{
	struct vnand_params p = { .seed = 3, .program_fail_ppm = 1000 };
	struct vnand_params q = { .seed = 3, .endurance_cycles = 1000 };
	u32 i, fails = 0, low = ~0u, high = 0;

	for (i = 0; i < 1000000; i++)
		fails += vnand_program_fails(&p, i / 64, i, 1, 0);
	check(fails > 1000 - 4 * 32 && fails < 1000 + 4 * 32,
	      "%u program failures in a million at 1000 ppm", fails);
	for (i = 0; i < 1000; i++) {
		u32 erases = 0;

		while (!vnand_erase_fails(&q, i, erases))
			erases++;
		low = erases < low ? erases : low;
		high = erases > high ? erases : high;
	}
	check(low >= 900 && low < 910 && high <= 1100 && high > 1090,
	      "endurance from %u to %u, not 900 to 1100", low, high);
	check(!vnand_program_fails(&q, 1, 1, 1, 0), "no failure at 0 ppm");
	p.program_fail_ppm = 1000000;
	check(vnand_program_fails(&p, 1, 1, 1, 0), "failure at 10^6 ppm");
}

int main(void)
{
	test_timing();
	test_driver();
	test_rules();
	test_mul_div();
	test_exp();
	test_poisson();
	test_bitflips();
	test_retention();
	test_failures();
	return checked();
}
