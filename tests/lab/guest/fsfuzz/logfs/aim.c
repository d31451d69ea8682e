// SPDX-License-Identifier: GPL-2.0-only
/*
 * aim.c - see aim.h.
 */
#include "aim.h"

bool aim_done(struct view *v)
{
	bool good = view_store(v);

	view_free(v);
	return good;
}

bool aim_nothing(struct view *v)
{
	view_free(v);
	return false;
}

u64 weird_word(struct mutator *m, u64 old)
{
	static const u64 values[] = {
		0, 1, 2, 3, 15, 16, 17, 511, 512, 513, 4095, 4096, 0x3fffffff,
		0x40000000, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
		1ull << 43, (1ull << 43) - 1, (1ull << 43) + 1, 1ull << 62,
		(1ull << 63) - 1, 1ull << 63, ~0ull - 1, ~0ull,
	};

	switch (rng_below(&m->rng, 7)) {
	case 0:
		return old + 1;
	case 1:
		return old - 1;
	case 2:
		return old ^ 1ull << rng_below(&m->rng, 64);
	case 3:
		return rng_next(&m->rng);
	case 4:
		return weird(m, (u32)old);
	default:
		return values[rng_below(&m->rng, ARRAY_SIZE(values))];
	}
}

u64 weird_place(struct mutator *m, const struct view *v)
{
	const struct logfs_found *o = aim_object(m, v, 0);

	if (o && rng_chance(&m->rng, 55))
		return o->at;
	switch (rng_below(&m->rng, 5)) {
	case 0:
		return o ? o->at + rng_below(&m->rng, 40) : 0;
	case 1:
		return (u64)rng_below(&m->rng, v->segments + 1) *
			v->segment_bytes + rng_below(&m->rng, 64);
	case 2:
		return rng_below(&m->rng, v->device_bytes);
	case 3:
		return v->device_bytes - rng_below(&m->rng, 5000);
	default:
		return weird_word(m, 0);
	}
}

u64 weird_ino(struct mutator *m, const struct view *v)
{
	const struct logfs_found *o = aim_object(m, v, LOGFS_OBJECT_INODE);

	if (o && rng_chance(&m->rng, 60))
		return o->bix;
	if (rng_chance(&m->rng, 70))
		return rng_below(&m->rng, 24);
	return weird_word(m, 17);
}

u64 weird_bix(struct mutator *m, u64 old)
{
	/* Where the levels of the tree, and the tries of a name, begin. */
	static const u64 edges[] = {
		0, 15, 16, 511, 512, 1 << 18, 1 << 27, 0x7ffffff0, 0x7fffffff,
		0x80000000,
	};

	if (rng_chance(&m->rng, 40))
		return edges[rng_below(&m->rng, ARRAY_SIZE(edges))] +
		       rng_below(&m->rng, 3) - 1;
	if (rng_chance(&m->rng, 30))
		return rng_below(&m->rng, 600);
	return weird_word(m, old);
}

static bool suits(const struct logfs_found *o, u32 type)
{
	return o->newest && (!type || o->type == type);
}

const struct logfs_found *aim_object(struct mutator *m, const struct view *v,
				     u32 type)
{
	u32 n = 0, i;

	for (i = 0; i < v->objects; i++)
		n += suits(&v->object[i], type);
	n = rng_below(&m->rng, n);
	for (i = 0; i < v->objects; i++)
		if (suits(&v->object[i], type) && !n--)
			return &v->object[i];
	return NULL;
}

static bool has_pointers(const struct logfs_found *o)
{
	return o->newest && o->level && o->level != LOGFS_FILE_LEVELS &&
	       o->stored == LOGFS_BLOCK_BYTES;
}

const struct logfs_found *aim_pointers(struct mutator *m, const struct view *v)
{
	u32 n = 0, i;

	for (i = 0; i < v->objects; i++)
		n += has_pointers(&v->object[i]);
	n = rng_below(&m->rng, n);
	for (i = 0; i < v->objects; i++)
		if (has_pointers(&v->object[i]) && !n--)
			return &v->object[i];
	return NULL;
}

struct entry *aim_entry(struct mutator *m, struct view *v, u32 type)
{
	u32 n = 0, i;

	for (i = 0; i < v->entries; i++)
		n += !type || v->entry[i].type == type;
	n = rng_below(&m->rng, n);
	for (i = 0; i < v->entries; i++)
		if ((!type || v->entry[i].type == type) && !n--)
			return &v->entry[i];
	return NULL;
}
