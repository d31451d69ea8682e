// SPDX-License-Identifier: GPL-2.0-only
/*
 * journalfuzz.c - mutations of the last commit. Its checks are made right again, so all that
 * it says is believed unless it is looked at.
 */
#include "aim.h"

#define ALIAS_BYTES	((u32)sizeof(struct logfs_alias_media))

static bool done(struct view *v)
{
	v->changed = true;
	return aim_done(v);
}

static bool dynamic_field(struct mutator *m)
{
	static const char *const names[] = {
		"gec", "sweeper", "rename-dir", "rename-at", "victim", "parent",
		"used", "generation",
	};
	struct view *v = view_load(m->image);
	struct entry *e = aim_entry(m, v, LOGFS_JOURNAL_DYNAMIC);
	u32 which = rng_below(&m->rng, ARRAY_SIZE(names));
	u64 value;

	if (!e)
		return aim_nothing(v);
	value = weird_word(m, be_get(e->payload + 8 * which, 8));
	if (which == 2 || which == 4)
		value = weird_ino(m, v);
	if (which == 3)
		value = weird_bix(m, 0) * LOGFS_BLOCK_BYTES;
	be_put(e->payload + 8 * which, 8, value);
	/* A rename has both. */
	if (which == 3)
		be_put(e->payload + 16, 8, rng_chance(&m->rng, 50) ?
		       LOGFS_INO_ROOT : weird_ino(m, v));
	note(m, " %s=%llx", names[which], (unsigned long long)value);
	return done(v);
}

static bool anchor_field(struct mutator *m)
{
	static const char *const names[] = { "size", "last", "used", "height" };
	struct view *v = view_load(m->image);
	struct entry *e = aim_entry(m, v, LOGFS_JOURNAL_ANCHOR);
	u32 which = rng_below(&m->rng, ARRAY_SIZE(names));
	u64 value;

	if (!e)
		return aim_nothing(v);
	value = weird_word(m, be_get(e->payload + 8 * which, 8));
	if (which < 3)
		be_put(e->payload + 8 * which, 8, value);
	else
		e->payload[24] = (u8)(rng_chance(&m->rng, 80) ?
				      rng_below(&m->rng, 7) : value);
	note(m, " %s=%llx", names[which], (unsigned long long)value);
	return done(v);
}

static bool anchor_pointer(struct mutator *m)
{
	struct view *v = view_load(m->image);
	struct entry *e = aim_entry(m, v, LOGFS_JOURNAL_ANCHOR);
	u32 slot = rng_chance(&m->rng, 70) ? LOGFS_DIRECT_POINTERS :
		   rng_below(&m->rng, LOGFS_INODE_POINTERS);
	u64 value;

	if (!e)
		return aim_nothing(v);
	value = weird_place(m, v);
	if (rng_chance(&m->rng, 40))
		value |= LOGFS_POINTER_FULL;
	be_put(e->payload + 32 + 8 * slot, 8, value);
	note(m, " %u=%llx", slot, (unsigned long long)value);
	return done(v);
}

static bool alias_field(struct mutator *m)
{
	static const char *const names[] = {
		"ino", "bix", "value", "level", "child",
	};
	struct view *v = view_load(m->image);
	struct entry *e = aim_entry(m, v, LOGFS_JOURNAL_ALIASES);
	u32 which = rng_below(&m->rng, ARRAY_SIZE(names));
	u8 *alias;
	u64 value;

	if (!e || e->bytes < ALIAS_BYTES)
		return aim_nothing(v);
	alias = e->payload + ALIAS_BYTES * rng_below(&m->rng,
						     e->bytes / ALIAS_BYTES);
	switch (which) {
	case 0:
		value = weird_ino(m, v);
		be_put(alias, 8, value);
		break;
	case 1:
		value = weird_bix(m, be_get(alias + 8, 8));
		be_put(alias + 8, 8, value);
		break;
	case 2:
		value = rng_chance(&m->rng, 50) ? weird_place(m, v) :
			weird_word(m, be_get(alias + 16, 8));
		be_put(alias + 16, 8, value);
		break;
	case 3:
		value = rng_below(&m->rng, 8);
		alias[24] = (u8)value;
		break;
	default:
		value = rng_chance(&m->rng, 70) ? rng_below(&m->rng, 520) :
			rng_next(&m->rng);
		be_put(alias + 30, 2, value);
		break;
	}
	note(m, " %s=%llx", names[which], (unsigned long long)value);
	return done(v);
}

