// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a cut leaves of bits (tear.c): properties over many seeds, and frequencies
 * against what the definitions say, within six standard deviations.
 */

#include "../../vnand/faults.c"
#include "../place.h"
#include "../tear.h"
#include "../../../tests/c_check.h"

#define BYTES 2112u
#define SEEDS 400u

static u8 before[BYTES], after[BYTES], now[BYTES], again[BYTES];

static void fill(u8 *to, u32 bytes, u32 seed)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		to[i] = vnand_hash(seed, 1, i, 0, 0);
}

/* A program clears bits: what is left lies between, and depends on the seed alone. */
static void test_bits(void)
{
	u32 seed, i, least = 8 * BYTES, most = 0, whole;

	memset(before, 0xff, BYTES);
	fill(after, BYTES, 1);
	whole = vnand_bits_differ(before, after, BYTES);
	for (seed = 0; seed < SEEDS; seed++) {
		u32 changed, wrong = 0;

		memcpy(now, before, BYTES);
		memcpy(again, before, BYTES);
		tear_bits(now, after, BYTES, seed);
		tear_bits(again, after, BYTES, seed);
		for (i = 0; i < BYTES; i++)
			wrong += (now[i] & ~before[i]) || (after[i] & ~now[i]);
		check(!wrong, "seed %u: %u bytes are not between", seed, wrong);
		check(!memcmp(now, again, BYTES), "seed %u twice", seed);
		changed = vnand_bits_differ(before, now, BYTES);
		least = changed < least ? changed : least;
		most = changed > most ? changed : most;
	}
	check(least < whole / 50, "hardly begun: %u of %u", least, whole);
	check(most > whole - whole / 50, "nearly done: %u of %u", most, whole);
	memcpy(now, after, BYTES);
	tear_bits(now, after, BYTES, 7);
	check(!memcmp(now, after, BYTES), "what is there stays");
}

/* Each bit has the same chance, wherever it is: halves of a page change alike. */
static void test_bits_are_alike(void)
{
	u64 low = 0, high = 0;
	u32 seed, bit, of_bit[8] = { 0 };

	memset(after, 0, BYTES);
	for (seed = 0; seed < SEEDS; seed++) {
		u32 i;

		memset(now, 0xff, BYTES);
		tear_bits(now, after, BYTES, seed);
		low += vnand_bits_differ(now, after, BYTES / 2);
		high += vnand_bits_differ(now + BYTES / 2, after, BYTES / 2);
		for (i = 0; i < BYTES; i++)
			for (bit = 0; bit < 8; bit++)
				of_bit[bit] += now[i] >> bit & 1;
	}
	/* A quarter of the bits is the variance of one at most. */
	check(llabs((long long)low - (long long)high) <
	      6 * 0.5 * 1.5 * 2600, "halves differ: %llu, %llu",
	      (unsigned long long)low, (unsigned long long)high);
	for (bit = 1; bit < 8; bit++)
		check(abs((int)of_bit[bit] - (int)of_bit[0]) < 6 * 920,
		      "bit %u: %u, bit 0: %u", bit, of_bit[bit], of_bit[0]);
}

static void test_flip(void)
{
	static const u32 counts[] = { 0, 1, 2, 9, 64, TEAR_FLIP_MAX };
	u32 seed, c, hit[512] = { 0 }, i, missed = 0;

	for (c = 0; c < sizeof(counts) / sizeof(*counts); c++)
		for (seed = 0; seed < SEEDS; seed++) {
			fill(before, 512, seed);
			memcpy(now, before, 512);
			tear_flip(now, 512, counts[c], seed);
			check(vnand_bits_differ(before, now, 512) == counts[c],
			      "%u bits, seed %u", counts[c], seed);
			for (i = 0; i < 512; i++)
				hit[i] += before[i] != now[i];
		}
	for (i = 0; i < 512; i++)
		missed += !hit[i];
	check(!missed, "%u bytes are never hit", missed);
	memset(now, 0, 4);
	tear_flip(now, 1, TEAR_FLIP_MAX, 3);
	check(now[0] == 0xff && !now[1], "no more bits than there are");
	memset(again, 0, 512);
	tear_flip(again, 512, TEAR_FLIP_MAX + 50, 3);
	memset(before, 0, 512);
	check(vnand_bits_differ(again, before, 512) == TEAR_FLIP_MAX, "most");
}

static void test_noise(void)
{
	u64 wrong = 0, bits = 8ull * BYTES * SEEDS;
	u32 seed;

	for (seed = 0; seed < SEEDS; seed++) {
		fill(before, BYTES, seed);
		memcpy(now, before, BYTES);
		tear_noise(now, BYTES, seed);
		wrong += vnand_bits_differ(before, now, BYTES);
	}
	/* sqrt(bits * 1/4 * 3/4) is 1,125. */
	check(llabs((long long)wrong - (long long)(bits / 4)) < 6 * 1125,
	      "%llu of %llu bits", (unsigned long long)wrong,
	      (unsigned long long)bits);
}

static void test_pages(void)
{
	u32 kinds[3] = { 0 }, first[2][3] = { { 0 } }, seed, page;

	for (seed = 0; seed < SEEDS; seed++) {
		for (page = 1; page < 64; page++)
			kinds[tear_page(seed, seed, page)]++;
		first[seed & 1][tear_page(seed, seed, 0)]++;
	}
	for (page = 0; page < 3; page++) /* a third of 25,200, deviation 75 */
		check(abs((int)kinds[page] - 8400) < 6 * 75, "kind %u: %u",
		      page, kinds[page]);
	check(first[1][TEAR_AS_BEFORE] == SEEDS / 2, "odd: page 0 as before");
	check(!first[0][TEAR_AS_BEFORE] && first[0][TEAR_BLANK] > 60 &&
	      first[0][TEAR_GARBAGE] > 60, "even: page 0 is not as before");
}

