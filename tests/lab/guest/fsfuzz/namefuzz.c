// SPDX-License-Identifier: GPL-2.0-only
/*
 * namefuzz.c - mutations of what is text in a header: names, targets of symbolic
 * links, and the records of extended attributes behind it.
 */
#include "mutate.h"

#define NAME_AT		offsetof(struct yaffs_header_media, name)
#define NAME_BYTES	256
#define SYMLINK_AT	offsetof(struct yaffs_header_media, symlink)
#define SYMLINK_BYTES	160

static bool name_odd(struct mutator *m)
{
	static const char *const names[] = {
		"", ".", "..", "/", "a/b", "../../etc", "unlinked", "deleted",
		"lost+found", "obj257", "\xff\xfe", "\n", " ", "...",
	};
	u32 page = pick_header(m), i;
	u8 *name;

	if (page == NO_PAGE)
		return false;
	name = image_data(m->image, page) + NAME_AT;
	i = rng_below(&m->rng, ARRAY_SIZE(names));
	memset(name, rng_chance(&m->rng, 80) ? 0 : 0xff, NAME_BYTES);
	memcpy(name, names[i], strlen(names[i]) + 1);
	note(m, " p%u %u", page, i);
	return true;
}

/* A name that fills its field, or as much of it as is allowed, or one more. */
static bool name_long(struct mutator *m)
{
	static const u32 lengths[] = { 14, 15, 16, 253, 254, 255, 256 };
	u32 page = pick_header(m), n, i;
	u8 *name;

	if (page == NO_PAGE)
		return false;
	name = image_data(m->image, page) + NAME_AT;
	n = lengths[rng_below(&m->rng, ARRAY_SIZE(lengths))];
	memset(name, 0, NAME_BYTES);
	for (i = 0; i < n; i++)
		name[i] = (u8)('a' + i % 26);
	/* And the field behind it does not end it either. */
	if (n == NAME_BYTES && rng_chance(&m->rng, 50))
		memset(name + NAME_BYTES, 'x', 30);
	note(m, " p%u %u", page, n);
	return true;
}

static bool name_of_other(struct mutator *m)
{
	u32 page = pick_header(m), from = pick_header(m);

	if (page == NO_PAGE || from == NO_PAGE || page == from)
		return false;
	memcpy(image_data(m->image, page) + NAME_AT,
	       image_data(m->image, from) + NAME_AT, NAME_BYTES);
	note(m, " p%u from p%u", page, from);
	return true;
}

static bool name_byte(struct mutator *m)
{
	static const u8 bytes[] = { 0, '/', 0xff, '.', '\n', 0x80 };
	u32 page = pick_header(m), at;

	if (page == NO_PAGE)
		return false;
	at = rng_below(&m->rng, 20);
	image_data(m->image, page)[NAME_AT + at] =
		bytes[rng_below(&m->rng, ARRAY_SIZE(bytes))];
	note(m, " p%u +%u", page, at);
	return true;
}

static bool symlink_target(struct mutator *m)
{
	u32 page = rng_chance(&m->rng, 80) ?
		   pick_header_of(m, YAFFS_TYPE_SYMLINK) : pick_header(m);
	u32 n;
	u8 *target;

	if (page == NO_PAGE)
		return false;
	target = image_data(m->image, page) + SYMLINK_AT;
	switch (rng_below(&m->rng, 4)) {
	case 0:
		/* Without end, and the words behind it do not end it either. */
		memset(target, 'y', SYMLINK_BYTES + rng_below(&m->rng, 52));
		n = SYMLINK_BYTES;
		break;
	case 1:
		memset(target, 0, SYMLINK_BYTES);
		n = 0;
		break;
	case 2:
		memset(target, 0xff, SYMLINK_BYTES);
		n = SYMLINK_BYTES;
		break;
	default:
		n = 150 + rng_below(&m->rng, 10);
		memset(target, '/', n);
		target[n] = 0;
		break;
	}
	note(m, " p%u %u", page, n);
	return true;
}

