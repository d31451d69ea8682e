// SPDX-License-Identifier: GPL-2.0-only
/*
 * pattern.c - contents of files that say where they belong, and their sum.
 *
 * A record is "SSSSSSS OOOOOOO\n": the seed and the record's number in the file
 * in hexadecimal digits, so that a byte in the wrong place is seen as such.
 */
#include <string.h>

#include "fstree.h"

static void record(char *to, uint64_t number, uint32_t seed)
{
	char text[RECORD_BYTES + 1];

	snprintf(text, sizeof(text), "%07x %07x\n", seed & 0xfffffff,
		 (unsigned int)(number & 0xfffffff));
	memcpy(to, text, RECORD_BYTES);
}

void pattern_fill(char *to, size_t bytes, uint64_t offset, uint32_t seed)
{
	char text[RECORD_BYTES];
	size_t done = 0;

	while (done < bytes) {
		size_t inside = (offset + done) % RECORD_BYTES;
		size_t now = RECORD_BYTES - inside;

		if (now > bytes - done)
			now = bytes - done;
		record(text, (offset + done) / RECORD_BYTES, seed);
		memcpy(to + done, text + inside, now);
		done += now;
	}
}

/* CRC-32 as zlib has it. */
uint32_t crc32_add(uint32_t crc, const void *bytes, size_t n)
{
	const uint8_t *from = bytes;
	static uint32_t table[256];
	uint32_t i, word;
	int bit;

	for (i = 0; !table[255] && i < 256; i++) {
		for (word = i, bit = 0; bit < 8; bit++)
			word = word >> 1 ^ (word & 1 ? 0xedb88320 : 0);
		table[i] = word;
	}
	crc = ~crc;
	while (n--)
		crc = crc >> 8 ^ table[(crc ^ *from++) & 0xff];
	return ~crc;
}
