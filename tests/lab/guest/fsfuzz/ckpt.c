// SPDX-License-Identifier: GPL-2.0-only
/*
 * ckpt.c - see ckpt.h.
 */
#include <stdlib.h>

#include "ckpt.h"

#define PAGE_HEADER_BYTES	16
#define VALIDITY_BYTES		16
#define DEVICE_BYTES		36
#define BLOCK_BYTES		8
#define OBJECT_BYTES		32
#define LEAF_BYTES		(4 + YAFFS_CKPT_LEAF_BYTES)
#define SPARE_PAGES		4

static u32 room_of_page(const struct image *image)
{
	return image_chunk_bytes(image) - PAGE_HEADER_BYTES;
}

u32 ckpt_leaf_bits(const struct geometry *g)
{
	u32 chunks = (g->blocks + 1) * g->pages_per_block, bits = 16;

	while (bits < 32 && chunks >> bits)
		bits += 2;
	return bits;
}

static u8 *leaf_byte(const struct ckpt *c, u32 leaf, u32 bit)
{
	return c->stream + c->leaf[leaf] + 4 + bit / 8;
}

u32 ckpt_leaf_get(const struct ckpt *c, u32 leaf, u32 entry)
{
	u32 bits = ckpt_leaf_bits(c->g), value = 0, i;

	for (i = 0; i < bits; i++) {
		u32 bit = entry * bits + i;

		value |= (u32)(*leaf_byte(c, leaf, bit) >> bit % 8 & 1) << i;
	}
	return value;
}

void ckpt_leaf_put(struct ckpt *c, u32 leaf, u32 entry, u32 chunk)
{
	u32 bits = ckpt_leaf_bits(c->g), i;

	for (i = 0; i < bits; i++) {
		u32 bit = entry * bits + i;
		u8 *byte = leaf_byte(c, leaf, bit);

		*byte = (u8)((*byte & ~(1u << bit % 8)) |
			     (chunk >> i & 1) << bit % 8);
	}
}

/* Returns the place behind the leaves that begin at @at, or 0. */
static u32 parse_leaves(struct ckpt *c, u32 at)
{
	while (at + 4 <= c->bytes) {
		if (get32(c->stream + at) == YAFFS_CKPT_LEAVES_END) {
			if (c->leaf_lists == CKPT_MAX_PARTS)
				return 0;
			c->leaves_end[c->leaf_lists++] = at;
			return at + 4;
		}
		if (c->leaves == CKPT_MAX_PARTS)
			return 0;
		c->leaf[c->leaves++] = at;
		at += LEAF_BYTES;
	}
	return 0;
}

/* Returns the place behind the list of objects, or 0. */
static u32 parse_objects(struct ckpt *c, u32 at)
{
	while (at && at + OBJECT_BYTES <= c->bytes) {
		const u8 *object = c->stream + at;

		if (get32(object) != OBJECT_BYTES)
			return 0;
		if (get32(object + 4) == 0xffffffff)
			return at + OBJECT_BYTES;
		if (c->objects == CKPT_MAX_PARTS)
			return 0;
		c->object[c->objects++] = at;
		at += OBJECT_BYTES;
		if ((get32(object + 16) & 7) == YAFFS_TYPE_FILE)
			at = parse_leaves(c, at);
	}
	return 0;
}

static void parse(struct ckpt *c)
{
	u32 bitmap_bytes = (c->g->pages_per_block + 7) / 8;

	c->device_at = VALIDITY_BYTES;
	c->blocks_at = c->device_at + DEVICE_BYTES;
	c->bitmaps_at = c->blocks_at + c->g->blocks * BLOCK_BYTES;
	c->objects_at = c->bitmaps_at + c->g->blocks * bitmap_bytes;
	c->end_at = parse_objects(c, c->objects_at);
	if (!c->end_at || c->end_at + VALIDITY_BYTES + 4 > c->bytes)
		return;
	c->bytes = c->end_at + VALIDITY_BYTES + 4;
	c->parsed = true;
}

static void sort_pages(struct ckpt *c, const struct image *image)
{
	u32 i, j;

	for (i = 1; i < c->pages; i++) {
		u16 page = c->page[i];

		for (j = i; j; j--) {
			if (image_tags(image, c->page[j - 1]).chunk <=
			    image_tags(image, page).chunk)
				break;
			c->page[j] = c->page[j - 1];
		}
		c->page[j] = page;
	}
}

