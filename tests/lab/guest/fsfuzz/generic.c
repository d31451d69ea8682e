// SPDX-License-Identifier: GPL-2.0-only
/*
 * generic.c - mutations that know pages and blocks, and nothing of the format.
 * ECC and sums are left as they are.
 */
#include "mutate.h"

/* A place in a page: mostly its start, where headers are, or its OOB. */
static u8 *pick_place(struct mutator *m, u32 page, u32 *at, u32 *room)
{
	const struct geometry *g = &m->image->g;

	if (rng_chance(&m->rng, 30)) {
		*at = rng_below(&m->rng, g->oob_bytes);
		*room = g->oob_bytes - *at;
		return image_oob(m->image, page) + *at;
	}
	*at = rng_chance(&m->rng, 70) ? rng_below(&m->rng, 512) :
	      rng_below(&m->rng, g->page_bytes);
	*room = g->page_bytes - *at;
	return image_data(m->image, page) + *at;
}

static bool bit_flips(struct mutator *m)
{
	u32 page = pick_used_page(m), n = 1 + rng_below(&m->rng, 8), i, at, room;

	if (page == NO_PAGE)
		return false;
	note(m, " p%u", page);
	for (i = 0; i < n; i++) {
		u8 *place = pick_place(m, page, &at, &room);

		*place ^= (u8)(1u << rng_below(&m->rng, 8));
		note(m, " %u", at);
	}
	return true;
}

static bool word(struct mutator *m)
{
	u32 page = pick_used_page(m), at, room, old;
	u8 *place;

	if (page == NO_PAGE)
		return false;
	place = pick_place(m, page, &at, &room);
	place -= at % 4;
	old = get32(place);
	put32(place, weird(m, old));
	note(m, " p%u +%u %x>%x", page, at - at % 4, old, get32(place));
	return true;
}

static bool range(struct mutator *m)
{
	u32 page = pick_used_page(m), at, room, n, from;
	u8 *place;

	if (page == NO_PAGE)
		return false;
	place = pick_place(m, page, &at, &room);
	n = 1 + rng_below(&m->rng, room);
	from = rng_below(&m->rng, m->image->g.page_bytes - n + 1);
	switch (rng_below(&m->rng, 4)) {
	case 0:
		memset(place, 0, n);
		break;
	case 1:
		memset(place, 0xff, n);
		break;
	case 2:
		memmove(place, image_data(m->image, page) + from, n);
		break;
	default:
		memcpy(place, image_data(m->image, rng_below(&m->rng,
				image_pages(m->image) - 1)) + from, n);
		break;
	}
	note(m, " p%u +%u %u bytes", page, at, n);
	return true;
}

static bool page_erased(struct mutator *m)
{
	u32 page = pick_used_page(m);

	if (page == NO_PAGE)
		return false;
	image_erase_page(m->image, page);
	note(m, " p%u", page);
	return true;
}

/* A program that was cut short: a part of the page, with or without its OOB. */
static bool page_torn(struct mutator *m)
{
	u32 page = pick_used_page(m), at;

	if (page == NO_PAGE)
		return false;
	at = rng_below(&m->rng, m->image->g.page_bytes);
	memset(image_data(m->image, page) + at, 0xff,
	       m->image->g.page_bytes - at);
	if (rng_chance(&m->rng, 50)) {
		u32 keep = rng_below(&m->rng, m->image->g.oob_bytes);

		memset(image_oob(m->image, page) + keep, 0xff,
		       m->image->g.oob_bytes - keep);
	}
	note(m, " p%u +%u", page, at);
	return true;
}

static void swap_pages(struct image *image, u32 a, u32 b)
{
	u8 data[16384], oob[2048];

	memcpy(data, image_data(image, a), image->g.page_bytes);
	memcpy(oob, image_oob(image, a), image->g.oob_bytes);
	image_copy_page(image, a, b);
	memcpy(image_data(image, b), data, image->g.page_bytes);
	memcpy(image_oob(image, b), oob, image->g.oob_bytes);
}

static bool pages_swapped(struct mutator *m)
{
	u32 a = pick_used_page(m), b = pick_used_page(m);

	if (a == b)
		return false;
	/* Half of them within a block, where the sequence number still fits. */
	if (rng_chance(&m->rng, 50))
		b = a - a % m->image->g.pages_per_block +
		    rng_below(&m->rng, m->image->g.pages_per_block);
	swap_pages(m->image, a, b);
	note(m, " p%u p%u", a, b);
	return true;
}

static bool page_duplicated(struct mutator *m)
{
	u32 from = pick_used_page(m);
	u32 to = rng_chance(&m->rng, 50) ? pick_used_page(m) :
		 pick_next_free_page(m);

	if (from == NO_PAGE || to == NO_PAGE || from == to)
		return false;
	image_copy_page(m->image, to, from);
	note(m, " p%u to p%u", from, to);
	return true;
}

static bool blocks_swapped(struct mutator *m)
{
	u32 per_block = m->image->g.pages_per_block;
	u32 a = pick_block(m), b = pick_block(m), i;

	if (a == b)
		return false;
	for (i = 0; i < per_block; i++)
		swap_pages(m->image, a * per_block + i, b * per_block + i);
	note(m, " b%u b%u", a, b);
	return true;
}

static bool block_duplicated(struct mutator *m)
{
	u32 per_block = m->image->g.pages_per_block;
	u32 from = pick_block(m), to = rng_below(&m->rng, m->image->g.blocks), i;

	if (from == to)
		return false;
	for (i = 0; i < per_block; i++)
		image_copy_page(m->image, to * per_block + i,
				from * per_block + i);
	note(m, " b%u to b%u", from, to);
	return true;
}

static bool block_erased(struct mutator *m)
{
	u32 block = pick_block(m), first = block * m->image->g.pages_per_block;
	u32 keep = rng_chance(&m->rng, 50) ? 0 :
		   rng_below(&m->rng, m->image->g.pages_per_block), i;

	/* An erase that was cut short leaves the first or the last pages. */
	for (i = keep; i < m->image->g.pages_per_block; i++)
		image_erase_page(m->image, first + i);
	note(m, " b%u from %u", block, keep);
	return true;
}

static bool block_of_noise(struct mutator *m)
{
	u32 block = rng_below(&m->rng, m->image->g.blocks), page, i;
	u32 first = block * m->image->g.pages_per_block;

	for (page = first; page < first + m->image->g.pages_per_block; page++) {
		u8 *data = image_data(m->image, page);
		u8 *oob = image_oob(m->image, page);

		for (i = 0; i < m->image->g.page_bytes; i++)
			data[i] = (u8)rng_next(&m->rng);
		for (i = 0; i < m->image->g.oob_bytes; i++)
			oob[i] = (u8)rng_next(&m->rng);
		if (rng_chance(&m->rng, 50))
			image_seal_tags(m->image, page);
	}
	note(m, " b%u", block);
	return true;
}

const struct mutation_kind generic_mutations[] = {
	{ "flip", 6, bit_flips },
	{ "word", 6, word },
	{ "range", 5, range },
	{ "page-erase", 4, page_erased },
	{ "page-torn", 4, page_torn },
	{ "page-swap", 3, pages_swapped },
	{ "page-dup", 4, page_duplicated },
	{ "block-swap", 2, blocks_swapped },
	{ "block-dup", 3, block_duplicated },
	{ "block-erase", 3, block_erased },
	{ "block-noise", 1, block_of_noise },
	{ 0 },
};
