// SPDX-License-Identifier: GPL-2.0-only
/*
 * objectfuzz.c - mutations of objects: their headers and what they hold, with right CRCs.
 */
#include "aim.h"

static const struct {
	const char *name;
	u32 at, bytes;
} fields[] = {
	{ "stored", 4, 2 }, { "type", 6, 1 }, { "compression", 7, 1 },
	{ "ino", 8, 8 }, { "bix", 16, 8 },
};

static bool header_field(struct mutator *m)
{
	struct view *v = view_load(m->image);
	const struct logfs_found *o = aim_object(m, v, 0);
	u32 which = rng_below(&m->rng, ARRAY_SIZE(fields));
	u64 value;

	if (!o)
		return aim_nothing(v);
	switch (which) {
	case 0:
		value = rng_chance(&m->rng, 50) ? rng_below(&m->rng, 4100) :
			weird(m, o->stored);
		break;
	case 1:
		value = rng_below(&m->rng, 9);
		break;
	case 2:
		value = rng_below(&m->rng, 4);
		break;
	case 3:
		value = weird_ino(m, v);
		break;
	default:
		value = weird_bix(m, o->bix);
		break;
	}
	be_put(v->device + o->at + fields[which].at, fields[which].bytes, value);
	object_seal(v, o->at);
	note(m, " %x level %u %s=%llx", o->at, o->level, fields[which].name,
	     (unsigned long long)value);
	return aim_done(v);
}

/* Also of compressed ones, which then cannot be uncompressed, or give something else. */
static bool payload_bits(struct mutator *m)
{
	struct view *v = view_load(m->image);
	const struct logfs_found *o = aim_object(m, v, 0);
	u32 n = 1 + rng_below(&m->rng, 8), i;

	if (!o || !o->stored)
		return aim_nothing(v);
	for (i = 0; i < n; i++)
		v->device[o->at + LOGFS_OBJECT_HEADER_BYTES +
			  rng_below(&m->rng, o->stored)] ^=
			(u8)(1u << rng_below(&m->rng, 8));
	object_seal(v, o->at);
	note(m, " %x type %u level %u", o->at, o->type, o->level);
	return aim_done(v);
}

static bool payload_word(struct mutator *m)
{
	struct view *v = view_load(m->image);
	const struct logfs_found *o = aim_object(m, v, 0);
	u8 *word;
	u64 value;

	if (!o || o->stored < 8)
		return aim_nothing(v);
	word = v->device + o->at + LOGFS_OBJECT_HEADER_BYTES +
	       8 * rng_below(&m->rng, o->stored / 8);
	value = weird_word(m, be_get(word, 8));
	be_put(word, 8, value);
	object_seal(v, o->at);
	note(m, " %x type %u level %u %llx", o->at, o->type, o->level,
	     (unsigned long long)value);
	return aim_done(v);
}

/* One object with the contents of another, under its own identity or that of the other. */
static bool replaced(struct mutator *m)
{
	struct view *v = view_load(m->image);
	const struct logfs_found *to = aim_object(m, v, 0);
	const struct logfs_found *from = to ? aim_object(m, v, to->type) : NULL;
	u32 skip = rng_chance(&m->rng, 50) ? 0 : LOGFS_OBJECT_HEADER_BYTES;

	if (!from || from == to || from->stored != to->stored)
		return aim_nothing(v);
	memcpy(v->device + to->at + skip, v->device + from->at + skip,
	       LOGFS_OBJECT_HEADER_BYTES + to->stored - skip);
	object_seal(v, to->at);
	note(m, " %x by %x%s", to->at, from->at, skip ? "" : " with header");
	return aim_done(v);
}

/* The walk over a segment ends here. */
static bool header_lost(struct mutator *m)
{
	struct view *v = view_load(m->image);
	const struct logfs_found *o = aim_object(m, v, 0);

	if (!o)
		return aim_nothing(v);
	v->device[o->at + rng_below(&m->rng, LOGFS_OBJECT_HEADER_BYTES)] ^= 0x10;
	note(m, " %x type %u level %u", o->at, o->type, o->level);
	return aim_done(v);
}

const struct mutation_kind logfs_object_mutations[] = {
	{ "object-header", 8, header_field },
	{ "object-bits", 5, payload_bits },
	{ "object-word", 5, payload_word },
	{ "object-replaced", 4, replaced },
	{ "object-lost", 2, header_lost },
	{ 0 },
};
