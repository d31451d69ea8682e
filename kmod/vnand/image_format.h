/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The image of a chip: what an iomem file holds, and what survives the guest.
 * All numbers are little-endian.
 *
 *	offset 0	struct vnand_image_header, padded to 4096 bytes
 *	blocks_offset	struct vnand_image_block, one per erase block
 *	pages_offset	struct vnand_page_state (rules.h), one per page
 *	data_offset	pages, each page_bytes of data and oob_bytes of OOB
 *
 * Each part starts at a multiple of 4096. A file of zeros of the right size is
 * an erased chip, so a new chip is a sparse file: a page whose state says that
 * it was never programmed reads as 0xff, whatever the data part holds.
 */
#ifndef VNAND_IMAGE_FORMAT_H
#define VNAND_IMAGE_FORMAT_H

#include <linux/build_bug.h>
#include <linux/types.h>

#define VNAND_IMAGE_MAGIC	"VNANDIMG"
#define VNAND_IMAGE_VERSION	2
#define VNAND_IMAGE_ALIGN	4096

struct vnand_image_header {
	u8 magic[8];
	__le32 version;
	__le32 page_bytes;
	__le32 oob_bytes;
	__le32 subpages;
	__le32 pages_per_block;
	__le32 blocks;
	__le64 blocks_offset;
	__le64 pages_offset;
	__le64 data_offset;
	__le64 image_bytes;
	__le32 crc;		/* crc32_le(~0) of everything before */
	__le32 unused;
};

static_assert(sizeof(struct vnand_image_header) == 72);

#define VNAND_BLOCK_BAD		1	/* marked bad, or bad from the factory */
#define VNAND_BLOCK_FAILED	2	/* has failed; every further use fails */

struct vnand_image_block {
	__le32 erases;
	__le32 programs;
	__le32 reads;
	__le32 reads_since_erase;
	__le32 next_page;	/* one behind the highest programmed page */
	__le32 flags;
	__le32 shelf_hours;	/* without power since the first program after the erase */
};

static_assert(sizeof(struct vnand_image_block) == 28);

#endif
