// SPDX-License-Identifier: GPL-2.0-only
/*
 * summary.c - see summary.h; and the mutations of summaries.
 */
#include "mutate.h"
#include "summary.h"

#define ENTRY_BYTES	12
#define HEADER_BYTES	16

u32 summary_pages(const struct image *image)
{
	u32 chunk = image_chunk_bytes(image);

	return (ENTRY_BYTES * image->g.pages_per_block + chunk - 1) /
	       (chunk - HEADER_BYTES);
}

u32 summary_entries(const struct image *image)
{
	return image->g.pages_per_block - summary_pages(image);
}

u32 summary_find(const struct image *image, u32 block)
{
	u32 page = block * image->g.pages_per_block + summary_entries(image);
	struct tags tags = image_tags(image, page);

	if (tags.obj == YAFFS_ID_SUMMARY && tags.seq != YAFFS_SEQ_ERASED)
		return page;
	return NO_PAGE;
}

/* Place of byte @at of the array of entries. */
static u8 *byte_at(const struct image *image, u32 block, u32 at)
{
	u32 first = block * image->g.pages_per_block + summary_entries(image);
	u32 room = image_chunk_bytes(image) - HEADER_BYTES;

	return image_data(image, first + at / room) + HEADER_BYTES + at % room;
}

void summary_get(const struct image *image, u32 block, u32 n, u8 entry[12])
{
	u32 i;

	for (i = 0; i < ENTRY_BYTES; i++)
		entry[i] = *byte_at(image, block, n * ENTRY_BYTES + i);
}

void summary_put(const struct image *image, u32 block, u32 n,
		 const u8 entry[12])
{
	u32 i;

	for (i = 0; i < ENTRY_BYTES; i++)
		*byte_at(image, block, n * ENTRY_BYTES + i) = entry[i];
}

static u32 sum_of(const struct image *image, u32 block)
{
	u32 bytes = summary_entries(image) * ENTRY_BYTES, sum = 0, i;

	for (i = 0; i < bytes; i++)
		sum += *byte_at(image, block, i);
	return sum;
}

void summary_seal(const struct image *image, u32 block)
{
	u32 first = block * image->g.pages_per_block + summary_entries(image);
	u32 i, sum = sum_of(image, block);

	for (i = 0; i < summary_pages(image); i++)
		put32(image_data(image, first + i) + 12, sum);
}

bool summary_sum_right(const struct image *image, u32 block)
{
	u32 first = summary_find(image, block);

	return first == NO_PAGE ||
	       get32(image_data(image, first) + 12) == sum_of(image, block);
}

void summary_follow(const struct image *image, u32 page)
{
	u32 block = page / image->g.pages_per_block;
	u32 n = page % image->g.pages_per_block;

	if (summary_find(image, block) == NO_PAGE || n >= summary_entries(image))
		return;
	summary_put(image, block, n, image_tags_place(image, page) + 4);
	summary_seal(image, block);
}

/* A block with a summary, or NO_PAGE. */
static u32 pick_summary(struct mutator *m)
{
	u32 page = pick_page(m, PAGE_SUMMARY), block;

	if (page == NO_PAGE)
		return NO_PAGE;
	block = page / m->image->g.pages_per_block;
	return summary_find(m->image, block) == NO_PAGE ? NO_PAGE : block;
}

static bool entry_field(struct mutator *m)
{
	static const char *const names[] = { "obj", "chunk", "bytes" };
	u32 block = pick_summary(m), n, field, old, value;
	u8 entry[12];

	if (block == NO_PAGE)
		return false;
	n = rng_below(&m->rng, summary_entries(m->image));
	field = rng_below(&m->rng, 3);
	summary_get(m->image, block, n, entry);
	old = get32(entry + 4 * field);
	value = field ? weird(m, old) : weird_id(m);
	put32(entry + 4 * field, value);
	summary_put(m->image, block, n, entry);
	summary_seal(m->image, block);
	note(m, " b%u e%u %s %x>%x", block, n, names[field], old, value);
	return true;
}

static bool entries_swapped(struct mutator *m)
{
	u32 block = pick_summary(m), a, b;
	u8 first[12], second[12];

	if (block == NO_PAGE)
		return false;
	a = rng_below(&m->rng, summary_entries(m->image));
	b = rng_below(&m->rng, summary_entries(m->image));
	summary_get(m->image, block, a, first);
	summary_get(m->image, block, b, second);
	summary_put(m->image, block, a, second);
	/* Half of them are duplicates instead. */
	if (rng_chance(&m->rng, 50))
		summary_put(m->image, block, b, first);
	summary_seal(m->image, block);
	note(m, " b%u e%u e%u", block, a, b);
	return true;
}

static bool header_field(struct mutator *m)
{
	static const char *const names[] = { "version", "block", "seq", "sum" };
	u32 page = pick_page(m, PAGE_SUMMARY), field, old, value;

	if (page == NO_PAGE)
		return false;
	field = rng_below(&m->rng, 4);
	old = get32(image_data(m->image, page) + 4 * field);
	value = weird(m, old);
	put32(image_data(m->image, page) + 4 * field, value);
	note(m, " p%u %s %x>%x", page, names[field], old, value);
	return true;
}

/* The summary of another block, made to look like this one's own. */
static bool summary_of_other(struct mutator *m)
{
	u32 from = pick_summary(m), block = pick_summary(m), i, first, seq;

	if (from == NO_PAGE || block == NO_PAGE)
		return false;
	first = block * m->image->g.pages_per_block + summary_entries(m->image);
	seq = image_tags(m->image, first).seq;
	for (i = 0; i < summary_pages(m->image); i++) {
		struct tags tags;

		image_copy_page(m->image, first + i,
				from * m->image->g.pages_per_block +
				summary_entries(m->image) + i);
		put32(image_data(m->image, first + i) + 4, block + 1);
		put32(image_data(m->image, first + i) + 8, seq);
		tags = image_tags(m->image, first + i);
		tags.seq = seq;
		image_set_tags(m->image, first + i, tags);
	}
	note(m, " b%u from b%u", block, from);
	return true;
}

/* All entries get the same tags, or none at all. */
static bool entries_equal(struct mutator *m)
{
	u32 block = pick_summary(m), i, value;
	u8 entry[12];

	if (block == NO_PAGE)
		return false;
	value = rng_chance(&m->rng, 50) ? 0 : weird(m, 0);
	for (i = 0; i < 3; i++)
		put32(entry + 4 * i, value);
	if (rng_chance(&m->rng, 50))
		summary_get(m->image, block,
			    rng_below(&m->rng, summary_entries(m->image)), entry);
	for (i = 0; i < summary_entries(m->image); i++)
		summary_put(m->image, block, i, entry);
	summary_seal(m->image, block);
	note(m, " b%u obj %x", block, get32(entry));
	return true;
}

const struct mutation_kind summary_mutations[] = {
	{ "sum-entry", 10, entry_field },
	{ "sum-swap", 3, entries_swapped },
	{ "sum-header", 3, header_field },
	{ "sum-other", 2, summary_of_other },
	{ "sum-equal", 2, entries_equal },
	{ 0 },
};
