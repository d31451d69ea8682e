/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A checkpoint taken out of an image: its stream in one piece, and where the parts
 * of the stream are. Storing it repairs all sums.
 */
#ifndef FSFUZZ_CKPT_H
#define FSFUZZ_CKPT_H

#include "survey.h"

#define CKPT_MAX_PAGES	512
#define CKPT_MAX_PARTS	1024

/**
 * struct ckpt - a checkpoint
 * @pages: pages that hold it now
 * @page: these, in order of the stream
 * @stream: contents without the pages' headers
 * @room: bytes that @stream has room for
 * @bytes: its length, with the sum at the end; all of the pages if not @parsed
 * @parsed: all parts were found, and the members below are valid
 * @objects_at, @end_at: where the list of objects begins and what follows it
 * @object: where each object begins
 * @leaf: where each leaf begins, with its index word
 * @leaves_end: where each list of leaves ends
 */
struct ckpt {
	const struct geometry *g;
	u32 pages;
	u16 page[CKPT_MAX_PAGES];
	u8 *stream;
	u32 room, bytes;
	bool parsed;
	u32 device_at, blocks_at, bitmaps_at, objects_at, end_at;
	u32 objects, leaves, leaf_lists;
	u32 object[CKPT_MAX_PARTS];
	u32 leaf[CKPT_MAX_PARTS];
	u32 leaves_end[CKPT_MAX_PARTS];
};

/* Returns NULL if the image has no checkpoint. */
struct ckpt *ckpt_load(const struct image *image, const struct survey *s);
void ckpt_free(struct ckpt *c);
/* Bytes that are put in or, if @bytes is negative, taken out at @at. */
void ckpt_resize(struct ckpt *c, u32 at, s32 bytes);
/*
 * Writes the stream back with right sums. Pages are added behind the last one if
 * the stream has grown and these are erased; else its end is lost.
 */
void ckpt_store(const struct ckpt *c, struct image *image);
/* Checks the sums of an unmutated image's checkpoint; true also if it has none. */
bool ckpt_sums_right(const struct image *image, const struct survey *s);

/* Bits of a chunk number in a leaf. */
u32 ckpt_leaf_bits(const struct geometry *g);
u32 ckpt_leaf_get(const struct ckpt *c, u32 leaf, u32 entry);
void ckpt_leaf_put(struct ckpt *c, u32 leaf, u32 entry, u32 chunk);

#endif
