/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When garbage is collected, and whose: how many segments have to be free, which one is
 * cleaned, when a commit comes first, and when to give up. core/gc.c has the theory. Pure.
 */
#ifndef LOGFS_POLICY_COLLECT_H
#define LOGFS_POLICY_COLLECT_H

#include "candidate.h"

/* Free segments beyond those that cleaning needs: for the operation itself. */
#define LOGFS_MARGIN_SEGMENTS	1

/**
 * logfs_need_free() - how many segments have to be free before an operation
 * @super: of the partition
 * @more: segments that the operation takes beside what it writes
 *
 * Return: a number of segments; with fewer garbage is collected.
 */
static inline u32 logfs_need_free(const struct logfs_super *super, u32 more)
{
	return logfs_total_levels(super) + LOGFS_MARGIN_SEGMENTS + more;
}

/**
 * logfs_commit_first() - whether a commit is the next step, rather than cleaning
 * @super: of the partition
 * @n_free: segments that are free
 * @n_soon: those that a commit would make free
 * @need: as many have to be free
 *
 * Return: true if the commit is all that is missing, or if not every segment can be cleaned
 * for want of free ones.
 */
static inline bool logfs_commit_first(const struct logfs_super *super,
				      u32 n_free, u32 n_soon, u32 need)
{
	return n_soon && (n_free + n_soon >= need ||
			  n_free < logfs_total_levels(super));
}

/**
 * logfs_choose() - the segment that is cleaned next
 * @super: of the partition
 * @n_free: segments that are free: one that is as many levels from the root can be cleaned
 * @best_of: the candidate with the most garbage at that many levels from the root; false:
 *	there is none
 * @arg: for @best_of
 * @victim: what was chosen
 *
 * What is far from the root comes first, for what its cleaning changes above is garbage
 * again. One that is nearer must be less valid by an object at least.
 *
 * Return: false if there is none that could be cleaned.
 */
static inline bool
logfs_choose(const struct logfs_super *super, u32 n_free,
	     bool (*best_of)(void *arg, u32 distance, struct logfs_candidate *c),
	     void *arg, struct logfs_candidate *victim)
{
	const u32 levels = logfs_total_levels(super);
	u32 distance = min_t(u32, n_free, levels - 1) + 1;
	struct logfs_candidate c;
	bool found = false;

	while (distance--) {
		if (!best_of(arg, distance, &c))
			continue;
		if (found && c.valid_bytes + LOGFS_MAX_OBJECT_BYTES >
		    victim->valid_bytes)
			continue;
		*victim = c;
		found = true;
	}
	return found;
}

/**
 * logfs_most_idle() - after how many steps in a row without a victim there is none
 * @n_segments: of the partition, each of which was looked at by then
 */
static inline u32 logfs_most_idle(u32 n_segments)
{
	return n_segments / LOGFS_SCANNED + 2;
}

/**
 * logfs_most_steps() - after how many steps collecting is without hope
 * @n_segments: of the partition
 */
static inline u32 logfs_most_steps(u32 n_segments)
{
	return 4 * n_segments + 64;
}

#endif
