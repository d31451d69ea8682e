// SPDX-License-Identifier: GPL-2.0-only
/*
 * How far back a mount after a power cut has to look at data pages, in the segregated
 * layout: to the oldest one that no index on flash has. Parts of indices that have such
 * pages wait in a line (map.c). When more than a share of the partition has been begun since
 * the first one's, each data page that is written has one of them written; what is due at
 * twice that is done at once. So the work comes in small pieces.
 *
 * With a bound for calls what is due at once, too, waits until calls have time. So it begins
 * at half of that, and if it falls behind, because the collector moves pages of many small
 * files, the collector gets half of the time that it would have. It counts as the collector's
 * time: the user did not ask for it.
 *
 * A short index is written with the header that it lies in, which has been written anyway
 * if the file was closed since.
 */

#include <linux/ktime.h>

#include "gc.h"
#include "map_io.h"
#include "pages.h"
#include "request.h"

/* Blocks that may have been begun since the horizon, as a share of all, and at least. */
#define SOFT_SHARE	4
#define SOFT_BLOCKS	4
#define HARD_SHARE	2
#define HARD_BLOCKS	8
#define EARLY_SHARE	8
#define EARLY_BLOCKS	2

static u32 share(const struct yaffs_device *dev, u32 part, u32 least)
{
	return max(dev->n_blocks / part, least);
}

static u32 blocks_since(const struct yaffs_device *dev)
{
	u32 seq = yaffs_position_seq(yaffs_map_horizon(dev, NULL));

	return dev->seq > seq ? dev->seq - seq : 0;
}

static int write_piece(struct yaffs_piece *piece)
{
	struct yaffs_object *obj = piece->obj;

	/* Attributes that are not loaded yet make it no worse guess. */
	if (!piece->number && !yaffs_object_load(obj) && yaffs_map_fits(obj, 0)) {
		int err = yaffs_header_write(obj, NULL);

		/* With its attributes it may not have fitted. */
		if (err || list_empty(&piece->waiting))
			return err;
	}
	yaffs_gc_before_write(obj->dev);
	/* The collector may have come by it. */
	if (list_empty(&piece->waiting))
		return 0;
	return yaffs_map_write_piece(piece, YAFFS_WRITE_KEPT);
}

static struct yaffs_piece *first_waiting(struct yaffs_device *dev)
{
	return list_first_entry_or_null(&dev->waiting_pieces,
					struct yaffs_piece, waiting);
}

static bool is_far(const struct yaffs_device *dev)
{
	return blocks_since(dev) > share(dev, SOFT_SHARE, SOFT_BLOCKS);
}

static bool is_too_far(const struct yaffs_device *dev)
{
	return blocks_since(dev) > share(dev, HARD_SHARE, HARD_BLOCKS);
}

static bool is_due(const struct yaffs_device *dev)
{
	return (is_far(dev) && dev->unseen_pages) || is_too_far(dev);
}

/* It begins earlier, and goes on for as long as the call has time, if there is one. */
static bool is_due_bounded(const struct yaffs_device *dev)
{
	bool early = blocks_since(dev) > share(dev, EARLY_SHARE, EARLY_BLOCKS);

	if (dev->unseen_pages && is_too_far(dev))
		return true;
	return ((dev->unseen_pages && early) || (dev->request && is_far(dev))) &&
	       yaffs_allowance_ns(dev, true, false);
}

static void write_due(struct yaffs_device *dev,
		      bool (*due)(const struct yaffs_device *dev))
{
	struct yaffs_piece *piece;

	while (due(dev) && (piece = first_waiting(dev))) {
		if (dev->unseen_pages)
			dev->unseen_pages--;
		if (write_piece(piece))
			return;
	}
	dev->unseen_pages = 0;
}

static void keep_bounded(struct yaffs_device *dev)
{
	u64 before_ns = dev->gc.took_ns, began_ns = ktime_get_ns();

	write_due(dev, is_due_bounded);
	dev->bound.behind = is_far(dev);
	yaffs_request_kept(dev, ktime_get_ns() - began_ns -
			   (dev->gc.took_ns - before_ns));
}

void yaffs_horizon_keep(struct yaffs_device *dev)
{
	yaffs_assert_locked(dev);
	if (!yaffs_is_segregated(dev))
		return;
	if (dev->bound.ns)
		keep_bounded(dev);
	else
		write_due(dev, is_due);
}

int yaffs_horizon_flush(struct yaffs_device *dev)
{
	struct yaffs_piece *piece;
	int err = 0;

	yaffs_assert_locked(dev);
	while (!err && (piece = first_waiting(dev)))
		err = write_piece(piece);
	return err;
}

/* The pieces that have the chunks from @from to @to. */
static int write_pieces(struct yaffs_object *obj, u32 from, u32 to)
{
	u32 number = yaffs_piece_number(obj->dev, from);
	u32 last = yaffs_piece_number(obj->dev, to);
	struct yaffs_piece *piece;
	int err;

	yaffs_for_each_piece(piece, obj, number) {
		if (piece->number > last)
			break;
		err = yaffs_map_load(obj, yaffs_piece_first(piece));
		if (!err)
			err = yaffs_map_write_piece(piece, YAFFS_WRITE_KEPT);
		if (err)
			return err;
	}
	return 0;
}

int yaffs_horizon_make_cut(struct yaffs_object *obj, u32 chunks)
{
	struct yaffs_map *map = obj->file.map;
	int err;

	if (!map)
		return 0;
	while (!yaffs_map_can_cut(obj, chunks)) {
		/* The two oldest become one, so what lies between them is written anew. */
		err = write_pieces(obj, map->cuts[0].chunks + 1,
				   map->cuts[1].chunks);
		if (err)
			return err;
		map->cuts[1].chunks = map->cuts[0].chunks;
		map->n_cuts--;
		memmove(map->cuts, map->cuts + 1,
			map->n_cuts * sizeof(*map->cuts));
	}
	return 0;
}
