// SPDX-License-Identifier: GPL-2.0-only
/*
 * The one rule of programming NOR flash: a program clears bits. Any byte may be
 * programmed again, in any order and as often as wanted, as UBI does to spoil a
 * header, as long as no bit is asked to become one. The chip would not set it,
 * and the data would be others than those that were written.
 */

#include "../vnand/rules.h"

const char * const vnand_violation_name[VNAND_VIOLATIONS] = {
	[VNAND_OK] = "none",
	[VNOR_SETS_BITS] = "bit_set_without_erase",
};

bool vnor_sets_bits(const u8 *have, const u8 *want, u32 bytes)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		if (want[i] & ~have[i])
			return true;
	return false;
}
