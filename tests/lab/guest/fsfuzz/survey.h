/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an image holds: pages by kind, objects by id, sequence numbers. Mutations
 * are aimed with it; it is taken anew after each, so that they add up.
 */
#ifndef FSFUZZ_SURVEY_H
#define FSFUZZ_SURVEY_H

#include "image.h"

#define MAX_PAGES	8192
#define MAX_OBJECTS	1024

#define NO_PAGE		0xffffffffu

enum page_kind {
	PAGE_ERASED,
	PAGE_DATA,
	PAGE_HEADER,
	PAGE_SUMMARY,
	PAGE_CHECKPOINT,
	PAGE_OTHER,	/* programmed, tags out of range */
	PAGE_KINDS
};

struct page_list {
	u32 n;
	u16 page[MAX_PAGES];
};

/* An object and its newest header. */
struct object {
	u32 id;
	u32 page;
	u64 age;	/* larger is newer */
	u32 type;	/* of the header in the page */
};

struct survey {
	u8 kind[MAX_PAGES];
	struct page_list pages[PAGE_KINDS];
	u32 objects;
	struct object object[MAX_OBJECTS];
};

struct survey *survey_new(void);
void survey_take(struct survey *s, const struct image *image);

/* Object id without the type that extended tags put into it. */
u32 survey_id(struct tags tags);

/* Sequence number of the first programmed page, YAFFS_SEQ_ERASED if none is. */
u32 survey_block_seq(const struct survey *s, const struct image *image,
		     u32 block);

#endif
