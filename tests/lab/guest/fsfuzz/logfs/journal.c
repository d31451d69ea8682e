// SPDX-License-Identifier: GPL-2.0-only
/*
 * journal.c - the last commit of a LogFS: taken apart, and put together again; see view.h.
 */
#include <stdlib.h>
#include <zlib.h>

#include "view.h"

#define HEADER		((u32)sizeof(struct logfs_journal_header_media))
#define CRC_FROM	4

static u32 aligned(u32 bytes)
{
	return (bytes + LOGFS_JOURNAL_ALIGN - 1) & ~(LOGFS_JOURNAL_ALIGN - 1);
}

/* Payload bytes of the entry at @at of a segment, or 0 if there is none. */
static u32 entry_at(const struct view *v, const u8 *segment, u64 at)
{
	const u8 *e = segment + at;
	u32 stored;

	if (at % LOGFS_JOURNAL_ALIGN || at < LOGFS_JOURNAL_FIRST ||
	    at + HEADER > v->segment_bytes)
		return 0;
	stored = (u32)be_get(e + 4, 2);
	if (!e[9] || e[9] >= 16 || !stored || stored > MAX_PAYLOAD ||
	    stored > v->segment_bytes - at - HEADER ||
	    be_get(e, 4) != logfs_crc_of(e + CRC_FROM,
					 HEADER - CRC_FROM + stored))
		return 0;
	return stored;
}

u32 journal_last_commit(const struct view *v, u32 segno)
{
	const u8 *segment = v->device + (size_t)segno * v->segment_bytes;
	u32 at = LOGFS_JOURNAL_FIRST, last = 0, stored;

	while (at < v->segment_bytes) {
		stored = entry_at(v, segment, at);
		if (!stored) {
			at += LOGFS_JOURNAL_ALIGN;
			continue;
		}
		if (segment[at + 9] == LOGFS_JOURNAL_COMMIT)
			last = at;
		at += aligned(HEADER + stored);
	}
	return last;
}

/* Unpacks an entry; false if it is not whole. */
static bool unpack(const struct view *v, const u8 *segment, u64 at,
		   struct entry *e)
{
	u32 stored = entry_at(v, segment, at);
	const u8 *header = segment + at;
	uLongf bytes = be_get(header + 6, 2);

	if (!stored || bytes > MAX_PAYLOAD || (!header[10] && bytes != stored))
		return false;
	memset(e, 0, sizeof(*e) - MAX_PAYLOAD);
	e->type = header[9];
	e->packed = header[10];
	e->bytes = (u32)bytes;
	if (e->packed)
		return uncompress(e->payload, &bytes, header + HEADER,
				  stored) == Z_OK && bytes == e->bytes;
	memcpy(e->payload, header + HEADER, bytes);
	return true;
}

static void load_commit(struct view *v, u32 segno, u32 at)
{
	const u64 base = (u64)segno * v->segment_bytes;
	struct entry *commit = calloc(1, sizeof(*commit));
	u32 n, i;

	if (!commit)
		exit(3);
	if (unpack(v, v->device + base, at, commit)) {
		n = commit->bytes / 8;
		for (i = 0; i < n && v->entries < MAX_ENTRIES; i++)
			v->entries += unpack(v, v->device + base,
					     be_get(commit->payload + 8 * i, 8) -
					     base, &v->entry[v->entries]);
	}
	free(commit);
}

void journal_load(struct view *v)
{
	u64 newest = 0, gec;
	u32 segno, at = 0;

	v->journal = NO_SEGMENT;
	for (segno = 0; segno < v->segments; segno++) {
		const u8 *header = segment_header(v, segno);
		u32 commit;

		if (!header || header[6] != LOGFS_SEGMENT_JOURNAL)
			continue;
		gec = be_get(header + 16, 8);
		commit = gec > newest ? journal_last_commit(v, segno) : 0;
		if (!commit)
			continue;
		newest = gec;
		v->journal = segno;
		at = commit;
	}
	if (v->journal != NO_SEGMENT)
		load_commit(v, v->journal, at);
}

/* ---- writing ---- */

static void tell_lie(u8 *header, const struct entry *e)
{
	switch (e->lie) {
	case LIE_NONE:
		break;
	case LIE_STORED:
		be_put(header + 4, 2, e->lied);
		break;
	case LIE_UNPACKED:
		be_put(header + 6, 2, e->lied);
		break;
	case LIE_TYPE:
		be_put(header + 8, 2, e->lied);
		break;
	case LIE_COMPRESSION:
		header[10] = (u8)e->lied;
		break;
	}
}

/* Returns the place behind the entry, or 0 if there is no room for it. */
static u32 put_entry(const struct view *v, u8 *segment, u32 at,
		     const struct entry *e)
{
	u32 room = v->segment_bytes - at, stored = e->bytes;
	u8 *header = segment + at, *payload = header + HEADER;
	uLongf packed = e->bytes;

	if (room < HEADER || room - HEADER < e->bytes)
		return 0;
	memset(header, 0, aligned(HEADER + e->bytes) < room ?
	       aligned(HEADER + e->bytes) : room);
	be_put(header + 6, 2, e->bytes);
	be_put(header + 8, 2, e->type);
	if (e->packed && compress2(payload, &packed, e->payload, e->bytes,
				   3) == Z_OK && packed < e->bytes) {
		header[10] = LOGFS_COMPRESSION_ZLIB;
		stored = (u32)packed;
		memset(payload + packed, 0, e->bytes - packed);
	} else {
		memcpy(payload, e->payload, e->bytes);
	}
	be_put(header + 4, 2, stored);
	tell_lie(header, e);
	packed = be_get(header + 4, 2);
	if (packed > room - HEADER)
		packed = room - HEADER;
	be_put(header, 4, logfs_crc_of(header + CRC_FROM,
				       HEADER - CRC_FROM + (u32)packed));
	return at + aligned(HEADER + stored);
}

bool journal_store(struct view *v)
{
	u32 at = LOGFS_JOURNAL_FIRST, i;
	struct entry *commit;
	u8 *segment, *kept;

	if (v->journal == NO_SEGMENT)
		return false;
	segment = v->device + (size_t)v->journal * v->segment_bytes;
	kept = malloc(v->segment_bytes);
	commit = calloc(1, sizeof(*commit));
	if (!kept || !commit)
		exit(3);
	memcpy(kept, segment, v->segment_bytes);
	memset(segment + LOGFS_JOURNAL_FIRST, 0xff,
	       v->segment_bytes - LOGFS_JOURNAL_FIRST);
	commit->type = LOGFS_JOURNAL_COMMIT;
	for (i = 0; at && i < v->entries; i++) {
		struct entry *e = &v->entry[i];
		u64 place = (u64)v->journal * v->segment_bytes + at;

		be_put(commit->payload + commit->bytes, 8,
		       e->misplaced ? e->place : place);
		commit->bytes += 8;
		at = put_entry(v, segment, at, e);
	}
	at = at ? put_entry(v, segment, at, commit) : 0;
	if (at)
		memset(segment + at, 0, -at % v->unit);
	else
		memcpy(segment, kept, v->segment_bytes);
	free(kept);
	free(commit);
	return at;
}
