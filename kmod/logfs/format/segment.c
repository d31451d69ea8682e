// SPDX-License-Identifier: GPL-2.0-only
/*
 * Segments: the header that each begins with, and the word that the segment file has for
 * each. The header says how often the segment was erased, since what is in the segment
 * file is not yet known when the journal is looked for.
 *
 * Limits: whether the number of a segment, its level or its valid bytes are possible
 * depends on the device, so the caller judges that.
 */

#include "codec.h"

#define CRC_FROM	offsetof(struct logfs_segment_header_media, pad)

static u32 header_crc(const struct logfs_segment_header_media *m)
{
	return logfs_crc((const u8 *)m + CRC_FROM, sizeof(*m) - CRC_FROM);
}

void logfs_segment_encode(const struct logfs_segment *s,
			  struct logfs_segment_header_media *m)
{
	m->pad = 0;
	m->type = s->type;
	m->level = s->level;
	m->segno = cpu_to_be32(s->segno);
	m->ec = cpu_to_be32(s->ec);
	m->gec = cpu_to_be64(s->gec);
	m->crc = cpu_to_be32(header_crc(m));
}

int logfs_segment_decode(const struct logfs_segment_header_media *m,
			 struct logfs_segment *s)
{
	if (be32_to_cpu(m->crc) != header_crc(m))
		return logfs_is_erased(m, sizeof(*m)) ? -ENODATA : -EUCLEAN;
	s->type = m->type;
	s->level = m->level;
	s->segno = be32_to_cpu(m->segno);
	s->ec = be32_to_cpu(m->ec);
	s->gec = be64_to_cpu(m->gec);
	if (s->type < LOGFS_SEGMENT_SUPER || s->type > LOGFS_SEGMENT_OBJECTS ||
	    s->level >= LOGFS_GC_LEVELS)
		return -EUCLEAN;
	return 0;
}

u64 logfs_segment_entry_encode(const struct logfs_segment_entry *e)
{
	u32 valid = e->valid_bytes;

	if (e->state == LOGFS_SEGMENT_BAD)
		return LOGFS_ENTRY_BAD;
	if (e->state == LOGFS_SEGMENT_RESERVED)
		valid = LOGFS_ENTRY_RESERVED;
	return (u64)e->ec << LOGFS_ENTRY_EC_SHIFT |
	       (u64)e->level << LOGFS_ENTRY_LEVEL_SHIFT | valid;
}

int logfs_segment_entry_decode(u64 word, struct logfs_segment_entry *e)
{
	memset(e, 0, sizeof(*e));
	if (word == LOGFS_ENTRY_BAD) {
		e->state = LOGFS_SEGMENT_BAD;
		return 0;
	}
	e->ec = (u32)(word >> LOGFS_ENTRY_EC_SHIFT);
	e->level = word >> LOGFS_ENTRY_LEVEL_SHIFT & LOGFS_ENTRY_LEVEL_MASK;
	if ((u32)word == LOGFS_ENTRY_RESERVED)
		e->state = LOGFS_SEGMENT_RESERVED;
	else
		e->valid_bytes = (u32)word;
	return e->level < LOGFS_GC_LEVELS ? 0 : -EUCLEAN;
}
