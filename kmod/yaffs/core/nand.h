/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * nand.c: one page, one block.
 */
#ifndef YAFFS_NAND_H
#define YAFFS_NAND_H

#include "device.h"

/*
 * Reads a page: data (chunk_bytes) and tags, each may be NULL; with both, @data has
 * page_bytes of room. A corrected bit error marks the block. Returns -EBADMSG if data
 * or tags cannot be corrected, -EUCLEAN if tags are not possible ones. With in-band
 * tags and -EBADMSG, @tags->used says that the tags are possible ones: bits of the page
 * are wrong, hardly those.
 */
int yaffs_nand_read(struct yaffs_device *dev, u32 chunk, u8 *data,
		    struct yaffs_tags *tags);
/*
 * Reads a page that memory has as @id, with page_bytes of room in @data. -EBADMSG: it cannot be
 * read, was lost (YAFFS_LOST_BYTES), or its tags say that it is not that page: a page that was
 * erased or written below the file system reads without an error of the chip. Then the log has
 * a line.
 */
int yaffs_nand_read_known(struct yaffs_device *dev, u32 chunk, u8 *data,
			  const struct yaffs_identity *id);
static inline void yaffs_note_first(struct yaffs_first *first,
				    const struct yaffs_tags *tags)
{
	first->seq = tags->used ? tags->seq : YAFFS_SEQ_ERASED;
	first->segregated = tags->segregated;
	first->metadata = tags->metadata;
}

/* @page: the chunk, with page_bytes of room; in-band tags go behind the chunk. */
int yaffs_nand_write(struct yaffs_device *dev, u32 chunk, u8 *page,
		     const struct yaffs_tags_media *tags);
int yaffs_nand_erase(struct yaffs_device *dev, u32 block);
bool yaffs_nand_is_bad(struct yaffs_device *dev, u32 block);
int yaffs_nand_mark_bad(struct yaffs_device *dev, u32 block);
/* 1: data and tags are all 0xff, 0: not, or an error. Uses @page as a buffer. */
int yaffs_nand_is_erased(struct yaffs_device *dev, u32 chunk, u8 *page);
/* True if one of some blocks in @state holds what the other tag mode writes. */
bool yaffs_nand_wrong_mode(struct yaffs_device *dev, u8 state);
/* True if a page has tags where the other tag mode puts them. */
bool yaffs_nand_has_other_tags(struct yaffs_device *dev, u32 chunk);
/* Tag mode for a chip; fills in the geometry. */
int yaffs_nand_setup(struct yaffs_device *dev);

#endif
