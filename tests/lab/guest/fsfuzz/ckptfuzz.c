// SPDX-License-Identifier: GPL-2.0-only
/*
 * ckptfuzz.c - mutations of the checkpoint. All but the last few keep its sums right:
 * a checkpoint that passes its checks is believed, so every number in it must be
 * looked at before it is used.
 */
#include "ckpt.h"
#include "mutate.h"

/* Puts a changed stream back. */
static bool done(struct mutator *m, struct ckpt *c)
{
	ckpt_store(c, m->image);
	ckpt_free(c);
	return true;
}

/* A checkpoint of which all parts are known, or NULL. */
static struct ckpt *load(struct mutator *m)
{
	struct ckpt *c = ckpt_load(m->image, m->s);

	if (c && c->parsed && c->objects && c->leaves)
		return c;
	ckpt_free(c);
	return NULL;
}

/* A chunk number: in use, of another kind, free, or of no page. */
static u32 weird_chunk(struct mutator *m, u32 old)
{
	u32 page = pick_used_page(m);

	if (page != NO_PAGE && rng_chance(&m->rng, 50))
		return page + m->image->g.pages_per_block;
	if (rng_chance(&m->rng, 20))
		return rng_below(&m->rng, image_pages(m->image) +
				 2 * m->image->g.pages_per_block);
	return weird(m, old);
}

static bool device_field(struct mutator *m)
{
	static const char *const names[] = {
		"bytes", "erased", "alloc_block", "alloc_page", "free",
		"deleted", "unlinked", "background", "seq",
	};
	struct ckpt *c = load(m);
	u32 which, old, value;

	if (!c)
		return false;
	which = rng_below(&m->rng, ARRAY_SIZE(names));
	old = get32(c->stream + c->device_at + 4 * which);
	value = weird(m, old);
	if (which == 2 && rng_chance(&m->rng, 60))
		value = rng_below(&m->rng, m->image->g.blocks + 2);
	if (which == 3 && rng_chance(&m->rng, 60))
		value = rng_below(&m->rng, m->image->g.pages_per_block + 2);
	put32(c->stream + c->device_at + 4 * which, value);
	note(m, " %s %x>%x", names[which], old, value);
	return done(m, c);
}

static u32 weird_block_word(struct mutator *m, u32 word)
{
	switch (rng_below(&m->rng, 5)) {
	case 0:
		return (word & ~0xf00000u) | rng_below(&m->rng, 16) << 20;
	case 1:
		return (word & ~0xffc00u) | rng_below(&m->rng, 1024) << 10;
	case 2:
		return (word & ~0x3ffu) | rng_below(&m->rng, 1024);
	case 3:
		return word ^ 1u << (24 + rng_below(&m->rng, 8));
	default:
		return weird(m, word);
	}
}

static bool block_state(struct mutator *m)
{
	struct ckpt *c = load(m);
	u32 n, i;

	if (!c)
		return false;
	n = rng_chance(&m->rng, 70) ? 1 : 1 + rng_below(&m->rng, 20);
	for (i = 0; i < n; i++) {
		u32 block = pick_block(m), at = c->blocks_at + 8 * block;
		u32 old = get32(c->stream + at), value;

		if (rng_chance(&m->rng, 20)) {
			at += 4;
			old = get32(c->stream + at);
			value = weird(m, old);
		} else {
			value = weird_block_word(m, old);
		}
		put32(c->stream + at, value);
		if (i < 4)
			note(m, " b%u %x>%x", block, old, value);
	}
	return done(m, c);
}

static bool bitmap(struct mutator *m)
{
	u32 bytes = (m->image->g.pages_per_block + 7) / 8;
	struct ckpt *c = load(m);
	u32 block = pick_block(m);
	u8 *map;

	if (!c)
		return false;
	map = c->stream + c->bitmaps_at + block * bytes;
	switch (rng_below(&m->rng, 4)) {
	case 0:
		memset(map, 0, bytes);
		break;
	case 1:
		memset(map, 0xff, bytes);
		break;
	case 2:
		map[rng_below(&m->rng, bytes)] = (u8)rng_next(&m->rng);
		break;
	default:
		map[rng_below(&m->rng, bytes)] ^=
			(u8)(1u << rng_below(&m->rng, 8));
		break;
	}
	note(m, " b%u", block);
	return done(m, c);
}