static bool alias_added(struct mutator *m)
{
	struct view *v = view_load(m->image);
	u32 n = rng_chance(&m->rng, 80) ? 1 : 1 + rng_below(&m->rng, 400), i;

	for (i = 0; i < n; i++) {
		u64 ino = rng_chance(&m->rng, 40) ? LOGFS_INO_INODES :
			  weird_ino(m, v);
		u32 level = rng_below(&m->rng, ino > 1 ? 5 : 3);
		u64 bix = ino > 1 ? weird_bix(m, 0) : weird_ino(m, v);
		u32 child = rng_below(&m->rng, level ? 512 : 25);

		if (level && rng_chance(&m->rng, 90))
			bix &= ~((1ull << 9 * level) - 1);
		if (!alias_add(v, ino, level, bix, child,
			       rng_chance(&m->rng, 50) ? weird_place(m, v) :
			       weird_word(m, 0)))
			break;
		if (i < 2)
			note(m, " (%llu %u %llx)[%u]", (unsigned long long)ino,
			     level, (unsigned long long)bix, child);
	}
	note(m, " %u in all", i);
	return i ? done(v) : aim_nothing(v);
}

static bool area_field(struct mutator *m)
{
	static const char *const names[] = { "segno", "used", "level" };
	struct view *v = view_load(m->image);
	struct entry *e = aim_entry(m, v, LOGFS_JOURNAL_AREA);
	u32 which = rng_below(&m->rng, ARRAY_SIZE(names)), value;

	if (!e)
		return aim_nothing(v);
	switch (which) {
	case 0:
		value = rng_chance(&m->rng, 85) ?
			rng_below(&m->rng, v->segments + 1) : weird(m, 1);
		be_put(e->payload, 4, value);
		break;
	case 1:
		value = rng_chance(&m->rng, 70) ?
			rng_below(&m->rng, v->segment_bytes) :
			weird(m, (u32)be_get(e->payload + 4, 4));
		be_put(e->payload + 4, 4, value);
		/* The buffer is there if the unit is not full. */
		if (rng_chance(&m->rng, 70))
			e->bytes = LOGFS_AREA_HEADER +
				   (value % v->unit ? v->unit : 0);
		break;
	default:
		value = rng_below(&m->rng, LOGFS_GC_LEVELS + 1);
		e->payload[8] = (u8)value;
		break;
	}
	note(m, " %s=%x", names[which], value);
	return done(v);
}

static bool erase_counts(struct mutator *m)
{
	struct view *v = view_load(m->image);
	struct entry *e = aim_entry(m, v, LOGFS_JOURNAL_ERASE_COUNTS);
	u32 slot = rng_below(&m->rng, LOGFS_JOURNAL_SEGMENTS);
	u32 value = weird(m, 1);

	if (!e)
		return aim_nothing(v);
	be_put(e->payload + 4 * slot, 4, value);
	note(m, " %u=%x", slot, value);
	return done(v);
}

/* A header that says something wrong, with a right CRC. */
static bool entry_lies(struct mutator *m)
{
	struct view *v = view_load(m->image);
	struct entry *e = aim_entry(m, v, 0);

	if (!e)
		return aim_nothing(v);
	e->lie = 1 + rng_below(&m->rng, 4);
	e->packed |= rng_chance(&m->rng, 50);
	e->lied = rng_chance(&m->rng, 50) ? e->bytes + rng_below(&m->rng, 3) - 1 :
		  weird(m, e->bytes);
	if (e->lie >= LIE_TYPE)
		e->lied = rng_below(&m->rng, 17);
	note(m, " type %u lie %u %x", e->type, e->lie, e->lied);
	return done(v);
}

