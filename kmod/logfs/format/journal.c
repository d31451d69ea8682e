// SPDX-License-Identifier: GPL-2.0-only
/*
 * The journal: entries in a segment, one behind the other. Each commit writes all that a
 * mount needs and then an entry that says where it all is; the newest such entry that is
 * whole counts. What was written behind it belongs to a commit that power did not last
 * for.
 *
 * Nothing says where entries are. One is looked for at each place where it can begin; what
 * a whole entry holds is passed over, for an area holds bytes of files, and these could
 * look like a commit. A torn entry is not passed over: then bytes of files can be read as
 * entries. Their places must still be in this segment (logfs_commit_get), and what is there
 * be whole.
 */

#include "codec.h"

#define HEADER_BYTES	((u32)sizeof(struct logfs_journal_header_media))
#define CRC_FROM	offsetof(struct logfs_journal_header_media, stored_bytes)

u32 logfs_journal_entry_bytes(u32 stored_bytes)
{
	return (HEADER_BYTES + stored_bytes + LOGFS_JOURNAL_ALIGN - 1) &
	       ~(LOGFS_JOURNAL_ALIGN - 1U);
}

static u32 entry_crc(const struct logfs_journal_header_media *m,
		     const void *payload, u32 bytes)
{
	u32 crc = logfs_crc((const u8 *)m + CRC_FROM, HEADER_BYTES - CRC_FROM);

	return logfs_crc_more(crc, payload, bytes);
}

void logfs_journal_encode(const struct logfs_journal_entry *e,
			  const void *payload,
			  struct logfs_journal_header_media *m)
{
	memset(m, 0, sizeof(*m));
	m->stored_bytes = cpu_to_be16(e->stored_bytes);
	m->unpacked_bytes = cpu_to_be16(e->unpacked_bytes);
	m->type = cpu_to_be16(e->type);
	m->compression = e->compression;
	m->crc = cpu_to_be32(entry_crc(m, payload, e->stored_bytes));
}

static bool is_type(u32 type)
{
	return (type >= LOGFS_JOURNAL_COMMIT &&
		type <= LOGFS_JOURNAL_ERASE_COUNTS) ||
	       type == LOGFS_JOURNAL_ALIASES || type == LOGFS_JOURNAL_AREA;
}

static bool is_consistent(const struct logfs_journal_entry *e)
{
	if (!is_type(e->type) || !e->stored_bytes)
		return false;
	if (e->compression == LOGFS_COMPRESSION_NONE)
		return e->stored_bytes == e->unpacked_bytes;
	return e->compression == LOGFS_COMPRESSION_ZLIB &&
	       e->stored_bytes < e->unpacked_bytes;
}

/* The CRC comes last: few bytes that are no entry need it to be seen. */
int logfs_journal_decode(const u8 *bytes, u32 room,
			 struct logfs_journal_entry *e)
{
	const struct logfs_journal_header_media *m = (const void *)bytes;

	if (room < HEADER_BYTES)
		return -EUCLEAN;
	e->type = be16_to_cpu(m->type);
	e->compression = m->compression;
	e->stored_bytes = be16_to_cpu(m->stored_bytes);
	e->unpacked_bytes = be16_to_cpu(m->unpacked_bytes);
	if (!is_consistent(e) || e->stored_bytes > room - HEADER_BYTES ||
	    be32_to_cpu(m->crc) !=
	    entry_crc(m, bytes + HEADER_BYTES, e->stored_bytes))
		return -EUCLEAN;
	return 0;
}

int logfs_journal_next(const u8 *segment, u32 segment_bytes, u32 *at,
		       struct logfs_journal_entry *e)
{
	for (; *at < segment_bytes; *at += LOGFS_JOURNAL_ALIGN)
		if (!logfs_journal_decode(segment + *at, segment_bytes - *at,
					  e))
			return 0;
	return -ENODATA;
}

int logfs_journal_last_commit(const u8 *segment, u32 segment_bytes, u32 *at,
			      struct logfs_journal_entry *e)
{
	struct logfs_journal_entry next;
	u32 next_at = LOGFS_JOURNAL_FIRST;
	int status = -ENODATA;

	while (!logfs_journal_next(segment, segment_bytes, &next_at, &next)) {
		if (next.type == LOGFS_JOURNAL_COMMIT) {
			*at = next_at;
			*e = next;
			status = 0;
		}
		next_at += logfs_journal_entry_bytes(next.stored_bytes);
	}
	return status;
}
