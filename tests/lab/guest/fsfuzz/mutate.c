// SPDX-License-Identifier: GPL-2.0-only
/*
 * mutate.c - choosing mutations and what they aim at; see mutate.h.
 */
#include <stdarg.h>

#include "format.h"
#include "mutate.h"
#include "summary.h"

void note(struct mutator *m, const char *format, ...)
{
	u32 room = MAX_TEXT - m->text_bytes;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(m->text + m->text_bytes, room, format, args);
	va_end(args);
	m->text_bytes += (u32)n < room ? (u32)n : room - 1;
}

u32 pick_page(struct mutator *m, enum page_kind kind)
{
	const struct page_list *list = &m->s->pages[kind];

	return list->n ? list->page[rng_below(&m->rng, list->n)] : NO_PAGE;
}

u32 pick_used_page(struct mutator *m)
{
	u32 used = image_pages(m->image) - m->s->pages[PAGE_ERASED].n;
	u32 n = rng_below(&m->rng, used), kind;

	if (!used)
		return NO_PAGE;
	for (kind = PAGE_ERASED + 1; kind < PAGE_KINDS; kind++) {
		const struct page_list *list = &m->s->pages[kind];

		if (n < list->n)
			return list->page[n];
		n -= list->n;
	}
	return NO_PAGE;
}

u32 pick_block(struct mutator *m)
{
	/* Mostly one that holds something. */
	if (rng_chance(&m->rng, 80)) {
		u32 page = pick_used_page(m);

		if (page != NO_PAGE)
			return page / m->image->g.pages_per_block;
	}
	return rng_below(&m->rng, m->image->g.blocks);
}

u32 pick_next_free_page(struct mutator *m)
{
	u32 per_block = m->image->g.pages_per_block, tries, page, end;

	for (tries = 0; tries < 20; tries++) {
		u32 block = rng_chance(&m->rng, 50) ? pick_block(m) :
			    rng_below(&m->rng, m->image->g.blocks);

		end = (block + 1) * per_block;
		for (page = end; page > end - per_block; page--)
			if (m->s->kind[page - 1] != PAGE_ERASED)
				break;
		if (page < end)
			return page;
	}
	return NO_PAGE;
}

u32 pick_header(struct mutator *m)
{
	if (!m->s->objects || rng_chance(&m->rng, 15))
		return pick_page(m, PAGE_HEADER);
	return m->s->object[rng_below(&m->rng, m->s->objects)].page;
}

u32 pick_header_of(struct mutator *m, u32 type)
{
	u32 n = 0, i;

	for (i = 0; i < m->s->objects; i++)
		n += m->s->object[i].type == type;
	n = rng_below(&m->rng, n);
	for (i = 0; i < m->s->objects; i++)
		if (m->s->object[i].type == type && !n--)
			return m->s->object[i].page;
	return NO_PAGE;
}

u32 weird(struct mutator *m, u32 old)
{
	static const u32 values[] = {
		0, 1, 2, 3, 4, 5, 15, 16, 17, 0x20, 0x21, 0xff, 0x100, 0x101,
		0xfff, 0x1000, 0x1001, 0xffff, 0x10000, 0x3ffff, 0x40000,
		0xffffff, 0x1000000, 0x0fffffff, 0x10000000, 0x20000000,
		0x7fffffff, 0x80000000, 0xc0000000, 0xefffff00, 0xeffffeff,
		0xffff0000, 0xfffffffe, 0xffffffff,
	};
	const struct geometry *g = &m->image->g;
	u32 own[] = {
		g->page_bytes, g->page_bytes - 16, g->page_bytes + 1,
		g->pages_per_block, g->blocks, g->blocks + 1,
		g->blocks * g->pages_per_block,
		(g->blocks + 1) * g->pages_per_block,
		(g->blocks + 1) * g->pages_per_block - 1,
	};

	switch (rng_below(&m->rng, 8)) {
	case 0:
		return old + 1;
	case 1:
		return old - 1;
	case 2:
		return old ^ 1u << rng_below(&m->rng, 32);
	case 3:
		return (u32)rng_next(&m->rng);
	case 4:
		return own[rng_below(&m->rng, ARRAY_SIZE(own))];
	case 5:
		return rng_below(&m->rng, 2 * g->blocks * g->pages_per_block);
	default:
		return values[rng_below(&m->rng, ARRAY_SIZE(values))];
	}
}

