// SPDX-License-Identifier: GPL-2.0-only
/*
 * superfuzz.c - mutations of superblocks and of the headers of segments.
 */
#include "aim.h"

struct place {
	const char *name;
	u32 at, bytes;
};

static const struct place fields[] = {
	{ "ifile-levels", 36, 1 },
	{ "iblock-levels", 37, 1 },
	{ "data-levels", 38, 1 },
	{ "segment-shift", 39, 1 },
	{ "block-shift", 40, 1 },
	{ "write-shift", 41, 1 },
	{ "fs-bytes", 48, 8 },
	{ "segment-bytes", 56, 4 },
	{ "bad-reserve", 60, 4 },
	{ "incompat", 64, 8 },
	{ "ro-compat", 72, 8 },
	{ "compat", 80, 8 },
	{ "flags", 88, 8 },
	{ "root-reserve", 96, 8 },
	{ "speed-reserve", 104, 8 },
	{ "copy", 176, 8 },
	{ "copy", 184, 8 },
};

/* Changes both copies, or one of them. */
static void put_field(struct mutator *m, struct view *v,
		      const struct place *f, u64 value)
{
	u32 which = rng_below(&m->rng, 4), copy;
	u32 at[2] = { 0, v->device_bytes - LOGFS_BLOCK_BYTES };

	note(m, " %s=%llx in %s", f->name, (unsigned long long)value,
	     which > 1 ? "both" : which ? "last" : "first");
	for (copy = 0; copy < 2; copy++) {
		if (which == 1 - copy)
			continue;
		be_put(v->device + at[copy] + f->at, f->bytes, value);
		super_seal(v->device + at[copy]);
	}
}

static bool super_field(struct mutator *m)
{
	struct view *v = view_load(m->image);
	const struct place *f = &fields[rng_below(&m->rng,
						  ARRAY_SIZE(fields))];
	u64 old = be_get(v->device + f->at, f->bytes);
	u64 value = weird_word(m, old);

	if (f->bytes == 1 && rng_chance(&m->rng, 70))
		value = rng_below(&m->rng, 33);
	if (f->at >= 176 && rng_chance(&m->rng, 60))
		value = weird_place(m, v);
	put_field(m, v, f, value);
	return aim_done(v);
}

static bool super_journal(struct mutator *m)
{
	struct view *v = view_load(m->image);
	const struct place f = {
		"journal", 112 + 4 * rng_below(&m->rng, LOGFS_JOURNAL_SEGMENTS),
		4,
	};

	put_field(m, v, &f, rng_chance(&m->rng, 80) ?
		  rng_below(&m->rng, v->segments + 2) : weird(m, 1));
	return aim_done(v);
}

static bool super_lost(struct mutator *m)
{
	struct view *v = view_load(m->image);
	u32 which = rng_below(&m->rng, 2);

	memset(v->device + which * (v->device_bytes - LOGFS_BLOCK_BYTES),
	       rng_chance(&m->rng, 50) ? 0xff : 0, LOGFS_BLOCK_BYTES);
	note(m, " %s", which ? "last" : "first");
	return aim_done(v);
}

/* A segment with a header, or any. */
static u32 aim_segment(struct mutator *m, const struct view *v)
{
	u32 tries, segno = 0;

	for (tries = 0; tries < 30; tries++) {
		segno = rng_below(&m->rng, v->segments);
		if (segment_header(v, segno))
			break;
	}
	return segno;
}

static bool segment_field(struct mutator *m)
{
	static const struct place parts[] = {
		{ "type", 6, 1 }, { "level", 7, 1 }, { "segno", 8, 4 },
		{ "ec", 12, 4 }, { "gec", 16, 8 },
	};
	struct view *v = view_load(m->image);
	const struct place *f = &parts[rng_below(&m->rng, ARRAY_SIZE(parts))];
	u32 segno = aim_segment(m, v);
	u8 *header = v->device + (size_t)segno * v->segment_bytes;
	u64 value = f->bytes == 1 ? rng_below(&m->rng, 14) :
		    weird_word(m, be_get(header + f->at, f->bytes));

	be_put(header + f->at, f->bytes, value);
	if (segno)
		segment_seal(header);
	else
		super_seal(header);
	note(m, " s%u %s=%llx", segno, f->name, (unsigned long long)value);
	return aim_done(v);
}

/* A header before what is not a segment of that type. */
static bool segment_forged(struct mutator *m)
{
	struct view *v = view_load(m->image);
	u32 segno = rng_below(&m->rng, v->segments);
	u8 *header = v->device + (size_t)segno * v->segment_bytes;

	memset(header, 0, sizeof(struct logfs_segment_header_media));
	header[6] = (u8)(1 + rng_below(&m->rng, 3));
	header[7] = (u8)rng_below(&m->rng, LOGFS_GC_LEVELS);
	be_put(header + 8, 4, segno);
	be_put(header + 12, 4, rng_below(&m->rng, 10));
	be_put(header + 16, 8, 0x1000 + rng_below(&m->rng, 200));
	segment_seal(header);
	note(m, " s%u type %u level %u", segno, header[6], header[7]);
	return aim_done(v);
}

const struct mutation_kind logfs_super_mutations[] = {
	{ "super-field", 6, super_field },
	{ "super-journal", 3, super_journal },
	{ "super-lost", 2, super_lost },
	{ "segment-field", 8, segment_field },
	{ "segment-forged", 2, segment_forged },
	{ 0 },
};
