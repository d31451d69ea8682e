// SPDX-License-Identifier: GPL-2.0-only
/*
 * ec_header.c - see ec_header.h.
 */
#include <stddef.h>
#include <string.h>

#include "wear/ec_header.h"

static uint64_t number_of(const uint8_t *bytes, size_t n)
{
	uint64_t number = 0;

	while (n--)
		number = number << 8 | *bytes++;
	return number;
}

static void put_number(uint8_t *bytes, size_t n, uint64_t number)
{
	while (n--) {
		bytes[n] = (uint8_t)number;
		number >>= 8;
	}
}

/* UBI begins as all do, and does not invert the end. */
static uint32_t crc_of(const struct ec_header *header,
		       const struct crc32 *crc32)
{
	return ~crc32_of(crc32, header, offsetof(struct ec_header, crc));
}

bool ec_header_is_good(const struct ec_header *header,
		       const struct crc32 *crc32)
{
	return !memcmp(header->magic, "UBI#", sizeof(header->magic)) &&
	       number_of(header->crc, sizeof(header->crc)) ==
		       crc_of(header, crc32);
}

uint32_t ec_header_vid_offset(const struct ec_header *header)
{
	return (uint32_t)number_of(header->vid_header_offset,
				   sizeof(header->vid_header_offset));
}

void ec_header_wear(struct ec_header *header, uint64_t erases,
		    const struct crc32 *crc32)
{
	uint64_t before = number_of(header->erases, sizeof(header->erases));

	put_number(header->erases, sizeof(header->erases), before + erases);
	put_number(header->crc, sizeof(header->crc), crc_of(header, crc32));
}
