// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "harness.h"
#include "wear/ec_header.h"

void test_ec_header(void);

/* As UBI writes it with 3 erases, the other header at 512, data at 2048; by hand. */
static const uint8_t three[EC_HEADER_BYTES] = {
	'U', 'B', 'I', '#', 1, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 3,
	0, 0, 2, 0, 0, 0, 8, 0,
	0x12, 0x34, 0x56, 0x78,
	[60] = 0x5d, 0x6e, 0x7d, 0xc6,
};

static void what_it_says(const struct crc32 *crc32)
{
	struct ec_header header;
	size_t i;

	memcpy(&header, three, sizeof(header));
	CHECK(ec_header_is_good(&header, crc32));
	CHECK(ec_header_vid_offset(&header) == 512);
	for (i = 0; i < 8 * sizeof(header); i++) {
		memcpy(&header, three, sizeof(header));
		((uint8_t *)&header)[i / 8] ^= (uint8_t)(1 << i % 8);
		CHECKF(!ec_header_is_good(&header, crc32), "bit %zu", i);
	}
}

static void more_erases(const struct crc32 *crc32)
{
	static const uint8_t crc[4] = { 0x45, 0x9b, 0x3c, 0xd1 };
	struct ec_header header;

	memcpy(&header, three, sizeof(header));
	ec_header_wear(&header, 5000, crc32);
	/* 5003 is 0x138b. */
	CHECK(header.erases[6] == 0x13 && header.erases[7] == 0x8b &&
	      !header.erases[5]);
	CHECK(!memcmp(header.crc, crc, sizeof(crc)));
	CHECK(ec_header_is_good(&header, crc32));
	CHECK(!memcmp(header.vid_header_offset, three + 16, 12));
	/* Across bytes. */
	ec_header_wear(&header, (UINT64_C(1) << 32) - 5003, crc32);
	CHECK(header.erases[3] == 1 && !header.erases[4] && !header.erases[7]);
}

void test_ec_header(void)
{
	static struct crc32 crc32;

	crc32_init(&crc32);
	what_it_says(&crc32);
	more_erases(&crc32);
}
