/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A LogFS taken out of an image: the last commit entry by entry, unpacked, and the objects in
 * all segments, those among them that only the write buffers in the commit have. Storing it
 * repairs all checks.
 *
 * A segment is a block of the flash. Which objects are live is not worked out: of those with
 * the same level, file and index the newest is taken for it.
 */
#ifndef FSFUZZ_LOGFS_VIEW_H
#define FSFUZZ_LOGFS_VIEW_H

#include "../image.h"
#include "logfs/format/media.h"

#define MAX_ENTRIES	96
#define MAX_PAYLOAD	(LOGFS_AREA_HEADER + 16384)
#define LOGFS_AREA_HEADER	((u32)sizeof(struct logfs_area_media))
#define NO_SEGMENT	0xffffffffu
#define NO_OBJECT	0xffffffffu

/* What the header of an entry says wrongly, with a right CRC. */
enum lie {
	LIE_NONE,
	LIE_STORED,
	LIE_UNPACKED,
	LIE_TYPE,
	LIE_COMPRESSION,
};

/**
 * struct entry - an entry of the last commit
 * @bytes: of the payload
 * @packed: it is to be compressed
 * @lie, @lied: a field of the header, and what it says
 * @place: where the commit says it is, if @misplaced
 * @buffer: of an area, where its write buffer belongs on the device; NULL if it has none
 */
struct entry {
	u32 type, bytes;
	bool packed, misplaced;
	enum lie lie;
	u32 lied;
	u64 place;
	u8 *buffer;
	u8 payload[MAX_PAYLOAD];
};

/**
 * struct logfs_found - an object
 * @at: place of its header
 * @level: GC level of its segment
 * @newest: of all with the same level, file and index
 */
struct logfs_found {
	u32 at, stored;
	u8 type, compression, level;
	bool newest;
	u64 ino, bix, age;
};

/**
 * struct view - what an image holds
 * @device: data of all pages, with the write buffers of the commit laid over
 * @journal: segment of the last commit, or NO_SEGMENT
 * @unit: bytes of a write unit
 * @changed: entries are to be written when it is stored
 */
struct view {
	struct image *image;
	u32 segment_bytes, segments, device_bytes, unit;
	u8 *device;
	u32 journal;
	bool changed;
	u32 entries, objects, room;
	struct entry *entry;
	struct logfs_found *object;
};

u64 be_get(const u8 *from, u32 bytes);
void be_put(u8 *to, u32 bytes, u64 value);
u32 logfs_crc_of(const u8 *bytes, u32 n);

/* Header of a segment; NULL if its CRC is wrong. */
const u8 *segment_header(const struct view *v, u32 segno);
void segment_seal(u8 *header);
void super_seal(u8 *super);
/* Both checks of the object at a place. */
void object_seal(struct view *v, u32 at);

/* Ends the program if there is no memory. */
struct view *view_load(struct image *image);
/* Writes everything back. False: the commit does not fit; then it is as it was. */
bool view_store(struct view *v);
void view_free(struct view *v);

/* journal.c */
/* Where the last commit of a segment is, or 0. */
u32 journal_last_commit(const struct view *v, u32 segno);
void journal_load(struct view *v);
bool journal_store(struct view *v);

/* words.c: blocks of words, wherever their words are */

/* Place of the newest object, or NO_OBJECT. */
u32 find_object(const struct view *v, u32 level, u64 ino, u64 bix);
/* A word of a block: what the last alias of it says, else the newest object, else 0. */
u64 word_get(const struct view *v, u64 ino, u32 level, u64 bix, u32 child);
void word_put(struct view *v, u64 ino, u32 level, u64 bix, u32 child,
	      u64 value);
/* Another alias. False: there is no room for it. */
bool alias_add(struct view *v, u64 ino, u32 level, u64 bix, u32 child,
	       u64 value);

#endif
