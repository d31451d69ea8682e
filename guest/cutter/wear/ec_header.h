/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ec_header.h - the erase counter header of UBI, at the beginning of each of its
 * blocks (drivers/mtd/ubi/ubi-media.h).
 */
#ifndef FFSCRASH_EC_HEADER_H
#define FFSCRASH_EC_HEADER_H

#include <stdbool.h>
#include <stdint.h>

#include "observe/crc32.h"

#define EC_HEADER_BYTES 64
#define VID_HEADER_BYTES 64

/* All numbers have their most significant byte first. */
struct ec_header {
	uint8_t magic[4];	/* "UBI#" */
	uint8_t version;
	uint8_t padding1[3];
	uint8_t erases[8];
	uint8_t vid_header_offset[4];
	uint8_t data_offset[4];
	uint8_t image_seq[4];
	uint8_t padding2[32];
	uint8_t crc[4];		/* of all before it */
};

_Static_assert(sizeof(struct ec_header) == EC_HEADER_BYTES, "as on flash");

/** ec_header_is_good() - whether it has its magic number and its CRC. */
bool ec_header_is_good(const struct ec_header *header,
		       const struct crc32 *crc32);

/** ec_header_vid_offset() - where the block's other header is, in bytes. */
uint32_t ec_header_vid_offset(const struct ec_header *header);

/** ec_header_wear() - @erases more, and the CRC that belongs to that. */
void ec_header_wear(struct ec_header *header, uint64_t erases,
		    const struct crc32 *crc32);

#endif
