// SPDX-License-Identifier: GPL-2.0-only
/*
 * ckptswap.c - mutations of the checkpoint that exchange things, so that all counts
 * and bitmaps still agree: who compares these only, believes them. What is wrong
 * shows later, when flash is read for an object and says something else.
 */
#include "ckpt.h"
#include "mutate.h"

#define OBJECT_ID	4
#define OBJECT_PARENT	8
#define OBJECT_HEADER	12
#define OBJECT_FLAGS	16
#define OBJECT_SIZE	24

static struct ckpt *load(struct mutator *m)
{
	struct ckpt *c = ckpt_load(m->image, m->s);

	if (c && c->parsed && c->objects > 1 && c->leaves > 1)
		return c;
	ckpt_free(c);
	return NULL;
}

static bool done(struct mutator *m, struct ckpt *c)
{
	ckpt_store(c, m->image);
	ckpt_free(c);
	return true;
}

static u8 *any_object(struct mutator *m, struct ckpt *c)
{
	return c->stream + c->object[rng_below(&m->rng, c->objects)];
}

/* An entry of a leaf that is in use, if a few tries find one. */
static void any_entry(struct mutator *m, struct ckpt *c, u32 *leaf, u32 *entry)
{
	u32 tries;

	for (tries = 0; tries < 20; tries++) {
		*leaf = rng_below(&m->rng, c->leaves);
		*entry = rng_below(&m->rng, YAFFS_LEAF_ENTRIES);
		if (ckpt_leaf_get(c, *leaf, *entry))
			return;
	}
}

static void swap_words(u8 *a, u8 *b)
{
	u32 kept = get32(a);

	put32(a, get32(b));
	put32(b, kept);
}

/* Chunks of files change places, also with holes. */
static bool leaf_entries(struct mutator *m)
{
	struct ckpt *c = load(m);
	u32 n = 1 + rng_below(&m->rng, 8), i;

	if (!c)
		return false;
	for (i = 0; i < n; i++) {
		u32 la, ea, lb, eb, a, b;

		any_entry(m, c, &la, &ea);
		any_entry(m, c, &lb, &eb);
		a = ckpt_leaf_get(c, la, ea);
		b = ckpt_leaf_get(c, lb, eb);
		ckpt_leaf_put(c, la, ea, b);
		ckpt_leaf_put(c, lb, eb, a);
		note(m, " %u/%u", a, b);
	}
	return done(m, c);
}

/* Data becomes a header and the header data. */
static bool leaf_and_header(struct mutator *m)
{
	struct ckpt *c = load(m);
	u32 leaf, entry, chunk;
	u8 *object;

	if (!c)
		return false;
	object = any_object(m, c);
	any_entry(m, c, &leaf, &entry);
	chunk = ckpt_leaf_get(c, leaf, entry);
	ckpt_leaf_put(c, leaf, entry, get32(object + OBJECT_HEADER));
	note(m, " obj %u header %u>%u", get32(object + OBJECT_ID),
	     get32(object + OBJECT_HEADER), chunk);
	put32(object + OBJECT_HEADER, chunk);
	return done(m, c);
}

/* Two objects exchange their ids, parents, headers, sizes or targets. */
static bool objects_word(struct mutator *m)
{
	static const u32 words[] = {
		OBJECT_ID, OBJECT_PARENT, OBJECT_HEADER, OBJECT_HEADER,
		OBJECT_SIZE,
	};
	struct ckpt *c = load(m);
	u32 n = 1 + rng_below(&m->rng, 4), i;

	if (!c)
		return false;
	for (i = 0; i < n; i++) {
		u8 *a = any_object(m, c), *b = any_object(m, c);
		u32 word = words[rng_below(&m->rng, ARRAY_SIZE(words))];

		note(m, " obj %u %u word %u", get32(a + OBJECT_ID),
		     get32(b + OBJECT_ID), word / 4);
		swap_words(a + word, b + word);
	}
	return done(m, c);
}

/* A loop of parents, or parents that are no directories. */
static bool parents(struct mutator *m)
{
	struct ckpt *c = load(m);
	u32 n = 1 + rng_below(&m->rng, 4), i;
	u8 *first, *last;

	if (!c)
		return false;
	first = any_object(m, c);
	last = first;
	for (i = 0; i <= n; i++) {
		u8 *next = i < n ? any_object(m, c) : first;
		bool directory = (get32(next + OBJECT_FLAGS) & 7) ==
				 YAFFS_TYPE_DIRECTORY;

		if (i < n && !directory && rng_chance(&m->rng, 70))
			continue;
		put32(last + OBJECT_PARENT, get32(next + OBJECT_ID));
		note(m, " %u in %u", get32(last + OBJECT_ID),
		     get32(next + OBJECT_ID));
		last = next;
	}
	return done(m, c);
}

/* The type changes where none has leaves, so that nothing else must. */
static bool type(struct mutator *m)
{
	struct ckpt *c = load(m);
	u32 tries, value = 2 + rng_below(&m->rng, 4);
	u8 *object = NULL;

	if (!c)
		return false;
	for (tries = 0; tries < 50; tries++) {
		object = any_object(m, c);
		if ((get32(object + OBJECT_FLAGS) & 7) != YAFFS_TYPE_FILE)
			break;
	}
	if (tries == 50) {
		ckpt_free(c);
		return false;
	}
	put32(object + OBJECT_FLAGS,
	      (get32(object + OBJECT_FLAGS) & ~7u) | value);
	if (value == YAFFS_TYPE_HARDLINK)
		put32(object + OBJECT_SIZE, weird_id(m));
	note(m, " obj %u type %u value %u", get32(object + OBJECT_ID), value,
	     get32(object + OBJECT_SIZE));
	return done(m, c);
}

/* What is said of one block is true of another. */
static bool blocks(struct mutator *m)
{
	struct ckpt *c = load(m);
	u32 bytes = (m->image->g.pages_per_block + 7) / 8, i;
	u32 a = pick_block(m), b = pick_block(m);
	u8 *map_a, *map_b;

	if (!c)
		return false;
	swap_words(c->stream + c->blocks_at + 8 * a,
		   c->stream + c->blocks_at + 8 * b);
	if (rng_chance(&m->rng, 50))
		swap_words(c->stream + c->blocks_at + 8 * a + 4,
			   c->stream + c->blocks_at + 8 * b + 4);
	map_a = c->stream + c->bitmaps_at + a * bytes;
	map_b = c->stream + c->bitmaps_at + b * bytes;
	for (i = 0; i < bytes; i++) {
		u8 kept = map_a[i];

		map_a[i] = map_b[i];
		map_b[i] = kept;
	}
	note(m, " b%u b%u", a, b);
	return done(m, c);
}

/* Leaves of one file with another's index, or of a file that has none. */
static bool leaves(struct mutator *m)
{
	struct ckpt *c = load(m);
	u32 a, b;

	if (!c)
		return false;
	a = rng_below(&m->rng, c->leaves);
	b = rng_below(&m->rng, c->leaves);
	swap_words(c->stream + c->leaf[a], c->stream + c->leaf[b]);
	note(m, " %u %u", a, b);
	return done(m, c);
}

const struct mutation_kind checkpoint_swaps[] = {
	{ "swap-leaf", 8, leaf_entries },
	{ "swap-header", 4, leaf_and_header },
	{ "swap-object", 8, objects_word },
	{ "swap-parent", 6, parents },
	{ "swap-type", 4, type },
	{ "swap-block", 4, blocks },
	{ "swap-index", 3, leaves },
	{ 0 },
};
