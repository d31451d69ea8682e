/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which segments may be taken or cleaned, and which of two comes first: the least worn free
 * one, and that with the most garbage. Pure.
 *
 * Like all of policy/ it is inline: the guest's CPU time is the code that runs, and some of
 * this runs before each operation.
 */
#ifndef LOGFS_POLICY_CANDIDATE_H
#define LOGFS_POLICY_CANDIDATE_H

#include "../format/codec.h"

/* Segments that a scan looks at: one block of the segment file. */
#define LOGFS_SCANNED	LOGFS_BLOCK_POINTERS

/**
 * struct logfs_candidate - a segment that may be taken or cleaned
 * @segno: its number
 * @ec: erase count
 * @level: GC level
 * @valid_bytes: when it was seen
 */
struct logfs_candidate {
	u32 segno;
	u32 ec;
	u32 valid_bytes;
	u8 level;
};

/**
 * logfs_scan_first() - the segment where the next look begins
 * @sweeper: where the last one ended, which flash may say wrongly
 * @n_segments: of the partition
 *
 * Return: the first segment of a block of the segment file.
 */
static inline u32 logfs_scan_first(u32 sweeper, u32 n_segments)
{
	return sweeper < n_segments ? sweeper & ~(LOGFS_SCANNED - 1) : 0;
}

/**
 * logfs_scan_end() - the segment behind the last that is looked at
 * @first: where the look begins
 * @n_segments: of the partition
 */
static inline u32 logfs_scan_end(u32 first, u32 n_segments)
{
	return min_t(u32, first + LOGFS_SCANNED, n_segments);
}

/**
 * logfs_is_better() - whether a candidate comes before another in their list
 * @a: the one
 * @b: the other
 * @by_valid: the list is of what may be cleaned; else of what may be erased, or lags behind
 *
 * Return: true if @a has fewer valid bytes, or as many and is less worn; without @by_valid if
 * it is less worn. Of two that are alike none is better.
 */
static inline bool logfs_is_better(const struct logfs_candidate *a,
				   const struct logfs_candidate *b,
				   bool by_valid)
{
	if (by_valid && a->valid_bytes != b->valid_bytes)
		return a->valid_bytes < b->valid_bytes;
	return a->ec < b->ec;
}

/**
 * logfs_has_garbage() - whether cleaning a segment gives room
 * @valid_bytes: of it
 * @segment_bytes: of each
 *
 * Return: false if an object more might not have had room in it: what is not valid may never
 * have been written.
 */
static inline bool logfs_has_garbage(u32 valid_bytes, u32 segment_bytes)
{
	return valid_bytes < segment_bytes - LOGFS_SEGMENT_RESERVE_BYTES;
}

#endif
