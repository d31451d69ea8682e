// SPDX-License-Identifier: GPL-2.0-only
/*
 * image.c - see image.h.
 */
#include <stdlib.h>

#include "ckpt.h"
#include "format.h"
#include "image.h"
#include "summary.h"
#include "survey.h"

static u8 *allocate(size_t bytes)
{
	u8 *memory = malloc(bytes);

	if (!memory) {
		fprintf(stderr, "fsfuzz: no memory for an image\n");
		exit(3);
	}
	memset(memory, 0xff, bytes);
	return memory;
}

struct image image_new(const struct geometry *g)
{
	struct image image = { .g = *g };

	image.data = allocate((size_t)image_pages(&image) * g->page_bytes);
	image.oob = allocate((size_t)image_pages(&image) * g->oob_bytes);
	return image;
}

void image_free(struct image *image)
{
	free(image->data);
	free(image->oob);
}

void image_copy(struct image *to, const struct image *from)
{
	size_t pages = image_pages(from);

	memcpy(to->data, from->data, pages * from->g.page_bytes);
	memcpy(to->oob, from->oob, pages * from->g.oob_bytes);
}

static bool all_ff(const u8 *bytes, u32 n)
{
	/* Equal to itself one byte further, and the first is 0xff. */
	return bytes[0] == 0xff && !memcmp(bytes, bytes + 1, n - 1);
}

bool image_page_erased(const struct image *image, u32 page)
{
	return all_ff(image_oob(image, page), image->g.oob_bytes) &&
	       all_ff(image_data(image, page), image->g.page_bytes);
}

void image_erase_page(struct image *image, u32 page)
{
	memset(image_data(image, page), 0xff, image->g.page_bytes);
	memset(image_oob(image, page), 0xff, image->g.oob_bytes);
}

void image_erase_block(struct image *image, u32 block)
{
	u32 page = block * image->g.pages_per_block, i;

	for (i = 0; i < image->g.pages_per_block; i++)
		image_erase_page(image, page + i);
}

void image_copy_page(struct image *image, u32 to, u32 from)
{
	if (to == from)
		return;
	memcpy(image_data(image, to), image_data(image, from),
	       image->g.page_bytes);
	memcpy(image_oob(image, to), image_oob(image, from),
	       image->g.oob_bytes);
}

u8 *image_tags_place(const struct image *image, u32 page)
{
	if (image->g.inband)
		return image_data(image, page) + image->g.page_bytes - 16;
	return image_oob(image, page) + image->g.tags_at;
}

struct tags image_tags(const struct image *image, u32 page)
{
	const u8 *from = image_tags_place(image, page);

	return (struct tags){
		get32(from), get32(from + 4), get32(from + 8), get32(from + 12),
	};
}

void image_put_tags(struct image *image, u32 page, struct tags tags)
{
	u8 *to = image_tags_place(image, page);

	put32(to, tags.seq);
	put32(to + 4, tags.obj);
	put32(to + 8, tags.chunk);
	put32(to + 12, tags.bytes);
}

/* Parity of the bits of @byte that @mask chooses. */
static u32 parity(u8 byte, u8 mask)
{
	return (u32)__builtin_parity(byte & mask);
}

void tags_ecc(const u8 tags[16], u8 ecc[12])
{
	static const u8 columns[6] = { 0x55, 0xaa, 0x33, 0xcc, 0x0f, 0xf0 };
	u32 line = 0, inverse = 0, i, c;

	memset(ecc, 0, 12);
	for (i = 0; i < 16; i++) {
		for (c = 0; c < 6; c++)
			ecc[0] ^= (u8)(parity(tags[i], columns[c]) << c);
		if (parity(tags[i], 0xff)) {
			line ^= i;
			inverse ^= ~i;
		}
	}
	put32(ecc + 4, line);
	put32(ecc + 8, inverse);
}

void image_seal_tags(struct image *image, u32 page)
{
	u8 *tags = image_tags_place(image, page);

	if (!image->g.inband)
		tags_ecc(tags, tags + 16);
}

void image_set_tags(struct image *image, u32 page, struct tags tags)
{
	image_put_tags(image, page, tags);
	image_seal_tags(image, page);
}

static bool tags_agree_with_ecc(const struct image *image, u32 page)
{
	const u8 *tags = image_tags_place(image, page);
	u8 ecc[12];

	if (image->g.inband)
		return true;
	tags_ecc(tags, ecc);
	/* The padding of the ECC is not defined. */
	return (tags[16] & 0x3f) == ecc[0] && !memcmp(tags + 20, ecc + 4, 8);
}

u32 yaffs_check(const struct image *image, FILE *out)
{
	static const char *const names[PAGE_KINDS] = {
		"erased", "data", "header", "summary", "checkpoint", "other",
	};
	struct survey *s = survey_new();
	u32 wrong = 0, page, kind;

	survey_take(s, image);
	for (page = 0; page < image_pages(image); page++) {
		if (s->kind[page] == PAGE_ERASED ||
		    tags_agree_with_ecc(image, page))
			continue;
		fprintf(out, "page %u: ECC of the tags is wrong\n", page);
		wrong++;
	}
	for (page = 0; page < image->g.blocks; page++) {
		if (summary_sum_right(image, page))
			continue;
		fprintf(out, "block %u: sum of the summary is wrong\n", page);
		wrong++;
	}
	if (!ckpt_sums_right(image, s)) {
		fprintf(out, "a sum of the checkpoint is wrong\n");
		wrong++;
	}
	for (kind = 0; kind < PAGE_KINDS; kind++)
		fprintf(out, "%u %s%s", s->pages[kind].n, names[kind],
			kind + 1 < PAGE_KINDS ? ", " : " pages");
	fprintf(out, ", %u objects\n", s->objects);
	free(s);
	return wrong;
}