u64 weird_size(struct mutator *m)
{
	u64 size = 1ull << rng_below(&m->rng, 64);

	switch (rng_below(&m->rng, 6)) {
	case 0:
		return size - 1;
	case 1:
		return size + 1;
	case 2:
		return rng_next(&m->rng);
	case 3:
		return (u64)YAFFS_MAX_CHUNK_ID * image_chunk_bytes(m->image) +
		       rng_below(&m->rng, 3) - 1;
	case 4:
		return weird(m, 0);
	default:
		return size;
	}
}

u32 weird_id(struct mutator *m)
{
	static const u32 values[] = {
		0, 1, 2, 3, 4, 5, 0x10, 0x20, 0xff, 0x100, 0x101, 0x3ffff,
		0x40000, 0x0fffffff, 0x10000000, 0xffffffff,
	};

	if (m->s->objects && rng_chance(&m->rng, 60))
		return m->s->object[rng_below(&m->rng, m->s->objects)].id;
	if (rng_chance(&m->rng, 80))
		return values[rng_below(&m->rng, ARRAY_SIZE(values))];
	return weird(m, 0x101);
}

void change_tags(struct mutator *m, u32 page, struct tags tags)
{
	image_put_tags(m->image, page, tags);
	if (rng_chance(&m->rng, 96))
		image_seal_tags(m->image, page);
	else
		note(m, " unsealed");
	if (rng_chance(&m->rng, 80))
		summary_follow(m->image, page);
	else
		note(m, " nosum");
}

void forge_page(struct mutator *m, u32 page, struct tags tags, u8 fill)
{
	memset(image_data(m->image, page), fill, m->image->g.page_bytes);
	memset(image_oob(m->image, page), 0xff, m->image->g.oob_bytes);
	image_set_tags(m->image, page, tags);
	summary_follow(m->image, page);
}

static const struct mutation_kind *draw_kind(struct mutator *m,
					     const struct mutation_kind *kinds)
{
	u32 total = 0, n, i;

	for (i = 0; kinds[i].name; i++)
		total += kinds[i].weight;
	n = rng_below(&m->rng, total);
	for (i = 0; n >= kinds[i].weight; i++)
		n -= kinds[i].weight;
	return &kinds[i];
}

static const struct mutation_kind *draw(struct mutator *m)
{
	const struct mutation_group *groups = m->image->g.format->groups;
	u32 total = 0, n, i;

	for (i = 0; groups[i].kinds; i++)
		total += groups[i].weight;
	n = rng_below(&m->rng, total);
	for (i = 0; n >= groups[i].weight; i++)
		n -= groups[i].weight;
	return draw_kind(m, groups[i].kinds);
}

static void mutate_once(struct mutator *m)
{
	u32 tries;

	for (tries = 0; tries < 50; tries++) {
		const struct mutation_kind *kind = draw(m);
		u32 before = m->text_bytes;

		survey_take(m->s, m->image);
		note(m, "%s%s", m->text_bytes ? "; " : "", kind->name);
		if (kind->apply(m))
			return;
		m->text_bytes = before;
		m->text[before] = '\0';
	}
}

void mutate(struct mutator *m, struct image *image, struct survey *s,
	    u64 seed, u64 number)
{
	u32 n, i;

	m->image = image;
	m->s = s;
	m->rng = rng_for(seed, number, 0);
	m->text_bytes = 0;
	m->text[0] = '\0';
	/* Half of the images have one mutation: these are the easiest to explain. */
	n = rng_chance(&m->rng, 50) ? 1 : 1 + rng_below(&m->rng, 8);
	for (i = 0; i < n; i++)
		mutate_once(m);
}
