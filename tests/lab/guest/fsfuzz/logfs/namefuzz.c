// SPDX-License-Identifier: GPL-2.0-only
/*
 * namefuzz.c - mutations of names and of directories.
 */
#include "aim.h"

#define AT_LENGTH	8
#define AT_TYPE		10
#define AT_NAME		11

static u8 *dentry_of(const struct view *v, const struct logfs_found *o)
{
	return v->device + o->at + LOGFS_OBJECT_HEADER_BYTES;
}

/* A dentry that is as long as one, or NULL. */
static const struct logfs_found *aim_dentry(struct mutator *m,
					    const struct view *v)
{
	const struct logfs_found *o = aim_object(m, v, LOGFS_OBJECT_DENTRY);

	return o && o->stored == sizeof(struct logfs_dentry_media) ? o : NULL;
}

static bool dentry_ino(struct mutator *m)
{
	struct view *v = view_load(m->image);
	const struct logfs_found *o = aim_dentry(m, v);
	u64 value;

	if (!o)
		return aim_nothing(v);
	/* Of the directory itself, among others: it is below itself then. */
	value = rng_chance(&m->rng, 20) ? o->ino : weird_ino(m, v);
	be_put(dentry_of(v, o), 8, value);
	object_seal(v, o->at);
	note(m, " in %llu: %llx", (unsigned long long)o->ino,
	     (unsigned long long)value);
	return aim_done(v);
}

static bool dentry_type(struct mutator *m)
{
	struct view *v = view_load(m->image);
	const struct logfs_found *o = aim_dentry(m, v);

	if (!o)
		return aim_nothing(v);
	dentry_of(v, o)[AT_TYPE] = (u8)rng_below(&m->rng, 17);
	object_seal(v, o->at);
	note(m, " in %llu: %u", (unsigned long long)o->ino,
	     dentry_of(v, o)[AT_TYPE]);
	return aim_done(v);
}

static bool name_length(struct mutator *m)
{
	struct view *v = view_load(m->image);
	const struct logfs_found *o = aim_dentry(m, v);
	u32 value = rng_chance(&m->rng, 60) ? rng_below(&m->rng, 260) :
		    weird(m, 5);

	if (!o)
		return aim_nothing(v);
	be_put(dentry_of(v, o) + AT_LENGTH, 2, value);
	if (rng_chance(&m->rng, 50))
		memset(dentry_of(v, o) + AT_NAME, 'x', LOGFS_NAME_MAX);
	object_seal(v, o->at);
	note(m, " in %llu: %x", (unsigned long long)o->ino, value);
	return aim_done(v);
}

static bool name_odd(struct mutator *m)
{
	static const char *const names[] = {
		"", ".", "..", "/", "a/b", "..x", "\n", "\xff\xfe",
	};
	struct view *v = view_load(m->image);
	const struct logfs_found *o = aim_dentry(m, v);
	const char *name = names[rng_below(&m->rng, ARRAY_SIZE(names))];

	if (!o)
		return aim_nothing(v);
	memset(dentry_of(v, o) + AT_NAME, 0, LOGFS_NAME_MAX);
	memcpy(dentry_of(v, o) + AT_NAME, name, strlen(name));
	be_put(dentry_of(v, o) + AT_LENGTH, 2, strlen(name));
	object_seal(v, o->at);
	note(m, " in %llu: %zu bytes", (unsigned long long)o->ino, strlen(name));
	return aim_done(v);
}

/* Where no lookup comes by, for it has another hash. */
static bool name_byte(struct mutator *m)
{
	struct view *v = view_load(m->image);
	const struct logfs_found *o = aim_dentry(m, v);

	if (!o)
		return aim_nothing(v);
	dentry_of(v, o)[AT_NAME + rng_below(&m->rng, 6)] ^=
		(u8)(1u << rng_below(&m->rng, 8));
	object_seal(v, o->at);
	note(m, " in %llu at %llx", (unsigned long long)o->ino,
	     (unsigned long long)o->bix);
	return aim_done(v);
}

/* The same name again, perhaps of something else. */
static bool name_other(struct mutator *m)
{
	struct view *v = view_load(m->image);
	const struct logfs_found *o = aim_dentry(m, v), *from = aim_dentry(m, v);

	if (!o || !from || o == from)
		return aim_nothing(v);
	memcpy(dentry_of(v, o) + AT_LENGTH, dentry_of(v, from) + AT_LENGTH,
	       sizeof(struct logfs_dentry_media) - AT_LENGTH);
	if (rng_chance(&m->rng, 50))
		memcpy(dentry_of(v, o), dentry_of(v, from), 8);
	object_seal(v, o->at);
	note(m, " %x as %x", o->at, from->at);
	return aim_done(v);
}

const struct mutation_kind logfs_name_mutations[] = {
	{ "dentry-ino", 6, dentry_ino },
	{ "dentry-type", 3, dentry_type },
	{ "dentry-length", 3, name_length },
	{ "dentry-odd", 3, name_odd },
	{ "dentry-byte", 3, name_byte },
	{ "dentry-other", 3, name_other },
	{ 0 },
};