static bool object_field(struct mutator *m)
{
	static const char *const names[] = {
		"bytes", "id", "parent", "header", "flags", "data", "low", "high",
	};
	struct ckpt *c = load(m);
	u32 at, which, old, value;

	if (!c)
		return false;
	at = c->object[rng_below(&m->rng, c->objects)];
	which = 1 + rng_below(&m->rng, 7);
	if (rng_chance(&m->rng, 3))
		which = 0;
	old = get32(c->stream + at + 4 * which);
	value = weird(m, old);
	if ((which == 1 || which == 2) && rng_chance(&m->rng, 80))
		value = weird_id(m);
	if (which == 3)
		value = weird_chunk(m, old);
	if (which == 4 && rng_chance(&m->rng, 70))
		value = old ^ 1u << rng_below(&m->rng, 9);
	put32(c->stream + at + 4 * which, value);
	note(m, " obj %u %s %x>%x", get32(c->stream + at + 4), names[which], old,
	     value);
	return done(m, c);
}

/* Size and link target share a place: set it as a whole, and the type with it. */
static bool object_value(struct mutator *m)
{
	struct ckpt *c = load(m);
	u64 value;
	u8 *object;

	if (!c)
		return false;
	object = c->stream + c->object[rng_below(&m->rng, c->objects)];
	value = rng_chance(&m->rng, 50) ? weird_size(m) : weird_id(m);
	if (rng_chance(&m->rng, 30))
		put32(object + 16, (get32(object + 16) & ~7u) |
		      rng_below(&m->rng, 8));
	put32(object + 24, (u32)value);
	put32(object + 28, (u32)(value >> 32));
	note(m, " obj %u flags %x value %llx", get32(object + 4),
	     get32(object + 16), (unsigned long long)value);
	return done(m, c);
}

static bool leaf_entry(struct mutator *m)
{
	struct ckpt *c = load(m);
	u32 n, i;

	if (!c)
		return false;
	n = rng_chance(&m->rng, 60) ? 1 : 1 + rng_below(&m->rng, 16);
	for (i = 0; i < n; i++) {
		u32 leaf = rng_below(&m->rng, c->leaves);
		u32 entry = rng_below(&m->rng, YAFFS_LEAF_ENTRIES);
		u32 old = ckpt_leaf_get(c, leaf, entry);
		u32 value = weird_chunk(m, old);

		ckpt_leaf_put(c, leaf, entry, value);
		if (i < 4)
			note(m, " l%u e%u %x>%x", leaf, entry, old, value);
	}
	return done(m, c);
}

static bool leaf_index(struct mutator *m)
{
	struct ckpt *c = load(m);
	u32 leaf, old, value;

	if (!c)
		return false;
	leaf = rng_below(&m->rng, c->leaves);
	old = get32(c->stream + c->leaf[leaf]);
	value = rng_chance(&m->rng, 60) ? 16u << rng_below(&m->rng, 27) :
		weird(m, old);
	if (rng_chance(&m->rng, 20))
		value = get32(c->stream +
			      c->leaf[rng_below(&m->rng, c->leaves)]);
	put32(c->stream + c->leaf[leaf], value);
	note(m, " l%u %x>%x", leaf, old, value);
	return done(m, c);
}

/* An object or a leaf twice: with the same number or with another. */
static bool part_duplicated(struct mutator *m)
{
	struct ckpt *c = load(m);
	u32 at, bytes, value;

	if (!c)
		return false;
	if (rng_chance(&m->rng, 50)) {
		at = c->object[rng_below(&m->rng, c->objects)];
		bytes = 32;
		value = weird_id(m);
	} else {
		at = c->leaf[rng_below(&m->rng, c->leaves)];
		bytes = 68;
		value = 16u << rng_below(&m->rng, 27);
	}
	/* The one in front would lack its leaves: that is for the reader to find. */
	ckpt_resize(c, at, (s32)bytes);
	memcpy(c->stream + at, c->stream + at + bytes, bytes);
	if (rng_chance(&m->rng, 60))
		put32(c->stream + at + (bytes == 32 ? 4 : 0), value);
	note(m, " at %u %u bytes %x", at, bytes, value);
	return done(m, c);
}

