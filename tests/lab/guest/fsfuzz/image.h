/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An image in memory: all pages of a partition with their OOB, and the tags in them.
 *
 * The structures of YAFFS2 are kmod/yaffs/format/media.h. The ECC of the tags is
 * written a second time here, after the format's description and not after the
 * module, so that yaffs_check() finds where the two disagree.
 */
#ifndef FSFUZZ_IMAGE_H
#define FSFUZZ_IMAGE_H

#include <stdio.h>

#include "media.h"

struct format;

/**
 * struct geometry - what is on the flash, and how
 * @tags_at: offset of the tags in the OOB
 * @inband: tags are in the last 16 bytes of the page instead
 * @format: what the flash holds
 */
struct geometry {
	u32 page_bytes;
	u32 oob_bytes;
	u32 pages_per_block;
	u32 blocks;
	u32 tags_at;
	bool inband;
	const struct format *format;
};

struct image {
	struct geometry g;
	u8 *data;	/* page_bytes of each page */
	u8 *oob;	/* oob_bytes of each page */
};

/* Tags as they are on flash, in the CPU's byte order. */
struct tags {
	u32 seq;
	u32 obj;
	u32 chunk;
	u32 bytes;
};

static inline u32 image_pages(const struct image *image)
{
	return image->g.blocks * image->g.pages_per_block;
}

/* Bytes of a page that hold contents: what the format calls S. */
static inline u32 image_chunk_bytes(const struct image *image)
{
	return image->g.page_bytes - (image->g.inband ? 16 : 0);
}

static inline u8 *image_data(const struct image *image, u32 page)
{
	return image->data + (size_t)page * image->g.page_bytes;
}

static inline u8 *image_oob(const struct image *image, u32 page)
{
	return image->oob + (size_t)page * image->g.oob_bytes;
}

static inline u32 get32(const void *from)
{
	__le32 v;

	memcpy(&v, from, sizeof(v));
	return le32_to_cpu(v);
}

static inline void put32(void *to, u32 value)
{
	__le32 v = cpu_to_le32(value);

	memcpy(to, &v, sizeof(v));
}

/* An erased image; ends the program if there is no memory. */
struct image image_new(const struct geometry *g);
void image_free(struct image *image);
void image_copy(struct image *to, const struct image *from);

bool image_page_erased(const struct image *image, u32 page);
void image_erase_page(struct image *image, u32 page);
void image_erase_block(struct image *image, u32 block);
void image_copy_page(struct image *image, u32 to, u32 from);

/* Where the tags of a page are: 16 bytes. */
u8 *image_tags_place(const struct image *image, u32 page);
struct tags image_tags(const struct image *image, u32 page);
/* Writes tags without touching their ECC. */
void image_put_tags(struct image *image, u32 page, struct tags tags);
/* Makes the ECC agree with the tags. In-band tags have none. */
void image_seal_tags(struct image *image, u32 page);
void image_set_tags(struct image *image, u32 page, struct tags tags);

void tags_ecc(const u8 tags[16], u8 ecc[12]);

#endif