/* ---- extended attributes ---- */

static u8 *area(struct mutator *m, u32 page, u32 *bytes)
{
	*bytes = image_chunk_bytes(m->image) - YAFFS_HEADER_BYTES;
	return image_data(m->image, page) + YAFFS_HEADER_BYTES;
}

/* Length and text of a record. */
static u32 put_record(struct mutator *m, u8 *to, u32 room, u32 length)
{
	static const char *const names[] = {
		"user.a", "user.", "user", "", "security.x", "trusted.y",
		"system.posix_acl_access", "nothing.z", "user.a", "usercolour",
	};
	const char *name = names[rng_below(&m->rng, ARRAY_SIZE(names))];
	u32 n = (u32)strlen(name) + 1, i;

	if (room < 4)
		return room;
	put32(to, length);
	for (i = 4; i < room && i < length; i++)
		to[i] = i - 4 < n ? (u8)name[i - 4] : (u8)rng_next(&m->rng);
	return i;
}

static u32 record_length(struct mutator *m, u32 room)
{
	switch (rng_below(&m->rng, 8)) {
	case 0:
		return room;
	case 1:
		return room + rng_below(&m->rng, 3) - 1;
	case 2:
		return rng_below(&m->rng, 12);
	case 3:
		return weird(m, room);
	default:
		return 12 + rng_below(&m->rng, 40);
	}
}

/* The whole area anew: records of which any can be wrong. */
static bool xattrs_forged(struct mutator *m)
{
	u32 page = pick_header(m), n = 1 + rng_below(&m->rng, 12), i, room;
	u8 *to;

	if (page == NO_PAGE)
		return false;
	to = area(m, page, &room);
	memset(to, rng_chance(&m->rng, 50) ? 0 : 0xff, room);
	note(m, " p%u", page);
	for (i = 0; i < n && room >= 4; i++) {
		u32 length = record_length(m, room);
		u32 used = put_record(m, to, room, length);

		note(m, " %x", length);
		to += used;
		room -= used;
	}
	return true;
}

static bool xattrs_noise(struct mutator *m)
{
	u32 page = pick_header(m), room, i, at;
	u8 *to;

	if (page == NO_PAGE)
		return false;
	to = area(m, page, &room);
	at = rng_chance(&m->rng, 50) ? 0 : rng_below(&m->rng, room);
	for (i = at; i < room; i++)
		to[i] = (u8)(rng_chance(&m->rng, 50) ? 'a' : rng_next(&m->rng));
	put32(to + at - at % 4, room - at);
	note(m, " p%u +%u", page, at);
	return true;
}

/* One word or byte of the records that there are. */
static bool xattr_damaged(struct mutator *m)
{
	u32 tries, page, room, at;
	u8 *to;

	for (tries = 0; tries < 30; tries++) {
		page = pick_header(m);
		if (page == NO_PAGE)
			return false;
		to = area(m, page, &room);
		if (get32(to) && get32(to) <= room)
			break;
	}
	if (tries == 30)
		return false;
	if (rng_chance(&m->rng, 50)) {
		put32(to, weird(m, get32(to)));
		at = 0;
	} else {
		at = rng_below(&m->rng, get32(to));
		to[at] = rng_chance(&m->rng, 50) ? 0 : (u8)rng_next(&m->rng);
	}
	note(m, " p%u +%u", page, at);
	return true;
}

const struct mutation_kind name_mutations[] = {
	{ "name-odd", 6, name_odd },
	{ "name-long", 5, name_long },
	{ "name-other", 5, name_of_other },
	{ "name-byte", 3, name_byte },
	{ "symlink", 4, symlink_target },
	{ "xattr-forged", 6, xattrs_forged },
	{ "xattr-noise", 2, xattrs_noise },
	{ "xattr-damaged", 4, xattr_damaged },
	{ 0 },
};
