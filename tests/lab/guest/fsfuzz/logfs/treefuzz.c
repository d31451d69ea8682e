// SPDX-License-Identifier: GPL-2.0-only
/*
 * treefuzz.c - mutations of inodes, of pointers, and of the segment file: of a word where it
 * counts, be it an object or an alias.
 */
#include "aim.h"

#define WORD_USED	6
#define WORD_SIZE	7

static const char *word_name(u32 word)
{
	static const char *const names[] = {
		"mode", "owner", "ctime", "mtime", "atime", "links", "used",
		"size",
	};

	return word < LOGFS_INODE_DATA ? names[word] : "data";
}

/* Mode, height and flags share a word. */
static u64 weird_mode(struct mutator *m, u64 old)
{
	static const u32 modes[] = {
		0, 0010644, 0020644, 0040755, 0060644, 0100644, 0120777,
		0140644, 0170000, 0030000,
	};

	switch (rng_below(&m->rng, 4)) {
	case 0:
		return (old & ~(0xffffull << 48)) |
		       (u64)modes[rng_below(&m->rng, ARRAY_SIZE(modes))] << 48;
	case 1:
		return (old & ~(0xffull << 40)) |
		       (u64)rng_below(&m->rng, 8) << 40;
	case 2:
		return old ^ 1ull << rng_below(&m->rng, 32);
	default:
		return weird_word(m, old);
	}
}

static u64 pointer_for(struct mutator *m, const struct view *v, u64 old)
{
	switch (rng_below(&m->rng, 6)) {
	case 0:
		return 0;
	case 1:
		return old ^ LOGFS_POINTER_FULL;
	case 2:
		return old + (rng_chance(&m->rng, 50) ? 1 : 28);
	default:
		return weird_place(m, v) |
		       (rng_chance(&m->rng, 70) ? LOGFS_POINTER_FULL : 0);
	}
}

static bool inode_word(struct mutator *m)
{
	struct view *v = view_load(m->image);
	const struct logfs_found *o = aim_object(m, v, LOGFS_OBJECT_INODE);
	u32 word = rng_below(&m->rng, LOGFS_INODE_DATA);
	u64 old, value;

	if (!o)
		return aim_nothing(v);
	if (word && word < 5)
		word = rng_chance(&m->rng, 70) ? 0 : word;
	old = word_get(v, LOGFS_INO_INODES, 0, o->bix, word);
	value = weird_word(m, old);
	if (!word)
		value = weird_mode(m, old);
	if (word == WORD_SIZE && rng_chance(&m->rng, 50))
		value = weird_bix(m, 0) * LOGFS_BLOCK_BYTES -
			rng_below(&m->rng, 2);
	word_put(v, LOGFS_INO_INODES, 0, o->bix, word, value);
	note(m, " %llu %s %llx>%llx", (unsigned long long)o->bix,
	     word_name(word), (unsigned long long)old,
	     (unsigned long long)value);
	return aim_done(v);
}

static bool inode_pointer(struct mutator *m)
{
	struct view *v = view_load(m->image);
	const struct logfs_found *o = aim_object(m, v, LOGFS_OBJECT_INODE);
	u32 word = LOGFS_INODE_DATA + (rng_chance(&m->rng, 50) ?
		   LOGFS_DIRECT_POINTERS : rng_below(&m->rng, 4));
	u64 old, value;

	if (!o)
		return aim_nothing(v);
	old = word_get(v, LOGFS_INO_INODES, 0, o->bix, word);
	value = pointer_for(m, v, old);
	word_put(v, LOGFS_INO_INODES, 0, o->bix, word, value);
	note(m, " %llu %u %llx>%llx", (unsigned long long)o->bix, word,
	     (unsigned long long)old, (unsigned long long)value);
	return aim_done(v);
}

/* A slot with something in it, if there is one among some. */
static u32 aim_slot(struct mutator *m, const struct view *v,
		    const struct logfs_found *o, u32 level)
{
	u32 slot = 0, tries;

	for (tries = 0; tries < 60; tries++) {
		slot = rng_below(&m->rng, LOGFS_BLOCK_POINTERS);
		if (word_get(v, o->ino, level, o->bix, slot))
			break;
	}
	return slot;
}

static bool pointer(struct mutator *m)
{
	struct view *v = view_load(m->image);
	const struct logfs_found *o = aim_pointers(m, v);
	u32 level, slot;
	u64 old, value;

	if (!o)
		return aim_nothing(v);
	level = o->level - (o->ino == LOGFS_INO_INODES ? LOGFS_FILE_LEVELS : 0);
	slot = aim_slot(m, v, o, level);
	old = word_get(v, o->ino, level, o->bix, slot);
	value = pointer_for(m, v, old);
	/* To itself: a tree without an end. */
	if (rng_chance(&m->rng, 10))
		value = o->at;
	word_put(v, o->ino, level, o->bix, slot, value);
	note(m, " (%llu %u %llx)[%u] %llx>%llx", (unsigned long long)o->ino,
	     level, (unsigned long long)o->bix, slot, (unsigned long long)old,
	     (unsigned long long)value);
	return aim_done(v);
}

/* Two pointers to one object. */
static bool pointer_twice(struct mutator *m)
{
	struct view *v = view_load(m->image);
	const struct logfs_found *o = aim_pointers(m, v);
	u32 level, from, to;

	if (!o)
		return aim_nothing(v);
	level = o->level - (o->ino == LOGFS_INO_INODES ? LOGFS_FILE_LEVELS : 0);
	from = aim_slot(m, v, o, level);
	to = aim_slot(m, v, o, level);
	word_put(v, o->ino, level, o->bix, to,
		 word_get(v, o->ino, level, o->bix, from));
	note(m, " (%llu %u %llx) %u>%u", (unsigned long long)o->ino, level,
	     (unsigned long long)o->bix, from, to);
	return aim_done(v);
}

static u64 weird_entry(struct mutator *m, const struct view *v, u64 old)
{
	switch (rng_below(&m->rng, 6)) {
	case 0:
		return old >> 32 << 32;		/* free */
	case 1:
		return old | 0xffffffff;	/* reserved */
	case 2:
		return ~0ull;			/* bad */
	case 3:
		return old >> 32 << 32 |
		       rng_below(&m->rng, v->segment_bytes + 100);
	case 4:
		return (old & ~(0xfull << 32)) |
		       (u64)rng_below(&m->rng, 16) << 32;
	default:
		return weird_word(m, old);
	}
}

static bool segment_entry(struct mutator *m)
{
	struct view *v = view_load(m->image);
	u32 n = rng_chance(&m->rng, 70) ? 1 : 1 + rng_below(&m->rng, 20);

	while (n--) {
		u32 segno = rng_below(&m->rng, v->segments);
		u64 old = word_get(v, LOGFS_INO_SEGMENTS, 0, 0, segno);
		u64 value = weird_entry(m, v, old);

		word_put(v, LOGFS_INO_SEGMENTS, 0, 0, segno, value);
		if (n < 3)
			note(m, " s%u %llx>%llx", segno,
			     (unsigned long long)old, (unsigned long long)value);
	}
	return aim_done(v);
}

const struct mutation_kind logfs_tree_mutations[] = {
	{ "inode", 9, inode_word },
	{ "inode-pointer", 5, inode_pointer },
	{ "pointer", 8, pointer },
	{ "pointer-twice", 2, pointer_twice },
	{ "segment-entry", 7, segment_entry },
	{ 0 },
};