struct ckpt *ckpt_load(const struct image *image, const struct survey *s)
{
	const struct page_list *list = &s->pages[PAGE_CHECKPOINT];
	u32 room = room_of_page(image), i;
	struct ckpt *c;

	/* Of the segregated layout's only bytes are changed: it has another form. */
	if (!list->n || list->n > CKPT_MAX_PAGES ||
	    image_tags(image, list->page[0]).seq == YAFFS_SEGREGATED_CHECKPOINT)
		return NULL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->g = &image->g;
	c->pages = list->n;
	c->bytes = c->pages * room;
	c->room = c->bytes + SPARE_PAGES * room;
	c->stream = calloc(1, c->room);
	if (!c->stream) {
		free(c);
		return NULL;
	}
	memcpy(c->page, list->page, c->pages * sizeof(c->page[0]));
	sort_pages(c, image);
	for (i = 0; i < c->pages; i++)
		memcpy(c->stream + i * room,
		       image_data(image, c->page[i]) + PAGE_HEADER_BYTES, room);
	parse(c);
	return c;
}

void ckpt_free(struct ckpt *c)
{
	if (c)
		free(c->stream);
	free(c);
}

void ckpt_resize(struct ckpt *c, u32 at, s32 bytes)
{
	u32 tail = c->bytes - at;

	if (bytes > 0 && c->bytes + (u32)bytes <= c->room) {
		memmove(c->stream + at + bytes, c->stream + at, tail);
		c->bytes += (u32)bytes;
	} else if (bytes < 0 && tail >= (u32)-bytes) {
		memmove(c->stream + at, c->stream + at - bytes,
			tail - (u32)-bytes);
		c->bytes -= (u32)-bytes;
	}
}

/* The page for part @n of the stream, or NO_PAGE. */
static u32 page_for(const struct ckpt *c, struct image *image, u32 n)
{
	u32 page;
	struct tags tags;

	if (n < c->pages)
		return c->page[n];
	page = c->page[c->pages - 1] + (n + 1 - c->pages);
	if (page / c->g->pages_per_block !=
	    c->page[c->pages - 1] / c->g->pages_per_block ||
	    !image_page_erased(image, page))
		return NO_PAGE;
	tags = image_tags(image, page - 1);
	tags.chunk++;
	image_set_tags(image, page, tags);
	return page;
}

static void put_part(const struct ckpt *c, struct image *image, u32 page,
		     u32 n, u32 sum, u32 xor)
{
	u8 *data = image_data(image, page);
	u32 room = room_of_page(image), at = n * room;
	u32 bytes = c->bytes - at < room ? c->bytes - at : room;

	put32(data, YAFFS_CKPT_VERSION);
	put32(data + 4, n);
	put32(data + 8, sum);
	put32(data + 12, xor);
	memset(data + PAGE_HEADER_BYTES, 0xff, room);
	memcpy(data + PAGE_HEADER_BYTES, c->stream + at, bytes);
}

void ckpt_store(const struct ckpt *c, struct image *image)
{
	u32 room = room_of_page(image), sum = 0, xor = 0, at, end;

	for (at = 0, end = c->bytes - 4; at < end; at++) {
		sum += c->stream[at];
		xor ^= c->stream[at];
	}
	put32(c->stream + end, sum << 8 | (xor & 0xff));
	sum = 0;
	xor = 0;
	for (at = 0; at < c->bytes; at++) {
		if (at % room == 0) {
			u32 page = page_for(c, image, at / room);

			if (page == NO_PAGE)
				return;
			put_part(c, image, page, at / room, sum, xor);
		}
		sum += c->stream[at];
		xor ^= c->stream[at];
	}
}

bool ckpt_sums_right(const struct image *image, const struct survey *s)
{
	struct ckpt *c = ckpt_load(image, s);
	struct image copy;
	bool right = false;
	u32 i;

	if (!c)
		return true;
	copy = image_new(&image->g);
	image_copy(&copy, image);
	/* Storing it unchanged changes nothing but what lies behind the sum. */
	if (c->parsed) {
		ckpt_store(c, &copy);
		right = true;
		for (i = 0; i < c->pages; i++) {
			u32 at = i * room_of_page(image), bytes = c->bytes - at;

			if (at >= c->bytes)
				break;
			if (bytes > room_of_page(image))
				bytes = room_of_page(image);
			if (memcmp(image_data(image, c->page[i]),
				   image_data(&copy, c->page[i]),
				   PAGE_HEADER_BYTES + bytes))
				right = false;
		}
	}
	image_free(&copy);
	ckpt_free(c);
	return right;
}