static bool entry_bytes(struct mutator *m)
{
	struct view *v = view_load(m->image);
	struct entry *e = aim_entry(m, v, 0);
	u32 n, old;

	if (!e)
		return aim_nothing(v);
	old = e->bytes;
	if (rng_chance(&m->rng, 50)) {
		e->bytes = rng_below(&m->rng, 2) ? rng_below(&m->rng, 4200) :
			   e->bytes + rng_below(&m->rng, 66) - 33;
		if (e->bytes > MAX_PAYLOAD || !e->bytes)
			e->bytes = 1;
		note(m, " type %u %u>%u bytes", e->type, old, e->bytes);
		return done(v);
	}
	for (n = 1 + rng_below(&m->rng, 8); n; n--)
		e->payload[rng_below(&m->rng, e->bytes)] ^=
			(u8)(1u << rng_below(&m->rng, 8));
	note(m, " type %u bits", e->type);
	return done(v);
}

static bool entry_dropped(struct mutator *m)
{
	struct view *v = view_load(m->image);
	struct entry *e = aim_entry(m, v, 0);
	u32 at;

	if (!e)
		return aim_nothing(v);
	at = (u32)(e - v->entry);
	note(m, " type %u", e->type);
	memmove(e, e + 1, (v->entries - at - 1) * sizeof(*e));
	v->entries--;
	return done(v);
}

static bool entry_twice(struct mutator *m)
{
	struct view *v = view_load(m->image);
	struct entry *e = aim_entry(m, v, 0);

	if (!e || v->entries == MAX_ENTRIES)
		return aim_nothing(v);
	v->entry[v->entries] = *e;
	v->entry[v->entries++].buffer = NULL;
	note(m, " type %u", e->type);
	return done(v);
}

static bool entry_misplaced(struct mutator *m)
{
	struct view *v = view_load(m->image);
	struct entry *e = aim_entry(m, v, 0);
	u64 base = (u64)v->journal * v->segment_bytes;

	if (!e)
		return aim_nothing(v);
	e->misplaced = true;
	e->place = rng_chance(&m->rng, 60) ?
		   base + (u64)LOGFS_JOURNAL_ALIGN * rng_below(&m->rng, 2000) :
		   weird_place(m, v);
	note(m, " type %u at %llx", e->type, (unsigned long long)e->place);
	return done(v);
}

/* What power that fails leaves: an older commit is the last, perhaps with rests behind it. */
static bool commits_cut(struct mutator *m)
{
	struct view *v = view_load(m->image);
	u8 *segment = v->device + (size_t)v->journal * v->segment_bytes;
	u32 page = m->image->g.page_bytes, end, at, n;

	if (v->journal == NO_SEGMENT)
		return aim_nothing(v);
	end = journal_last_commit(v, v->journal) / page + 1;
	at = rng_below(&m->rng, end) * page;
	n = rng_chance(&m->rng, 70) ? v->segment_bytes - at : page;
	memset(segment + at, 0xff, n);
	note(m, " from %u %u bytes", at, n);
	return aim_done(v);
}

const struct mutation_kind logfs_journal_mutations[] = {
	{ "dynamic", 6, dynamic_field },
	{ "anchor", 4, anchor_field },
	{ "anchor-pointer", 3, anchor_pointer },
	{ "alias", 7, alias_field },
	{ "alias-added", 6, alias_added },
	{ "area", 6, area_field },
	{ "erase-counts", 1, erase_counts },
	{ "entry-lies", 3, entry_lies },
	{ "entry-bytes", 4, entry_bytes },
	{ "entry-dropped", 3, entry_dropped },
	{ "entry-twice", 2, entry_twice },
	{ "entry-misplaced", 2, entry_misplaced },
	{ "commits-cut", 3, commits_cut },
	{ 0 },
};
