// SPDX-License-Identifier: GPL-2.0-only
/*
 * survey.c - see survey.h.
 */
#include <stdlib.h>

#include "format.h"
#include "survey.h"

struct survey *survey_new(void)
{
	struct survey *s = calloc(1, sizeof(*s));

	if (!s) {
		fprintf(stderr, "fsfuzz: no memory for a survey\n");
		exit(3);
	}
	return s;
}

/* Without the marks of the segregated layout, by which pages are of the same kinds. */
static struct tags unmarked(struct tags tags)
{
	if (tags.seq == YAFFS_SEGREGATED_CHECKPOINT)
		tags.seq = YAFFS_SEQ_CHECKPOINT;
	if ((tags.seq & YAFFS_SEGREGATED_MASK) == YAFFS_SEGREGATED_MARK) {
		tags.seq &= ~YAFFS_SEGREGATED_MASK;
		tags.obj &= ~(YAFFS_TAG_METADATA |
			      YAFFS_TAG_SEQ_MASK << YAFFS_TAG_SEQ_SHIFT);
	}
	return tags;
}

u32 survey_id(struct tags tags)
{
	tags = unmarked(tags);
	return tags.chunk & YAFFS_TAG_EXTENDED ?
	       tags.obj & YAFFS_TAG_ID_MASK : tags.obj;
}

enum page_kind yaffs_kind_of(const struct image *image, u32 page)
{
	struct tags tags = unmarked(image_tags(image, page));

	if (tags.seq == YAFFS_SEQ_ERASED)
		return image_page_erased(image, page) ? PAGE_ERASED : PAGE_OTHER;
	if (tags.seq == YAFFS_SEQ_CHECKPOINT)
		return PAGE_CHECKPOINT;
	if (tags.seq < YAFFS_SEQ_LOWEST || tags.seq >= YAFFS_SEQ_END)
		return PAGE_OTHER;
	if (tags.obj == YAFFS_ID_SUMMARY)
		return PAGE_SUMMARY;
	if (survey_id(tags) > YAFFS_MAX_OBJECT_ID)
		return PAGE_OTHER;
	if (!tags.chunk || tags.chunk & YAFFS_TAG_EXTENDED)
		return PAGE_HEADER;
	return PAGE_DATA;
}

static void note_header(struct survey *s, const struct image *image, u32 page)
{
	struct tags tags = unmarked(image_tags(image, page));
	u64 age = ((u64)tags.seq << 32) + page;
	u32 id = survey_id(tags), i;

	for (i = 0; i < s->objects && s->object[i].id != id; i++)
		;
	if (i == MAX_OBJECTS)
		return;
	if (i < s->objects && s->object[i].age > age)
		return;
	s->object[i] = (struct object){
		.id = id,
		.page = page,
		.age = age,
		.type = get32(image_data(image, page)),
	};
	if (i == s->objects)
		s->objects++;
}

void survey_take(struct survey *s, const struct image *image)
{
	u32 page, kind;

	for (kind = 0; kind < PAGE_KINDS; kind++)
		s->pages[kind].n = 0;
	s->objects = 0;
	for (page = 0; page < image_pages(image); page++) {
		struct page_list *list;

		kind = image->g.format->kind_of(image, page);
		s->kind[page] = (u8)kind;
		list = &s->pages[kind];
		list->page[list->n++] = (u16)page;
		if (kind == PAGE_HEADER)
			note_header(s, image, page);
	}
}

u32 survey_block_seq(const struct survey *s, const struct image *image,
		     u32 block)
{
	u32 first = block * image->g.pages_per_block, i;

	for (i = 0; i < image->g.pages_per_block; i++)
		if (s->kind[first + i] != PAGE_ERASED)
			return image_tags(image, first + i).seq;
	return YAFFS_SEQ_ERASED;
}
