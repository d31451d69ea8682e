/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Wear leveling: when a segment is cleaned since it lags behind, and when the journal goes to
 * other segments. Pure. Erase counts, and the global one, are numbers of erasures.
 */
#ifndef LOGFS_POLICY_WEAR_H
#define LOGFS_POLICY_WEAR_H

#include "../format/codec.h"

/* Erase counts that may be between one segment and another. */
#define LOGFS_WEAR_LIMIT	397
/* The journal bears twice as much: to move it takes a commit and both superblocks. */
#define LOGFS_JOURNAL_LIMIT	(2 * LOGFS_WEAR_LIMIT)
/* Erasures, of any segment, between one look and the next. */
#define LOGFS_WEAR_PERIOD	100

/**
 * logfs_wear_is_due() - whether it is time to look for a segment that lags behind
 * @gec: global erase count
 * @wear_gec: as it was at the last look
 */
static inline bool logfs_wear_is_due(u64 gec, u64 wear_gec)
{
	return gec >= wear_gec + LOGFS_WEAR_PERIOD;
}

/**
 * logfs_lags_behind() - whether a segment with data that nobody changes is to be cleaned
 * @ec: its erase count, the least of those
 * @free_ec: the least of the free ones, where its contents would go
 */
static inline bool logfs_lags_behind(u32 ec, u32 free_ec)
{
	return ec + LOGFS_WEAR_LIMIT < free_ec;
}

/**
 * logfs_lowest_ec() - the erase count of the journal's least worn segment
 * @segno: of each slot; 0: it has none
 * @ec: erase counts
 *
 * Return: U32_MAX if no slot has a segment.
 */
static inline u32 logfs_lowest_ec(const u32 *segno, const u32 *ec)
{
	u32 lowest = U32_MAX, slot;

	for (slot = 0; slot < LOGFS_JOURNAL_SEGMENTS; slot++)
		if (segno[slot])
			lowest = min_t(u32, lowest, ec[slot]);
	return lowest;
}

/**
 * logfs_has_failed() - whether a segment of the journal can no more be written
 * @failed: of each slot
 */
static inline bool logfs_has_failed(const bool *failed)
{
	u32 slot;

	for (slot = 0; slot < LOGFS_JOURNAL_SEGMENTS; slot++)
		if (failed[slot])
			return true;
	return false;
}

/**
 * logfs_journal_is_worn() - whether the journal is worn more than it may be
 * @lowest_ec: of its least worn segment
 * @others_ec: of a free segment, and of those with the superblocks
 */
static inline bool logfs_journal_is_worn(u32 lowest_ec, u32 others_ec)
{
	return lowest_ec > others_ec + LOGFS_JOURNAL_LIMIT;
}

#endif
