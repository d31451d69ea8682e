// SPDX-License-Identifier: GPL-2.0-only
/*
 * crc32.c - eight bytes at a time from eight tables (Kounavis and Berry, "A
 * systematic approach to building high performance software-based CRC
 * generators", ISCC 2005).
 */
#include <string.h>

#include "observe/crc32.h"

#define POLYNOMIAL 0xedb88320u	/* bit-reversed */

void crc32_init(struct crc32 *crc32)
{
	unsigned int byte, slice, bit;

	for (byte = 0; byte < 256; byte++) {
		uint32_t crc = byte;

		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		crc32->slices[0][byte] = crc;
	}
	for (slice = 1; slice < CRC32_SLICES; slice++)
		for (byte = 0; byte < 256; byte++) {
			uint32_t crc = crc32->slices[slice - 1][byte];

			crc32->slices[slice][byte] =
				crc >> 8 ^ crc32->slices[0][crc & 255];
		}
}

uint32_t crc32_of(const struct crc32 *crc32, const void *data, size_t bytes)
{
	const uint32_t (*s)[256] = crc32->slices;
	const unsigned char *at = data;
	uint32_t crc = ~(uint32_t)0;

	for (; bytes >= 8; bytes -= 8, at += 8) {
		crc ^= (uint32_t)at[0] | (uint32_t)at[1] << 8 |
		       (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
		crc = s[7][crc & 255] ^ s[6][crc >> 8 & 255] ^
		      s[5][crc >> 16 & 255] ^ s[4][crc >> 24] ^
		      s[3][at[4]] ^ s[2][at[5]] ^ s[1][at[6]] ^ s[0][at[7]];
	}
	while (bytes--)
		crc = crc >> 8 ^ s[0][(crc ^ *at++) & 255];
	return ~crc;
}
