// SPDX-License-Identifier: GPL-2.0-only
/*
 * See tear.h.
 */

#include "../vnand/faults.h"
#include "tear.h"

/* Kinds of draws, apart from those of ../vnand/faults.h. */
enum { DRAW_CHANCE = 100, DRAW_BITS, DRAW_FLIP, DRAW_PAGE };

void tear_bits(u8 *to, const u8 *target, u32 bytes, u64 seed)
{
	/* Of 256; never none, never all for certain. */
	u32 chance = 1 + vnand_hash(seed, DRAW_CHANCE, 0, 0, 0) % 255;
	u32 i, bit;

	for (i = 0; i < bytes; i++) {
		u8 differ = to[i] ^ target[i];
		u64 draw;

		if (!differ)
			continue;
		draw = vnand_hash(seed, DRAW_BITS, i, 0, 0);
		for (bit = 0; bit < 8; bit++)
			if (differ >> bit & 1 && (draw >> 8 * bit & 255) < chance)
				to[i] ^= 1 << bit;
	}
}

void tear_flip(u8 *to, u32 bytes, u32 count, u64 seed)
{
	u32 bits = 8 * bytes, left = count < bits ? count : bits, i;

	/* Each bit in turn, with the chance that leaves the right number. */
	for (i = 0; i < bits && left; i++) {
		if (vnand_hash(seed, DRAW_FLIP, i, 0, 0) % (bits - i) >= left)
			continue;
		to[i / 8] ^= 1 << (i % 8);
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
