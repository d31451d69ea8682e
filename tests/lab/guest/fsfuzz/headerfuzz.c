// SPDX-License-Identifier: GPL-2.0-only
/*
 * headerfuzz.c - mutations of object headers in which the tags agree: relations
 * between objects (parent, link, shadow), types, sizes, modes. Names and extended
 * attributes are in namefuzz.c.
 */
#include <sys/stat.h>

#include "mutate.h"

#define HEADER_FIELD(member) \
	{ #member, offsetof(struct yaffs_header_media, member) }

static const struct {
	const char *name;
	size_t offset;
} words[] = {
	HEADER_FIELD(type),
	HEADER_FIELD(parent_id),
	HEADER_FIELD(mode),
	HEADER_FIELD(uid),
	HEADER_FIELD(gid),
	HEADER_FIELD(atime_low),
	HEADER_FIELD(mtime_low),
	HEADER_FIELD(ctime_low),
	HEADER_FIELD(size_low),
	HEADER_FIELD(link_target),
	HEADER_FIELD(rdev),
	HEADER_FIELD(ctime.low),
	HEADER_FIELD(ctime.high),
	HEADER_FIELD(atime.low),
	HEADER_FIELD(atime.high),
	HEADER_FIELD(mtime.low),
	HEADER_FIELD(mtime.high),
	HEADER_FIELD(inband_shadowed_id),
	HEADER_FIELD(inband_is_shrink),
	HEADER_FIELD(size_high),
	HEADER_FIELD(reserved),
	HEADER_FIELD(shadowed_id),
	HEADER_FIELD(is_shrink),
};

static u8 *place_of(struct mutator *m, u32 page, size_t offset)
{
	return image_data(m->image, page) + offset;
}

#define PLACE(m, page, member) \
	place_of(m, page, offsetof(struct yaffs_header_media, member))

/* A header of which no extended tags say what is in it: it has to be read. */
static void drop_extended(struct mutator *m, u32 page)
{
	struct tags tags = image_tags(m->image, page);

	if (!(tags.chunk & YAFFS_TAG_EXTENDED))
		return;
	tags.obj &= YAFFS_TAG_ID_MASK;
	tags.chunk = 0;
	note(m, " plain");
	change_tags(m, page, tags);
}

static bool word(struct mutator *m)
{
	u32 page = pick_header(m), which, old, value;
	u8 *place;

	if (page == NO_PAGE)
		return false;
	which = rng_below(&m->rng, ARRAY_SIZE(words));
	place = place_of(m, page, words[which].offset);
	old = get32(place);
	value = weird(m, old);
	put32(place, value);
	note(m, " p%u %s %x>%x", page, words[which].name, old, value);
	if (rng_chance(&m->rng, 25))
		drop_extended(m, page);
	return true;
}

static void set_parent(struct mutator *m, u32 page, u32 parent)
{
	struct tags tags = image_tags(m->image, page);

	put32(PLACE(m, page, parent_id), parent);
	if (tags.chunk & YAFFS_TAG_EXTENDED)
		tags.chunk = (tags.chunk & ~YAFFS_TAG_ID_MASK) |
			     (parent & YAFFS_TAG_ID_MASK);
	change_tags(m, page, tags);
}

static bool parent(struct mutator *m)
{
	u32 page = pick_header(m), id, value;

	if (page == NO_PAGE)
		return false;
	id = survey_id(image_tags(m->image, page));
	value = rng_chance(&m->rng, 15) ? id : weird_id(m);
	note(m, " p%u obj %u parent %u", page, id, value);
	set_parent(m, page, value);
	return true;
}

/* Two or more directories that are each other's ancestors. */
static bool cycle(struct mutator *m)
{
	u32 n = 2 + rng_below(&m->rng, 3), first, last, i;

	last = pick_header_of(m, YAFFS_TYPE_DIRECTORY);
	if (last == NO_PAGE)
		return false;
	first = last;
	for (i = 1; i < n; i++) {
		u32 next = pick_header_of(m, YAFFS_TYPE_DIRECTORY);

		if (next == last)
			continue;
		note(m, " p%u", next);
		set_parent(m, next, survey_id(image_tags(m->image, last)));
		last = next;
	}
	note(m, " p%u", first);
	set_parent(m, first, survey_id(image_tags(m->image, last)));
	return true;
}

static bool type(struct mutator *m)
{
	u32 page = pick_header(m), value = rng_below(&m->rng, 8);
	struct tags tags;

	if (page == NO_PAGE)
		return false;
	tags = image_tags(m->image, page);
	put32(PLACE(m, page, type), value);
	if (tags.chunk & YAFFS_TAG_EXTENDED)
		tags.obj = (tags.obj & YAFFS_TAG_ID_MASK) |
			   value << YAFFS_TAG_TYPE_SHIFT;
	note(m, " p%u type %u", page, value);
	change_tags(m, page, tags);
	return true;
}

/* The object takes another's id, one that has a meaning, or one of nobody's. */
static bool id(struct mutator *m)
{
	u32 page = pick_header(m), value = weird_id(m);
	struct tags tags;

	if (page == NO_PAGE)
		return false;
	tags = image_tags(m->image, page);
	if (tags.chunk & YAFFS_TAG_EXTENDED)
		tags.obj = (tags.obj & ~YAFFS_TAG_ID_MASK) |
			   (value & YAFFS_TAG_ID_MASK);
	else
		tags.obj = value;
	note(m, " p%u obj %x", page, tags.obj);
	change_tags(m, page, tags);
	return true;
}

static bool size(struct mutator *m)
{
	u32 page = rng_chance(&m->rng, 80) ?
		   pick_header_of(m, YAFFS_TYPE_FILE) : pick_header(m);
	u64 value = weird_size(m);
	struct tags tags;

	if (page == NO_PAGE)
		return false;
	tags = image_tags(m->image, page);
	put32(PLACE(m, page, size_low), (u32)value);
	put32(PLACE(m, page, size_high),
	      value >> 32 || rng_chance(&m->rng, 20) ? (u32)(value >> 32) :
	      0xffffffff);
	note(m, " p%u size %llx", page, (unsigned long long)value);
	if (value >= YAFFS_TAG_SIZE_END || rng_chance(&m->rng, 20)) {
		drop_extended(m, page);
	} else if (tags.chunk & YAFFS_TAG_EXTENDED) {
		tags.bytes = (u32)value;
		change_tags(m, page, tags);
	}
	return true;
}

static bool link_target(struct mutator *m)
{
	u32 page = rng_chance(&m->rng, 80) ?
		   pick_header_of(m, YAFFS_TYPE_HARDLINK) : pick_header(m);
	u32 value, other;
	struct tags tags;

	if (page == NO_PAGE)
		return false;
	tags = image_tags(m->image, page);
	other = pick_header_of(m, rng_below(&m->rng, YAFFS_TYPES));
	value = weird_id(m);
	if (rng_chance(&m->rng, 20))
		value = survey_id(tags);
	else if (other != NO_PAGE && rng_chance(&m->rng, 50))
		value = survey_id(image_tags(m->image, other));
	put32(PLACE(m, page, link_target), value);
	note(m, " p%u target %u", page, value);
	if (tags.chunk & YAFFS_TAG_EXTENDED &&
	    tags.obj >> YAFFS_TAG_TYPE_SHIFT == YAFFS_TYPE_HARDLINK) {
		tags.bytes = value;
		change_tags(m, page, tags);
	}
	return true;
}

/* An object of any type becomes a hard link to anything. */
static bool made_link(struct mutator *m)
{
	u32 page = pick_header(m), value = weird_id(m);
	struct tags tags;

	if (page == NO_PAGE)
		return false;
	tags = image_tags(m->image, page);
	put32(PLACE(m, page, type), YAFFS_TYPE_HARDLINK);
	put32(PLACE(m, page, link_target), value);
	note(m, " p%u target %u", page, value);
	if (tags.chunk & YAFFS_TAG_EXTENDED) {
		tags.obj = (tags.obj & YAFFS_TAG_ID_MASK) |
			   (u32)YAFFS_TYPE_HARDLINK << YAFFS_TAG_TYPE_SHIFT;
		tags.bytes = value;
	}
	change_tags(m, page, tags);
	return true;
}

static bool mode(struct mutator *m)
{
	static const u32 kinds[] = {
		S_IFREG, S_IFDIR, S_IFLNK, S_IFCHR, S_IFBLK, S_IFIFO, S_IFSOCK,
		0, 0xffff0000, 0xf000,
	};
	u32 page = pick_header(m), value;

	if (page == NO_PAGE)
		return false;
	value = kinds[rng_below(&m->rng, ARRAY_SIZE(kinds))] |
		rng_below(&m->rng, 010000);
	put32(PLACE(m, page, mode), value);
	put32(PLACE(m, page, rdev), weird(m, 0x0103));
	note(m, " p%u mode %o", page, value);
	return true;
}

static bool shadow(struct mutator *m)
{
	u32 page = pick_header(m), value = weird_id(m);
	struct tags tags;

	if (page == NO_PAGE)
		return false;
	tags = image_tags(m->image, page);
	if (rng_chance(&m->rng, 15))
		value = survey_id(tags);
	put32(PLACE(m, page, shadowed_id), value);
	if (rng_chance(&m->rng, 50))
		put32(PLACE(m, page, inband_shadowed_id), value);
	if (rng_chance(&m->rng, 80))
		tags.chunk |= YAFFS_TAG_SHADOWS;
	note(m, " p%u shadows %u", page, value);
	change_tags(m, page, tags);
	return true;
}

static bool shrink(struct mutator *m)
{
	u32 page = pick_header(m);
	struct tags tags;

	if (page == NO_PAGE)
		return false;
	tags = image_tags(m->image, page);
	put32(PLACE(m, page, is_shrink), 1);
	put32(PLACE(m, page, inband_is_shrink), 1);
	tags.chunk |= YAFFS_TAG_SHRINK;
	if (rng_chance(&m->rng, 50)) {
		tags.bytes = rng_below(&m->rng, 1 << 16);
		put32(PLACE(m, page, size_low), tags.bytes);
	}
	note(m, " p%u size %u", page, tags.bytes);
	change_tags(m, page, tags);
	return true;
}

/* One more object like another: same name in the same directory, or elsewhere. */
static bool cloned(struct mutator *m)
{
	u32 from = pick_header(m), to = pick_next_free_page(m), value;
	struct tags tags;

	if (from == NO_PAGE || to == NO_PAGE)
		return false;
	tags = image_tags(m->image, from);
	value = rng_chance(&m->rng, 70) ? 300 + rng_below(&m->rng, 3000) :
		weird_id(m);
	image_copy_page(m->image, to, from);
	tags.obj = (tags.obj & ~YAFFS_TAG_ID_MASK) | (value & YAFFS_TAG_ID_MASK);
	tags.seq = survey_block_seq(m->s, m->image,
				    to / m->image->g.pages_per_block);
	if (tags.seq == YAFFS_SEQ_ERASED)
		tags.seq = YAFFS_SEQ_FIRST + rng_below(&m->rng, 10000);
	note(m, " p%u to p%u obj %x", from, to, tags.obj);
	change_tags(m, to, tags);
	if (rng_chance(&m->rng, 30))
		set_parent(m, to, weird_id(m));
	return true;
}

const struct mutation_kind header_mutations[] = {
	{ "head-word", 10, word },
	{ "parent", 8, parent },
	{ "cycle", 4, cycle },
	{ "type", 6, type },
	{ "id", 6, id },
	{ "size", 7, size },
	{ "link", 4, link_target },
	{ "made-link", 3, made_link },
	{ "mode", 4, mode },
	{ "shadow", 5, shadow },
	{ "shrink", 4, shrink },
	{ "clone", 6, cloned },
	{ 0 },
};
