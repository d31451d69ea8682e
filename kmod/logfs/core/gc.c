// SPDX-License-Identifier: GPL-2.0-only
/*
 * Garbage collection: free segments for the operation that is to come.
 *
 * To clean a segment of data may take a new segment for the data, one for the blocks that
 * point to it, and so on up to the root: as many as there are levels between it and the root.
 * So a segment is only cleaned if as many segments are free; what is next to the root always
 * can be. Of those, one far from the root is preferred, since what its cleaning changes above
 * is garbage again; one nearer must be less valid by an object at least.
 *
 * What is cleaned is free after the next commit only. That is written when it would make
 * enough segments free, or when without it no more can be cleaned.
 */

#include "../policy/collect.h"
#include "area.h"
#include "gc.h"
#include "segments.h"

/* The first of the list, with what is valid of it now. */
static bool best_of(void *arg, u32 distance, struct logfs_candidate *c)
{
	struct logfs_device *dev = arg;
	struct logfs_list *list = &dev->by_distance[distance];
	u32 tries = list->n;
	s64 valid;

	while (list->n && tries--) {
		*c = list->at[0];
		if (logfs_segment_valid(dev, c->segno, &valid))
			return false;
		if (valid == c->valid_bytes && !logfs_area_has(dev, c->segno))
			return true;
		logfs_list_del(list, c->segno);
		if (valid <= 0 || logfs_area_has(dev, c->segno))
			continue;
		c->valid_bytes = valid;
		logfs_list_put(list, c, true);
	}
	return false;
}

static bool choose(struct logfs_device *dev, struct logfs_candidate *best)
{
	const bool found = logfs_choose(&dev->super, dev->free.n, best_of, dev,
					best);

	if (found)
		logfs_list_del(&dev->by_distance[logfs_root_distance(&dev->super,
								     best->level)],
			       best->segno);
	return found;
}

/* One step. @idle: steps that found nothing to do. */
static int step(struct logfs_device *dev, u32 need, u32 *idle)
{
	const u32 scans = logfs_most_idle(dev->super.n_segments);
	struct logfs_candidate c;
	bool found;
	u32 soon;
	int err = logfs_segments_scan(dev);

	if (err || dev->free.n >= need)
		return err;
	err = logfs_segments_soon_free(dev, &soon);
	if (err)
		return err;
	if (logfs_commit_first(&dev->super, dev->free.n, soon, need))
		return logfs_commit(dev);
	found = choose(dev, &c);
	if (!found && soon)
		return logfs_commit(dev);
	if (!found)
		return ++*idle > scans ? -ENOSPC : 0;
	*idle = 0;
	dev->stats.gc_segments++;
	return logfs_clean(dev, c.segno, c.level, 0,
			   dev->segment_bytes, true);
}

int logfs_collect(struct logfs_device *dev, u32 more)
{
	const u32 need = logfs_need_free(&dev->super, more);
	u32 rounds = logfs_most_steps(dev->super.n_segments), idle = 0;
	int err = logfs_evacuate(dev);

	if (!err)
		err = logfs_relieve(dev, true);
	while (!err && dev->free.n < need)
		err = rounds-- ? step(dev, need, &idle) : -ENOSPC;
	return err;
}
