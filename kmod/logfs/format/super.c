// SPDX-License-Identifier: GPL-2.0-only
/*
 * The superblock: sizes, and where the journal is. It is written by mkfs, and again only
 * if the journal moves; what changes otherwise is in the journal. There are two copies;
 * the last one lies at the end of its segment, where no header is, so each has a header
 * of its own.
 *
 * A superblock that is accepted has sizes that calculations need not doubt: a segment has
 * a power of two of bytes and place for some objects, and what is said of segments is
 * within the device.
 */

#include "codec.h"

#define CRC_FROM	offsetof(struct logfs_super_media, ifile_levels)

static u32 super_crc(const struct logfs_super_media *m)
{
	return logfs_crc((const u8 *)m + CRC_FROM, sizeof(*m) - CRC_FROM);
}

void logfs_super_encode(const struct logfs_super *s,
			struct logfs_super_media *m)
{
	u32 i;

	memset(m, 0, sizeof(*m));
	logfs_segment_encode(&s->segment, &m->segment);
	m->magic = cpu_to_be64(LOGFS_MAGIC);
	m->ifile_levels = s->ifile_levels;
	m->iblock_levels = s->iblock_levels;
	m->data_levels = 1;
	m->segment_shift = s->segment_shift;
	m->block_shift = LOGFS_BLOCK_SHIFT;
	m->write_shift = s->write_shift;
	m->fs_bytes = cpu_to_be64((u64)s->n_segments << s->segment_shift);
	m->segment_bytes = cpu_to_be32(s->segment_bytes);
	m->bad_reserve = cpu_to_be32(s->bad_reserve);
	m->ro_compat = cpu_to_be64(s->ro_compat);
	m->compat = cpu_to_be64(s->compat);
	m->flags = cpu_to_be64(s->flags);
	m->root_reserve = cpu_to_be64(s->root_reserve);
	m->speed_reserve = cpu_to_be64(s->speed_reserve);
	for (i = 0; i < LOGFS_JOURNAL_SEGMENTS; i++)
		m->journal[i] = cpu_to_be32(s->journal[i]);
	for (i = 0; i < LOGFS_SUPERBLOCKS; i++)
		m->super_at[i] = cpu_to_be64(s->super_at[i]);
	m->crc = cpu_to_be32(super_crc(m));
}

/* Sizes and levels; then those of the device. */
static int decode_sizes(const struct logfs_super_media *m,
			struct logfs_super *s)
{
	const u64 fs_bytes = be64_to_cpu(m->fs_bytes);

	if (m->block_shift != LOGFS_BLOCK_SHIFT ||
	    m->write_shift > LOGFS_MAX_WRITE_SHIFT)
		return -EOPNOTSUPP;
	if (m->segment_shift < LOGFS_MIN_SEGMENT_SHIFT ||
	    m->segment_shift > LOGFS_MAX_SEGMENT_SHIFT ||
	    m->segment_shift <= m->write_shift ||
	    (m->segment_bytes &&
	     be32_to_cpu(m->segment_bytes) != 1U << m->segment_shift))
		return -EUCLEAN;
	if (!m->ifile_levels || m->ifile_levels > LOGFS_FILE_LEVELS ||
	    !m->iblock_levels || m->iblock_levels > LOGFS_MAX_LEVEL ||
	    m->data_levels != 1)
		return -EUCLEAN;
	if (fs_bytes >> m->segment_shift > U32_MAX ||
	    fs_bytes & ((1U << m->segment_shift) - 1))
		return -EUCLEAN;
	s->ifile_levels = m->ifile_levels;
	s->iblock_levels = m->iblock_levels;
	s->segment_shift = m->segment_shift;
	s->segment_bytes = be32_to_cpu(m->segment_bytes);
	s->write_shift = m->write_shift;
	s->n_segments = (u32)(fs_bytes >> m->segment_shift);
	s->bad_reserve = be32_to_cpu(m->bad_reserve);
	s->root_reserve = be64_to_cpu(m->root_reserve);
	s->speed_reserve = be64_to_cpu(m->speed_reserve);
	if (s->bad_reserve > s->n_segments || s->root_reserve > fs_bytes ||
	    s->speed_reserve > fs_bytes)
		return -EUCLEAN;
	return 0;
}

bool logfs_has_super(const struct logfs_super *s, u32 segno)
{
	u32 i;

	for (i = 0; i < LOGFS_SUPERBLOCKS; i++)
		if (s->super_at[i] >> s->segment_shift == segno)
			return true;
	return false;
}

/* True if slot @n has a segment that a slot before or a superblock has. */
static bool is_taken(const struct logfs_super *s, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (s->journal[i] == s->journal[n])
			return true;
	return logfs_has_super(s, s->journal[n]);
}

static int decode_places(const struct logfs_super_media *m,
			 struct logfs_super *s)
{
	const u64 fs_bytes = (u64)s->n_segments << s->segment_shift;
	u32 i;

	for (i = 0; i < LOGFS_SUPERBLOCKS; i++) {
		s->super_at[i] = be64_to_cpu(m->super_at[i]);
		if (s->super_at[i] >= fs_bytes ||
		    s->super_at[i] % LOGFS_BLOCK_BYTES)
			return -EUCLEAN;
	}
	s->n_journal = 0;
	for (i = 0; i < LOGFS_JOURNAL_SEGMENTS; i++) {
		s->journal[i] = be32_to_cpu(m->journal[i]);
		if (!s->journal[i])
			continue;
		if (s->journal[i] >= s->n_segments || is_taken(s, i))
			return -EUCLEAN;
		s->n_journal++;
	}
	return s->n_journal ? 0 : -EUCLEAN;
}

int logfs_super_decode(const struct logfs_super_media *m, struct logfs_super *s)
{
	int status;

	if (be64_to_cpu(m->magic) == LOGFS_MAGIC_OLD)
		return -EOPNOTSUPP;
	if (be64_to_cpu(m->magic) != LOGFS_MAGIC)
		return -EINVAL;
	if (logfs_segment_decode(&m->segment, &s->segment) ||
	    s->segment.type != LOGFS_SEGMENT_SUPER ||
	    be32_to_cpu(m->crc) != super_crc(m))
		return -EUCLEAN;
	if (m->incompat)
		return -EOPNOTSUPP;
	s->ro_compat = be64_to_cpu(m->ro_compat);
	s->read_only = s->ro_compat;
	s->compat = be64_to_cpu(m->compat);
	s->flags = be64_to_cpu(m->flags);
	status = decode_sizes(m, s);
	return status ? status : decode_places(m, s);
}
