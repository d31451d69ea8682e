// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each draw of the fault model, against its definition in faults.c and the rates that
 * it states, worked out by hand. What a seed means must stay what it is, or recorded
 * results could not be repeated: so draws are compared one by one, not by their means.
 */

#include <math.h>

#include "../faults.h"
#include "../../../tests/c_check.h"

#define DRAWS 20000u

/* One step of the published generator: Steele, Lea, Flood, OOPSLA 2014. */
static u64 splitmix64(u64 state)
{
	u64 z = state + 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static void test_hash(void)
{
	u64 want = 99;

	/* The first numbers that it gives for these seeds, as published. */
	check(splitmix64(0) == 0xe220a8397b1dcdafULL &&
	      splitmix64(1234567) == 6457827717110365317ULL,
	      "the generator that the hash is compared with");
	want = splitmix64(want + VNAND_DRAW_ENDURANCE);
	want = splitmix64(want + 5);
	want = splitmix64(want + (7ULL << 40));
	want = splitmix64(want + 11);
	check(vnand_hash(99, VNAND_DRAW_ENDURANCE, 5, 7ULL << 40, 11) == want,
	      "the hash is that of kind, place and occasion, in this order");
}

/* The least rate in 1 / 10^6 at which a draw that gave @hash happens. */
static u32 least_ppm(u64 hash)
{
	return (u32)((hash >> 32) * 1000000 >> 32) + 1;
}

static void test_failures(void)
{
	struct vnand_params p = { .seed = 3 };
	u32 page, ppm, wrong = 0;

	for (page = 0; page < DRAWS; page++) {
		ppm = least_ppm(vnand_hash(3, VNAND_DRAW_PROGRAM_FAIL, 9,
					   page * 0x100000000ULL + 2, 5));
		p.program_fail_ppm = ppm;
		wrong += !vnand_program_fails(&p, 9, page, 5, 2);
		p.program_fail_ppm = ppm - 1;
		wrong += vnand_program_fails(&p, 9, page, 5, 2);
		ppm = least_ppm(vnand_hash(3, VNAND_DRAW_ERASE_FAIL, 9, page,
					   0));
		p.erase_fail_ppm = ppm;
		wrong += !vnand_erase_fails(&p, 9, page);
		p.erase_fail_ppm = ppm - 1;
		wrong += vnand_erase_fails(&p, 9, page);
	}
	check(!wrong, "%u of %u draws of failures are others", wrong, 4 * DRAWS);
	/* The draw of this page is 14/64 = 218,750 / 10^6 exactly, which is not less. */
	p.program_fail_ppm = 218750;
	check(!vnand_program_fails(&p, 9, 10896976, 5, 2), "a draw at the rate");
	p.program_fail_ppm = 218751;
	check(vnand_program_fails(&p, 9, 10896976, 5, 2), "and one below it");
}

/* 1,000 cycles vary from 900 to 1,100: one of 201 numbers for each block. */
static void test_endurance(void)
{
	const struct vnand_params p = { .seed = 3, .endurance_cycles = 1000 };
	u32 block, limit, wrong = 0;

	for (block = 0; block < 2000; block++) {
		limit = 900 + (u32)((vnand_hash(3, VNAND_DRAW_ENDURANCE, block,
						0, 0) >> 32) * 201 >> 32);
		wrong += vnand_erase_fails(&p, block, limit - 1) ||
			 !vnand_erase_fails(&p, block, limit);
	}
	check(!wrong, "%u of 2000 blocks wear out at another count", wrong);
}

static void test_any(void)
{
	check(!vnand_has_bitflips(&(struct vnand_params){ .seed = 1 }), "none");
	check(vnand_has_bitflips(&(struct vnand_params){ .rber_e12 = 1 }) &&
	      vnand_has_bitflips(&(struct vnand_params){ .rber_wear_e12 = 1 }) &&
	      vnand_has_bitflips(&(struct vnand_params){ .rber_disturb_e12 = 1 }) &&
	      vnand_has_bitflips(&(struct vnand_params){ .rber_retention_e12 = 1 }),
	      "each cause alone");
}

/* Where the series begins and where it ends. */
static void test_exp_limits(void)
{
	const u64 one = 1ULL << 60;
	double x;

	check(vnand_exp_neg(0) == one, "exp(0)");
	/* exp(-2^-32) = 1 - 2^-32 + 2^-65: in units of 2^-60, 2^28 less. */
	check(llabs((long long)(one - vnand_exp_neg(1)) - (1LL << 28)) <= 1,
	      "exp(-2^-32) is %llu less than 1",
	      (unsigned long long)(one - vnand_exp_neg(1)));
	/* Which is what the largest draw is multiplied by: it is not below that. */
	check(vnand_exp_neg(1) == (u64)~0u << 28 && vnand_poisson(1, ~0u) == 1 &&
	      vnand_poisson(1, ~0u - 1) == 0, "a draw at the sum, and one below");
	for (x = 23; x < 25; x += 0.25)
		check(fabs((double)vnand_exp_neg((u64)(x * 0x1p32)) /
			   (exp(-x) * 0x1p60) - 1) < 1e-6, "exp(-%g)", x);
	check(vnand_exp_neg(25ULL << 32) == 0, "exp(-25) counts as nothing");
	/* Rounding may keep the sum below the last step of u: the search ends. */
	check(vnand_poisson((25ULL << 32) - 1, ~0u) <= VNAND_MAX_BITFLIPS,
	      "no more bits than are told apart");
	check(vnand_poisson(25ULL << 32, 0) == VNAND_MAX_BITFLIPS,
	      "beyond it all are wrong");
}

/**
 * struct rate - a chip, what its block has been through, and what follows
 * @mean: wrong bits of a step, by hand from the formula in faults.c
 */
struct rate {
	const char *what;
	struct vnand_params p;
	struct vnand_age age;
	double mean;
};

/* 10^12 / 4096 = 244,140,625: at that rate one bit of a step of 512 bytes is wrong. */
#define ONE_E12 244140625ULL

static const struct rate rates[] = {
	{ "a fresh chip", { .rber_e12 = ONE_E12 }, { 0, 0, 0 }, 1 },
	{ "no effect of wear, no endurance",
	  { .rber_e12 = ONE_E12, .rber_wear_e12 = ONE_E12 }, { 300, 0, 0 }, 1 },
	{ "wear alone, no endurance", { .rber_wear_e12 = ONE_E12 },
	  { 300, 0, 0 }, 0 },
	/* (500 / 1000)^2 = 1/4; in proportion to wear it would be 1/2. */
	{ "half of the endurance, squared",
	  { .endurance_cycles = 1000, .rber_wear_e12 = 8 * ONE_E12 },
	  { 500, 0, 0 }, 2 },
	/* (1500 / 1000)^2 = 9/4. */
	{ "beyond the endurance",
	  { .endurance_cycles = 1000, .rber_wear_e12 = 4 * ONE_E12 },
	  { 1500, 0, 0 }, 9 },
	{ "3,000 reads", { .rber_disturb_e12 = ONE_E12 }, { 0, 3000, 0 }, 3 },
	{ "2,000 h at half of the endurance",
	  { .endurance_cycles = 1000, .rber_retention_e12 = 5 * ONE_E12 },
	  { 500, 0, 2000 }, 5 },
	/* 1 + 4/4 + 2 * 1/2 + 4/2 * 1/2 */
	{ "all of them add up",
	  { .endurance_cycles = 1000, .rber_e12 = ONE_E12,
	    .rber_wear_e12 = 4 * ONE_E12, .rber_disturb_e12 = 2 * ONE_E12,
	    .rber_retention_e12 = 4 * ONE_E12 },
	  { 500, 500, 500 }, 4 },
	/* A rate of 2^52 / 10^12, times 4,096 bits, would be 2^64. */
	{ "no rate is above 1", { .rber_disturb_e12 = 1ULL << 39 },
	  { 0, 8192000, 0 }, 4096 },
};

/* Each count is the one that the page's number gives for that mean, each place its own. */
static void check_rate(const struct rate *rate, u32 step)
{
	struct vnand_params p = rate->p;
	u32 place[VNAND_MAX_BITFLIPS + 1], page, i, n, wrong = 0;
	u64 u, where;

	p.seed = 77;
	p.ecc_step_bytes = 512;
	for (page = 0; page < DRAWS; page++) {
		where = page * 0x100000000ULL + step;
		u = vnand_hash(77, VNAND_DRAW_BIT_COUNT, 6, where,
			       rate->age.erases);
		memset(place, 0xee, sizeof(place));
		n = vnand_bitflips(&p, 6, page, step, &rate->age, place);
		wrong += n != vnand_poisson((u64)(rate->mean * 0x1p32),
					    (u32)(u >> 32));
		for (i = 0; i < n; i++)
			wrong += place[i] !=
				 vnand_hash(77 ^ u, VNAND_DRAW_BIT_PLACE, 6,
					    where, i) >> 32 >> 20;
		wrong += place[n] != 0xeeeeeeee;
	}
	check(!wrong, "%s, step %u: %u draws are others", rate->what, step,
	      wrong);
}

static void test_rates(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		check_rate(&rates[i], 0);
		check_rate(&rates[i], 3);
	}
}

int main(void)
{
	test_hash();
	test_failures();
	test_endurance();
	test_any();
	test_exp_limits();
	test_rates();
	return checked();
}
