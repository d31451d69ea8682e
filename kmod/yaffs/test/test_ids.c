// SPDX-License-Identifier: GPL-2.0-only
/* The segregated layout: which objects there are, as summaries of metadata blocks say it. */

#include "harness.h"

static void test_ids(void)
{
	u8 bytes[24 + 8] = {};
	const u8 *bits;
	u64 position;
	u32 part;

	check(yaffs_ids_per_part(1276) == 10016, "a page of 2 KiB");
	check(yaffs_ids_per_part(236) == 1696, "one of 1 KiB");
	check(!yaffs_ids_per_part(27) && yaffs_ids_per_part(28) == 32, "the least");
	check(!yaffs_ids_per_part(24) && !yaffs_ids_per_part(0), "no room at all");
	yaffs_ids_set(bytes + 24, 0);
	yaffs_ids_set(bytes + 24, 63);
	yaffs_ids_pack(128, 64, 0x123456789ull, bytes);
	check(get32(bytes, 0) == 0x53444949 && get32(bytes, 8) == 128 &&
	      get32(bytes, 12) == 64 && get32(bytes, 16) == 0x23456789 &&
	      get32(bytes, 20) == 1 && bytes[24] == 1 && bytes[31] == 0x80, "its bytes");
	check(get32(bytes, 4) == 0xf22047f9, "its CRC: %08x", get32(bytes, 4));
	check(yaffs_ids_unpack(bytes, 64, &part, &position, &bits) && part == 2 &&
	      position == 0x123456789ull, "read again");
	check(yaffs_ids_has(bits, 0) && yaffs_ids_has(bits, 63) &&
	      !yaffs_ids_has(bits, 1), "its bits");
	check(!yaffs_ids_unpack(bytes, 32, &part, &position, &bits), "of other parts");
	bytes[28] ^= 1;
	check(!yaffs_ids_unpack(bytes, 64, &part, &position, &bits), "a wrong bit");
	bytes[28] ^= 1;
	yaffs_ids_pack(64 * 32, 64, 0, bytes);
	check(!yaffs_ids_unpack(bytes, 64, &part, &position, &bits), "more parts than there are");
	yaffs_ids_pack(65, 64, 0, bytes);
	check(!yaffs_ids_unpack(bytes, 64, &part, &position, &bits), "between two parts");
}

/* Id 8 k + b is bit b of byte k. */
static void test_bits(void)
{
	u8 bits[4] = {};
	u32 id;

	yaffs_ids_set(bits, 8);
	yaffs_ids_set(bits, 9);
	yaffs_ids_set(bits, 26);
	check(!bits[0] && bits[1] == 3 && !bits[2] && bits[3] == 4, "where they are");
	for (id = 0; id < 32; id++)
		check(yaffs_ids_has(bits, id) == (id == 8 || id == 9 || id == 26),
		      "id %u", id);
}

static void test_no_part(void)
{
	u8 bytes[24 + 8] = {};
	const u8 *bits;
	u64 position;
	u32 part;

	yaffs_ids_pack(0, 64, 0, bytes);
	check(yaffs_ids_unpack(bytes, 64, &part, &position, &bits), "a part");
	bytes[0] ^= 1;
	check(!yaffs_ids_unpack(bytes, 64, &part, &position, &bits), "something else");
	yaffs_ids_pack(0, 0, 0, bytes);
	check(!yaffs_ids_unpack(bytes, 0, &part, &position, &bits), "one of no ids");
}

int main(void)
{
	test_ids();
	test_bits();
	test_no_part();
	return report("test_ids");
}