static bool part_removed(struct mutator *m)
{
	struct ckpt *c = load(m);
	u32 at, bytes = 32;

	if (!c)
		return false;
	switch (rng_below(&m->rng, 4)) {
	case 0:
		at = c->object[rng_below(&m->rng, c->objects)];
		break;
	case 1:
		at = c->leaf[rng_below(&m->rng, c->leaves)];
		bytes = 68;
		break;
	case 2:
		at = c->leaves_end[rng_below(&m->rng, c->leaf_lists)];
		bytes = 4;
		break;
	default:
		at = c->end_at - 32;
		break;
	}
	ckpt_resize(c, at, -(s32)bytes);
	note(m, " at %u %u bytes", at, bytes);
	return done(m, c);
}

/* An end of a list where the list goes on, or a stream that just stops. */
static bool cut(struct mutator *m)
{
	struct ckpt *c = load(m);
	u32 at;

	if (!c)
		return false;
	at = c->object[rng_below(&m->rng, c->objects)];
	if (rng_chance(&m->rng, 50)) {
		memset(c->stream + at + 4, 0xff, 28);
		note(m, " end at %u", at);
	} else {
		c->bytes = at + 4 + rng_below(&m->rng, 28);
		note(m, " to %u", c->bytes);
	}
	return done(m, c);
}

static bool words(struct mutator *m)
{
	struct ckpt *c = ckpt_load(m->image, m->s);
	u32 n = 1 + rng_below(&m->rng, 6), i;

	if (!c)
		return false;
	for (i = 0; i < n; i++) {
		u32 at = rng_below(&m->rng, c->bytes - 8) & ~3u;
		u32 old = get32(c->stream + at);

		put32(c->stream + at, weird(m, old));
		note(m, " +%u %x>%x", at, old, get32(c->stream + at));
	}
	return done(m, c);
}

/* The stream is left alone, its pages' tags are not. */
static bool page_tags(struct mutator *m)
{
	u32 page = pick_page(m, PAGE_CHECKPOINT), which;
	struct tags tags;

	if (page == NO_PAGE)
		return false;
	tags = image_tags(m->image, page);
	which = rng_below(&m->rng, 6);
	if (which == 0)
		tags.chunk = weird(m, tags.chunk);
	else if (which == 1)
		tags.bytes = weird(m, tags.bytes);
	else if (which == 2)
		tags.seq = weird(m, tags.seq);
	else if (which == 3)
		tags.obj = weird(m, tags.obj);
	else
		tags.obj = rng_below(&m->rng, m->image->g.blocks + 2);
	note(m, " p%u seq %x obj %x chunk %x bytes %x", page, tags.seq, tags.obj,
	     tags.chunk, tags.bytes);
	image_set_tags(m->image, page, tags);
	return true;
}

static bool page_header(struct mutator *m)
{
	u32 page = pick_page(m, PAGE_CHECKPOINT), which, old;
	u8 *place;

	if (page == NO_PAGE)
		return false;
	which = rng_below(&m->rng, 4);
	place = image_data(m->image, page) + 4 * which;
	old = get32(place);
	put32(place, weird(m, old));
	note(m, " p%u word %u %x>%x", page, which, old, get32(place));
	return true;
}

static bool pages_mixed(struct mutator *m)
{
	u32 a = pick_page(m, PAGE_CHECKPOINT), b = pick_page(m, PAGE_CHECKPOINT);

	if (a == NO_PAGE || a == b)
		return false;
	image_copy_page(m->image, a, b);
	note(m, " p%u like p%u", a, b);
	return true;
}

/* Without a checkpoint the file system is scanned, whatever the options. */
static bool ckpt_dropped(struct mutator *m)
{
	const struct page_list *list = &m->s->pages[PAGE_CHECKPOINT];
	u32 i;

	if (!list->n)
		return false;
	for (i = 0; i < list->n; i++)
		image_erase_page(m->image, list->page[i]);
	return true;
}

const struct mutation_kind checkpoint_mutations[] = {
	{ "ckpt-dev", 6, device_field },
	{ "ckpt-block", 8, block_state },
	{ "ckpt-bitmap", 5, bitmap },
	{ "ckpt-obj", 10, object_field },
	{ "ckpt-value", 5, object_value },
	{ "ckpt-leaf", 8, leaf_entry },
	{ "ckpt-index", 5, leaf_index },
	{ "ckpt-dup", 5, part_duplicated },
	{ "ckpt-less", 4, part_removed },
	{ "ckpt-cut", 3, cut },
	{ "ckpt-words", 4, words },
	{ "ckpt-tags", 5, page_tags },
	{ "ckpt-head", 2, page_header },
	{ "ckpt-mixed", 2, pages_mixed },
	{ "ckpt-drop", 8, ckpt_dropped },
	{ 0 },
};
