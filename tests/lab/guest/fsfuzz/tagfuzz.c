// SPDX-License-Identifier: GPL-2.0-only
/*
 * tagfuzz.c - mutations of tags, and pages forged from tags alone.
 *
 * With a valid checkpoint tags are hardly read, so some mutations of this program
 * take the checkpoint away: see ckpt_dropped() in ckptfuzz.c.
 */
#include "mutate.h"
#include "summary.h"

static bool field(struct mutator *m)
{
	static const char *const names[] = { "seq", "obj", "chunk", "bytes" };
	u32 page = pick_used_page(m), which = rng_below(&m->rng, 4);
	struct tags tags;
	u32 *fields[4], old;

	if (page == NO_PAGE)
		return false;
	tags = image_tags(m->image, page);
	fields[0] = &tags.seq;
	fields[1] = &tags.obj;
	fields[2] = &tags.chunk;
	fields[3] = &tags.bytes;
	old = *fields[which];
	*fields[which] = which == 1 ? weird_id(m) : weird(m, old);
	note(m, " p%u %s %x>%x", page, names[which], old, *fields[which]);
	change_tags(m, page, tags);
	return true;
}

/* The bits that only headers have: extended, shrink, shadow, spare, type. */
static bool extended_bits(struct mutator *m)
{
	u32 page = pick_header(m), old;
	struct tags tags;

	if (page == NO_PAGE)
		return false;
	tags = image_tags(m->image, page);
	if (rng_chance(&m->rng, 50)) {
		old = tags.chunk;
		tags.chunk ^= 1u << (28 + rng_below(&m->rng, 4));
		note(m, " p%u chunk %x>%x", page, old, tags.chunk);
	} else {
		old = tags.obj;
		tags.obj = (tags.obj & YAFFS_TAG_ID_MASK) |
			   rng_below(&m->rng, 16) << YAFFS_TAG_TYPE_SHIFT;
		note(m, " p%u obj %x>%x", page, old, tags.obj);
	}
	change_tags(m, page, tags);
	return true;
}

/* A parent, size or link target in the tags that is not that of the header. */
static bool extended_value(struct mutator *m)
{
	u32 page = pick_header(m);
	struct tags tags;

	if (page == NO_PAGE)
		return false;
	tags = image_tags(m->image, page);
	if (!(tags.chunk & YAFFS_TAG_EXTENDED))
		return false;
	if (rng_chance(&m->rng, 60)) {
		u32 parent = weird_id(m) & YAFFS_TAG_ID_MASK;

		tags.chunk = (tags.chunk & ~YAFFS_TAG_ID_MASK) | parent;
		note(m, " p%u parent %x", page, parent);
	} else {
		tags.bytes = rng_chance(&m->rng, 50) ? weird_id(m) :
			     (u32)weird_size(m);
		note(m, " p%u size %x", page, tags.bytes);
	}
	change_tags(m, page, tags);
	return true;
}

/* Errors that the ECC of the tags corrects, notices, or has itself. */
static bool ecc(struct mutator *m)
{
	u32 page = pick_used_page(m), n = 1 + rng_below(&m->rng, 3), i;
	u8 *tags;

	if (page == NO_PAGE || m->image->g.inband)
		return false;
	tags = image_tags_place(m->image, page);
	note(m, " p%u", page);
	for (i = 0; i < n; i++) {
		u32 at = rng_below(&m->rng, 28 * 8);

		tags[at / 8] ^= (u8)(1u << at % 8);
		note(m, " bit %u", at);
	}
	return true;
}

/* Data of one object becomes data of another, which may be no file at all. */
static bool data_moved(struct mutator *m)
{
	u32 page = pick_page(m, PAGE_DATA), like = pick_used_page(m);
	struct tags tags;

	if (page == NO_PAGE || like == NO_PAGE)
		return false;
	tags = image_tags(m->image, page);
	tags.obj = rng_chance(&m->rng, 50) ? weird_id(m) :
		   survey_id(image_tags(m->image, like));
	if (rng_chance(&m->rng, 50))
		tags.chunk = rng_chance(&m->rng, 50) ? 1 : weird(m, tags.chunk);
	note(m, " p%u obj %x chunk %x", page, tags.obj, tags.chunk);
	change_tags(m, page, tags);
	return true;
}

static u32 weird_seq(struct mutator *m)
{
	static const u32 values[] = {
		YAFFS_SEQ_CHECKPOINT, 0, 1, YAFFS_SEQ_LOWEST - 1,
		YAFFS_SEQ_LOWEST, YAFFS_SEQ_FIRST, YAFFS_SEQ_END - 1,
		YAFFS_SEQ_END, YAFFS_SEQ_BAD_BLOCK, YAFFS_SEQ_ERASED - 1,
	};

	switch (rng_below(&m->rng, 3)) {
	case 0:
		return values[rng_below(&m->rng, ARRAY_SIZE(values))];
	case 1:
		return survey_block_seq(m->s, m->image, pick_block(m));
	default:
		return weird(m, YAFFS_SEQ_FIRST + rng_below(&m->rng, 100));
	}
}

