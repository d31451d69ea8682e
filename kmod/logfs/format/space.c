// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much may be written, and the levels that this depends on. Of each segment a part
 * does not count, since an object does not cross its end; and garbage collection must be
 * able to have a segment open on each level and to fill another.
 */

#include "codec.h"

u32 logfs_total_levels(const struct logfs_super *s)
{
	return s->ifile_levels + s->iblock_levels + 1;
}

u32 logfs_write_unit(const struct logfs_super *s)
{
	/* The journal's segment must have room for one of each level. */
	const u32 least = min_t(u32, LOGFS_MIN_UNIT_BYTES,
				1U << s->segment_shift >> LOGFS_UNITS_SHIFT);

	return max_t(u32, 1U << s->write_shift, least);
}

bool logfs_has_level(const struct logfs_super *s, u32 gc_level)
{
	if (gc_level < LOGFS_FILE_LEVELS)
		return gc_level <= s->iblock_levels;
	return gc_level - LOGFS_FILE_LEVELS < s->ifile_levels;
}

/* The root is the highest level of the inode file; below inodes are the files' levels. */
u32 logfs_root_distance(const struct logfs_super *s, u32 gc_level)
{
	if (gc_level < LOGFS_FILE_LEVELS)
		return s->ifile_levels + s->iblock_levels - gc_level;
	return s->ifile_levels - 1 - (gc_level - LOGFS_FILE_LEVELS);
}

u64 logfs_free_bytes(const struct logfs_super *s, u64 used_bytes, u32 n_bad)
{
	const u32 levels = logfs_total_levels(s);
	const u32 apart = LOGFS_SUPERBLOCKS + s->n_journal + 2 * levels;
	const u64 bad_bytes = ((u64)n_bad + s->bad_reserve) << s->segment_shift;
	const u64 reserve = max_t(u64, s->speed_reserve, bad_bytes) +
			    levels * LOGFS_BLOCK_BYTES;
	u64 usable;

	if (s->n_segments <= apart)
		return 0;
	usable = (u64)(s->n_segments - apart) *
		 ((1U << s->segment_shift) - LOGFS_SEGMENT_RESERVE_BYTES);
	if (usable <= reserve || usable - reserve <= used_bytes)
		return 0;
	return usable - reserve - used_bytes;
}