/* Every way once, none of them nothing or everything. */
static void test_prefixes(void)
{
	u32 units, with;

	check(!tear_prefixes(0, true) && !tear_prefixes(0, false), "no unit");
	check(!tear_prefixes(1, false), "one unit has no prefix");
	for (units = 1; units <= 8; units++)
		for (with = 0; with < 2; with++) {
			u32 ways = tear_prefixes(units, with), way, seen = 0;

			for (way = 0; way < ways; way++) {
				bool oob;
				u32 n = tear_prefix(way, units, with, &oob);

				check(n <= units && (with || !oob),
				      "%u units, way %u", units, way);
				check((n || oob) && !(n == units && oob == with),
				      "%u units, way %u: nothing or all", units,
				      way);
				check(!(seen >> (2 * n + oob) & 1),
				      "%u units, way %u: twice", units, way);
				seen |= 1u << (2 * n + oob);
			}
			check(ways == (with ? 2 * units : units - 1),
			      "%u units: %u ways", units, ways);
		}
}

/* Of the bits that differ so many become the other's, and nothing else changes. */
static void test_weaken(void)
{
	u32 seed, i, first = 0, last = 0;

	memset(before, 0xff, BYTES);
	memset(after, 0xff, BYTES);
	after[5] = 0x7f;		/* 1 bit, then 3, and 8 in the last byte */
	after[700] = 0x8f;
	after[BYTES - 1] = 0;
	for (seed = 0; seed < SEEDS; seed++) {
		u32 count = seed % 14, wrong = 0;

		memcpy(now, after, BYTES);
		tear_weaken(now, before, BYTES, count, seed);
		for (i = 0; i < BYTES; i++)
			wrong += (u8)(after[i] & ~now[i]) != 0;
		check(!wrong && vnand_bits_differ(now, after, BYTES) ==
		      (count < 12 ? count : 12), "%u of 12 bits", count);
	}
	/* One bit of 12 in 4,000 seeds: 333 times, six deviations are 105. */
	for (seed = 0; seed < 4000; seed++) {
		memcpy(now, after + 5, 1);
		memcpy(now + 1, after + 700, 1);
		memcpy(now + 2, after + BYTES - 1, 1);
		tear_weaken(now, before, 3, 1, seed);
		first += now[0] == 0xff;
		last += now[2] == 0x80;
	}
	check(first > 228 && first < 438, "the first bit: %u times", first);
	check(last > 228 && last < 438, "the last bit: %u times", last);
}

/* Zeros reach from one end of the sector to one page in between. */
static void test_zeroing(void)
{
	u32 seed, page, from_end = 0, at_first = 0;

	for (seed = 0; seed < SEEDS; seed++) {
		u32 of[4] = { 0 }, at = 0;
		bool zeros_first = tear_zeroing(seed, 16, 0) == TEAR_ZEROS;
		bool zeros_last = tear_zeroing(seed, 16, 15) == TEAR_ZEROS;

		for (page = 0; page < 16; page++) {
			enum tear_page left = tear_zeroing(seed, 16, page);

			of[left]++;
			if (left == TEAR_GARBAGE)
				at = page;
		}
		check(of[TEAR_GARBAGE] == 1 && !of[TEAR_BLANK],
		      "seed %u: one page is in between", seed);
		check(of[TEAR_ZEROS] == (zeros_last ? 15 - at :
					 zeros_first ? at : 0),
		      "seed %u: zeros from one end to page %u", seed, at);
		from_end += zeros_last;
		at_first += !at;
	}
	/* A half less those that end in page 15; 1/4 and 3/4 x 1/16. */
	check(from_end > 140 && from_end < 250, "from the end: %u", from_end);
	check(at_first > 70 && at_first < 170, "page 0: %u", at_first);
}

/* The chance of a bit is the sector's; half of the sectors are nearly blank. */
static void test_erasing(void)
{
	u32 seed, nearly = 0, few = 0;

	memset(before, 0xff, BYTES);
	for (seed = 0; seed < SEEDS; seed++) {
		u32 zeros[2], i;

		for (i = 0; i < 2; i++) {
			tear_erasing(now, 2048, seed, i);
			tear_erasing(again, 2048, seed, i);
			check(!memcmp(now, again, 2048), "seed %u twice", seed);
			zeros[i] = vnand_bits_differ(now, before, 2048);
		}
		tear_erasing(again, 2048, seed, 0);
		check(zeros[0] < 200 || memcmp(now, again, 2048),
		      "seed %u: pages are not alike", seed);
		/* Six deviations of the difference of two draws of 16,384 bits. */
		i = zeros[0] > zeros[1] ? zeros[0] - zeros[1] : zeros[1] - zeros[0];
		check(i < 6 * 91, "seed %u: %u and %u zeros", seed, zeros[0],
		      zeros[1]);
		nearly += zeros[0] < 128;
		few += zeros[0] < 8;
	}
	check(nearly > 140 && nearly < 260, "nearly blank: %u", nearly);
	check(few > 5 && few < nearly, "but for a few bits: %u", few);
}

int main(void)
{
	test_bits();
	test_bits_are_alike();
	test_flip();
	test_noise();
	test_pages();
	test_prefixes();
	test_weaken();
	test_zeroing();
	test_erasing();
	return checked();
}
