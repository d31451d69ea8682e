// SPDX-License-Identifier: GPL-2.0-only
/*
 * See tear.h.
 */

#include "../vnand/faults.h"
#include "place.h"
#include "tear.h"

/* Kinds of draws, apart from those of ../vnand/faults.h. */
enum {
	DRAW_CHANCE = 100, DRAW_BITS, DRAW_FLIP, DRAW_PAGE, DRAW_NOISE,
	DRAW_WEAK, DRAW_ZEROING, DRAW_ERASING
};

static u64 next(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* 64 bits, each of them set with a chance of @chance in 2^@digits. */
static u64 set_bits(u64 *state, u32 chance, u32 digits)
{
	u64 mask = 0;
	u32 bit;

	/* A digit of the chance after the other, the lowest first. */
	for (bit = 0; bit < digits; bit++) {
		u64 draw = next(state);

		mask = chance >> bit & 1 ? mask | draw : mask & draw;
	}
	return mask;
}

void tear_bits(u8 *to, const u8 *target, u32 bytes, u64 seed)
{
	u64 state = vnand_hash(seed, DRAW_BITS, 0, 0, 0), mask = 0;
	/* Never none, never all for certain. */
	u32 chance = 1 + vnand_hash(seed, DRAW_CHANCE, 0, 0, 0) % 255;
	u32 i;

	for (i = 0; i < bytes; i++) {
		mask = i % 8 ? mask >> 8 : set_bits(&state, chance, 8);
		to[i] ^= (to[i] ^ target[i]) & (u8)mask;
	}
}

void tear_noise(u8 *to, u32 bytes, u64 seed)
{
	u64 state = vnand_hash(seed, DRAW_NOISE, 0, 0, 0), mask = 0;
	u32 i;

	for (i = 0; i < bytes; i++) {
		mask = i % 8 ? mask >> 8 : set_bits(&state, 64, 8);
		to[i] ^= (u8)mask;
	}
}

static bool is_among(const u32 *places, u32 n, u32 place)
{
	while (n && places[n - 1] != place)
		n--;
	return n;
}

void tear_flip(u8 *to, u32 bytes, u32 count, u64 seed)
{
	u64 state = vnand_hash(seed, DRAW_FLIP, 0, 0, 0);
	u32 places[TEAR_FLIP_MAX];
	u32 bits = 8 * bytes, n;

	if (count > TEAR_FLIP_MAX)
		count = TEAR_FLIP_MAX;
	if (count > bits)
		count = bits;
	/* Each set of so many bits is as likely as any other (R. Floyd). */
	for (n = 0; n < count; n++) {
		u32 last = bits - count + n;
		u32 place = next(&state) % (last + 1);

		places[n] = is_among(places, n, place) ? last : place;
		to[places[n] / 8] ^= 1 << (places[n] % 8);
	}
}

void tear_weaken(u8 *to, const u8 *other, u32 bytes, u32 count, u64 seed)
{
	u64 state = vnand_hash(seed, DRAW_WEAK, 0, 0, 0);
	u32 left = vnand_bits_differ(to, other, bytes), bit;

	/* Each set of so many bits is as likely as any other. */
	for (bit = 0; left && count; bit++) {
		u8 mask = 1 << (bit % 8);

		if (!((to[bit / 8] ^ other[bit / 8]) & mask))
			continue;
		if (next(&state) % left < count) {
			to[bit / 8] ^= mask;
			count--;
		}
		left--;
	}
}

enum tear_page tear_page(u64 seed, u64 variant, u32 page)
{
	u64 draw = vnand_hash(seed, DRAW_PAGE, variant, page, 0);

	if (page)
		return draw % 3;
	if (variant & 1)
		return TEAR_AS_BEFORE;
	return draw & 1 ? TEAR_BLANK : TEAR_GARBAGE;
}

enum tear_page tear_zeroing(u64 seed, u32 pages, u32 page)
{
	u64 draw = vnand_hash(seed, DRAW_ZEROING, 0, 0, 0);
	bool from_end = draw & 1;
	u32 at = draw >> 1 & 3 ? (draw >> 3) % pages : 0;

	if (page == at)
		return TEAR_GARBAGE;
	return (page > at) == from_end ? TEAR_ZEROS : TEAR_AS_BEFORE;
}

void tear_erasing(u8 *to, u32 bytes, u64 seed, u32 page)
{
	u64 draw = vnand_hash(seed, DRAW_ERASING, 0, 0, 0);
	u64 state = vnand_hash(seed, DRAW_ERASING, 1, page, 0), mask = 0;
	u32 chance = 1 + (draw >> 1) % 255, digits = draw & 1 ? 16 : 8;
	u32 i;

	for (i = 0; i < bytes; i++) {
		mask = i % 8 ? mask >> 8 : set_bits(&state, chance, digits);
		to[i] = ~(u8)mask;
	}
}

u32 tear_prefixes(u32 units, bool with_oob)
{
	if (!units)
		return 0;	/* the OOB alone has no beginning */
	return with_oob ? 2 * units : units - 1;
}

/*
 * The ways in order: with the OOB still to come 1, 2, … units, then with the OOB
 * first 0, 1, … units - 1.
 */
u32 tear_prefix(u64 variant, u32 units, bool with_oob, bool *oob_done)
{
	u32 way = variant % tear_prefixes(units, with_oob);

	*oob_done = way >= units;
	return *oob_done ? way - units : way + 1;
}
