// SPDX-License-Identifier: GPL-2.0-only
/*
 * view.c - see view.h.
 */
#include <stdlib.h>

#include "view.h"

#define HASH_SLOTS	32768u
#define SUPER_CRC_AT	32

u64 be_get(const u8 *from, u32 bytes)
{
	u64 value = 0;

	while (bytes--)
		value = value << 8 | *from++;
	return value;
}

void be_put(u8 *to, u32 bytes, u64 value)
{
	while (bytes--) {
		to[bytes] = (u8)value;
		value >>= 8;
	}
}

/* By a table of what each byte does: megabytes are gone over for each mutation. */
u32 logfs_crc_of(const u8 *bytes, u32 n)
{
	static u32 table[256];
	u32 crc = 0xffffffff, i;

	for (i = 0; !table[255] && i < 256; i++) {
		u8 byte = (u8)i;

		table[i] = crc32_le(0, &byte, 1);
	}
	while (n--)
		crc = crc >> 8 ^ table[(u8)(crc ^ *bytes++)];
	return crc;
}

const u8 *segment_header(const struct view *v, u32 segno)
{
	const u8 *header = v->device + (size_t)segno * v->segment_bytes;

	return be_get(header, 4) == logfs_crc_of(header + 4, 20) ? header : NULL;
}

void segment_seal(u8 *header)
{
	be_put(header, 4, logfs_crc_of(header + 4, 20));
}

void super_seal(u8 *super)
{
	segment_seal(super);
	be_put(super + SUPER_CRC_AT, 4,
	       logfs_crc_of(super + SUPER_CRC_AT + 4,
			    LOGFS_SUPER_BYTES - SUPER_CRC_AT - 4));
}

void object_seal(struct view *v, u32 at)
{
	u8 *header = v->device + at;
	u32 stored = (u32)be_get(header + 4, 2);

	if (stored > v->device_bytes - at - LOGFS_OBJECT_HEADER_BYTES)
		stored = v->device_bytes - at - LOGFS_OBJECT_HEADER_BYTES;
	be_put(header, 4, logfs_crc_of(header + 4, 20));
	be_put(header + 24, 4, logfs_crc_of(header + LOGFS_OBJECT_HEADER_BYTES,
					    stored));
}

/* ---- objects ---- */

static void *reserve(size_t n, size_t bytes)
{
	void *memory = calloc(n, bytes);

	if (!memory) {
		fprintf(stderr, "fsfuzz: no memory for a view\n");
		exit(3);
	}
	return memory;
}

static void add_object(struct view *v, const struct logfs_found *o)
{
	if (v->objects == v->room) {
		v->room = v->room ? 2 * v->room : 1024;
		v->object = realloc(v->object, v->room * sizeof(*o));
		if (!v->object) {
			fprintf(stderr, "fsfuzz: no memory for objects\n");
			exit(3);
		}
	}
	v->object[v->objects++] = *o;
}

static void take_objects(struct view *v, u32 segno)
{
	const u8 *header = segment_header(v, segno);
	u32 at = sizeof(struct logfs_segment_header_media);

	if (!header || header[6] != LOGFS_SEGMENT_OBJECTS)
		return;
	while (at + LOGFS_OBJECT_HEADER_BYTES <= v->segment_bytes) {
		const u8 *from = header + at;
		struct logfs_found o = {
			.at = segno * v->segment_bytes + at,
			.stored = (u32)be_get(from + 4, 2),
			.type = from[6],
			.compression = from[7],
			.level = header[7],
			.ino = be_get(from + 8, 8),
			.bix = be_get(from + 16, 8),
			.age = be_get(header + 16, 8) << 32 | at,
		};

		if (be_get(from, 4) != logfs_crc_of(from + 4, 20))
			return;
		at += LOGFS_OBJECT_HEADER_BYTES + o.stored;
		if (at > v->segment_bytes)
			return;
		add_object(v, &o);
	}
}

static bool same_block(const struct logfs_found *a, const struct logfs_found *b)
{
	return a->level == b->level && a->ino == b->ino && a->bix == b->bix;
}

static void mark_newest(struct view *v)
{
	static u32 slots[HASH_SLOTS];
	u32 i, slot;

	memset(slots, 0xff, sizeof(slots));
	for (i = 0; i < v->objects && i < HASH_SLOTS / 2; i++) {
		struct logfs_found *o = &v->object[i];

		slot = (u32)((o->ino * 31 + o->bix) * 13 + o->level);
		for (slot %= HASH_SLOTS; slots[slot] != NO_OBJECT;
		     slot = (slot + 1) % HASH_SLOTS)
			if (same_block(&v->object[slots[slot]], o))
				break;
		if (slots[slot] != NO_OBJECT &&
		    v->object[slots[slot]].age > o->age)
			continue;
		if (slots[slot] != NO_OBJECT)
			v->object[slots[slot]].newest = false;
		slots[slot] = i;
		o->newest = true;
	}
}

/* ---- write buffers ---- */

/* Where the buffer of an area belongs on the device, or NULL if it has none. */
static u8 *buffer_place(const struct view *v, const struct entry *e)
{
	u64 segno = be_get(e->payload, 4), used = be_get(e->payload + 4, 4);

	if (e->type != LOGFS_JOURNAL_AREA ||
	    e->bytes != LOGFS_AREA_HEADER + v->unit ||
	    segno >= v->segments || used >= v->segment_bytes)
		return NULL;
	return v->device + segno * v->segment_bytes + used - used % v->unit;
}

static void lay_buffers_over(struct view *v)
{
	u32 i;

	for (i = 0; i < v->entries; i++) {
		struct entry *e = &v->entry[i];

		e->buffer = buffer_place(v, e);
		if (e->buffer)
			memcpy(e->buffer, e->payload + LOGFS_AREA_HEADER,
			       v->unit);
	}
}

/* The device gets back what the image has there. */
static void take_buffers_off(struct view *v)
{
	u32 i;

	for (i = 0; i < v->entries; i++) {
		struct entry *e = &v->entry[i];
		u8 *payload = e->payload + LOGFS_AREA_HEADER;

		if (!e->buffer)
			continue;
		if (memcmp(payload, e->buffer, v->unit)) {
			memcpy(payload, e->buffer, v->unit);
			v->changed = true;
		}
		memcpy(e->buffer, v->image->data + (e->buffer - v->device),
		       v->unit);
	}
}

/* ---- the whole ---- */

struct view *view_load(struct image *image)
{
	const struct geometry *g = &image->g;
	struct view *v = reserve(1, sizeof(*v));
	u32 segno;

	v->image = image;
	v->segments = g->blocks;
	v->segment_bytes = g->pages_per_block * g->page_bytes;
	v->device_bytes = v->segments * v->segment_bytes;
	v->unit = max_t(u32, g->page_bytes, LOGFS_MIN_UNIT_BYTES);
	v->device = reserve(1, v->device_bytes);
	memcpy(v->device, image->data, v->device_bytes);
	v->entry = reserve(MAX_ENTRIES, sizeof(*v->entry));
	journal_load(v);
	lay_buffers_over(v);
	for (segno = 0; segno < v->segments; segno++)
		take_objects(v, segno);
	mark_newest(v);
	return v;
}

bool view_store(struct view *v)
{
	take_buffers_off(v);
	if (v->changed && !journal_store(v))
		return false;
	memcpy(v->image->data, v->device, v->device_bytes);
	return true;
}

void view_free(struct view *v)
{
	free(v->device);
	free(v->entry);
	free(v->object);
	free(v);
}
