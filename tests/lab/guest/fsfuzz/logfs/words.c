// SPDX-License-Identifier: GPL-2.0-only
/*
 * words.c - blocks of words: inodes, blocks of pointers, the segment file; see view.h. A word
 * is in an object, or in an alias that says what has become of it.
 */
#include "view.h"

#define ALIAS_BYTES	((u32)sizeof(struct logfs_alias_media))

u32 find_object(const struct view *v, u32 level, u64 ino, u64 bix)
{
	u32 i;

	for (i = 0; i < v->objects; i++) {
		const struct logfs_found *o = &v->object[i];

		if (o->newest && o->level == level && o->ino == ino &&
		    o->bix == bix)
			return o->at;
	}
	return NO_OBJECT;
}

static u32 gc_level(u64 ino, u32 level)
{
	return ino == LOGFS_INO_INODES ? level + LOGFS_FILE_LEVELS : level;
}

/* The last alias of the word, or NULL. */
static u8 *find_alias(const struct view *v, u64 ino, u32 level, u64 bix,
		      u32 child)
{
	u8 *found = NULL;
	u32 i, at;

	for (i = 0; i < v->entries; i++) {
		struct entry *e = &v->entry[i];

		if (e->type != LOGFS_JOURNAL_ALIASES)
			continue;
		for (at = 0; at + ALIAS_BYTES <= e->bytes; at += ALIAS_BYTES) {
			u8 *alias = e->payload + at;

			if (be_get(alias, 8) == ino &&
			    be_get(alias + 8, 8) == bix && alias[24] == level &&
			    be_get(alias + 30, 2) == child)
				found = alias;
		}
	}
	return found;
}

/* The word in the newest object, or NULL. */
static u8 *find_word(const struct view *v, u64 ino, u32 level, u64 bix,
		     u32 child)
{
	u32 at = find_object(v, gc_level(ino, level), ino, bix);

	if (at == NO_OBJECT || v->device[at + 7] ||
	    8 * child + 8 > be_get(v->device + at + 4, 2))
		return NULL;
	return v->device + at + LOGFS_OBJECT_HEADER_BYTES + 8 * child;
}

u64 word_get(const struct view *v, u64 ino, u32 level, u64 bix, u32 child)
{
	const u8 *alias = find_alias(v, ino, level, bix, child);
	const u8 *word = find_word(v, ino, level, bix, child);

	if (alias)
		return be_get(alias + 16, 8);
	return word ? be_get(word, 8) : 0;
}

void word_put(struct view *v, u64 ino, u32 level, u64 bix, u32 child,
	      u64 value)
{
	u8 *alias = find_alias(v, ino, level, bix, child);
	u8 *word = find_word(v, ino, level, bix, child);

	if (alias) {
		be_put(alias + 16, 8, value);
		v->changed = true;
	} else if (word) {
		be_put(word, 8, value);
		object_seal(v, find_object(v, gc_level(ino, level), ino, bix));
	}
}

bool alias_add(struct view *v, u64 ino, u32 level, u64 bix, u32 child,
	       u64 value)
{
	struct entry *e = NULL;
	u8 *alias;
	u32 i;

	for (i = 0; i < v->entries; i++)
		if (v->entry[i].type == LOGFS_JOURNAL_ALIASES)
			e = &v->entry[i];
	if (!e || e->bytes + ALIAS_BYTES > LOGFS_BLOCK_BYTES) {
		if (v->entries == MAX_ENTRIES)
			return false;
		e = &v->entry[v->entries++];
		memset(e, 0, sizeof(*e));
		e->type = LOGFS_JOURNAL_ALIASES;
	}
	alias = e->payload + e->bytes;
	memset(alias, 0, ALIAS_BYTES);
	be_put(alias, 8, ino);
	be_put(alias + 8, 8, bix);
	be_put(alias + 16, 8, value);
	alias[24] = (u8)level;
	be_put(alias + 30, 2, child);
	e->bytes += ALIAS_BYTES;
	v->changed = true;
	return true;
}
