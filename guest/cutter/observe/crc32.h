/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * crc32.h - the CRC of IEEE 802.3, as zlib's crc32() gives it.
 */
#ifndef FFSCRASH_CRC32_H
#define FFSCRASH_CRC32_H

#include <stddef.h>
#include <stdint.h>

#define CRC32_SLICES 8

struct crc32 {
	uint32_t slices[CRC32_SLICES][256];
};

void crc32_init(struct crc32 *crc32);
uint32_t crc32_of(const struct crc32 *crc32, const void *data, size_t bytes);

#endif