static void set_page_seq(struct mutator *m, u32 page, u32 seq)
{
	struct tags tags = image_tags(m->image, page);

	if (m->s->kind[page] == PAGE_ERASED)
		return;
	tags.seq = seq;
	image_set_tags(m->image, page, tags);
	if (tags.obj == YAFFS_ID_SUMMARY)
		put32(image_data(m->image, page) + 8, seq);
}

static bool block_seq(struct mutator *m)
{
	u32 per_block = m->image->g.pages_per_block;
	u32 first = pick_block(m) * per_block, seq = weird_seq(m), i;
	/* Or only from some page on: a block of two generations. */
	u32 from = rng_chance(&m->rng, 75) ? 0 : rng_below(&m->rng, per_block);

	for (i = from; i < per_block; i++)
		set_page_seq(m, first + i, seq);
	note(m, " b%u from %u seq %x", first / per_block, from, seq);
	return true;
}

static bool block_seqs_swapped(struct mutator *m)
{
	u32 per_block = m->image->g.pages_per_block;
	u32 a = pick_block(m), b = pick_block(m), i;
	u32 seq_a = survey_block_seq(m->s, m->image, a);
	u32 seq_b = survey_block_seq(m->s, m->image, b);

	if (a == b || seq_a == YAFFS_SEQ_ERASED || seq_b == YAFFS_SEQ_ERASED)
		return false;
	for (i = 0; i < per_block; i++) {
		set_page_seq(m, a * per_block + i, seq_b);
		set_page_seq(m, b * per_block + i, seq_a);
	}
	note(m, " b%u b%u", a, b);
	return true;
}

/* A sequence number for a page that is to be written behind others, or alone. */
static u32 seq_for(struct mutator *m, u32 page)
{
	u32 seq = survey_block_seq(m->s, m->image,
				   page / m->image->g.pages_per_block);
	u32 newest = YAFFS_SEQ_FIRST, i;

	if (seq != YAFFS_SEQ_ERASED)
		return seq;
	for (i = 0; i < m->image->g.blocks; i++) {
		seq = survey_block_seq(m->s, m->image, i);
		if (seq >= newest && seq < YAFFS_SEQ_END)
			newest = seq + 1;
	}
	return newest;
}

/* Data at far places of a file: how deep can the tree of its chunks become? */
static bool data_forged(struct mutator *m)
{
	u32 page = pick_next_free_page(m), n = 1 + rng_below(&m->rng, 6);
	u32 obj = weird_id(m) & YAFFS_TAG_ID_MASK, i;

	if (page == NO_PAGE)
		return false;
	note(m, " p%u obj %x", page, obj);
	for (i = 0; i < n; i++) {
		struct tags tags = {
			.seq = seq_for(m, page),
			.obj = obj,
			.chunk = rng_chance(&m->rng, 60) ?
				1u << rng_below(&m->rng, 29) :
				weird(m, 1) & YAFFS_TAG_ID_MASK,
			.bytes = rng_chance(&m->rng, 80) ?
				image_chunk_bytes(m->image) : weird(m, 1024),
		};

		tags.chunk -= rng_below(&m->rng, 2);
		forge_page(m, page, tags, 0x5a);
		note(m, " chunk %x", tags.chunk);
		if (++page % m->image->g.pages_per_block == 0)
			break;
	}
	return true;
}

/* A header that consists of tags, with a page that says something else. */
static bool header_forged(struct mutator *m)
{
	u32 page = pick_next_free_page(m);
	struct tags tags;

	if (page == NO_PAGE)
		return false;
	tags.seq = seq_for(m, page);
	tags.obj = (weird_id(m) & YAFFS_TAG_ID_MASK) |
		   rng_below(&m->rng, 8) << YAFFS_TAG_TYPE_SHIFT;
	tags.chunk = YAFFS_TAG_EXTENDED |
		     (weird_id(m) & YAFFS_TAG_ID_MASK) |
		     (rng_chance(&m->rng, 30) ? YAFFS_TAG_SHRINK : 0) |
		     (rng_chance(&m->rng, 20) ? YAFFS_TAG_SHADOWS : 0);
	tags.bytes = rng_chance(&m->rng, 50) ? weird_id(m) : (u32)weird_size(m);
	forge_page(m, page, tags, rng_chance(&m->rng, 50) ? 0 : 0xff);
	note(m, " p%u obj %x chunk %x bytes %x", page, tags.obj, tags.chunk,
	     tags.bytes);
	return true;
}

const struct mutation_kind tag_mutations[] = {
	{ "tag-field", 10, field },
	{ "tag-bits", 6, extended_bits },
	{ "tag-ext", 6, extended_value },
	{ "tag-ecc", 3, ecc },
	{ "data-moved", 4, data_moved },
	{ "block-seq", 5, block_seq },
	{ "block-seqs", 2, block_seqs_swapped },
	{ "data-forged", 5, data_forged },
	{ "head-forged", 5, header_forged },
	{ 0 },
};
