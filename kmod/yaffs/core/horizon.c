// SPDX-License-Identifier: GPL-2.0-only
/*
 * How far back a mount after a power cut has to look at data pages, in the segregated
 * layout: to the oldest one that no index on flash has. Parts of indices that have such
 * pages wait in a line (map.c). When more than a share of the partition has been begun since
 * the first one's, each data page that is written has one of them written; what is due at
 * twice that is done at once. So the work comes in small pieces, and the bound holds.
 *
 * A short index is written with the header that it lies in, which has been written anyway
 * if the file was closed since.
 */

#include "gc.h"
#include "map_io.h"
#include "pages.h"
#include "request.h"

/* Blocks that may have been begun since the horizon, as a share of all. */
#define SOFT_SHARE	4
#define SOFT_BLOCKS	4
#define HARD_SHARE	2
#define HARD_BLOCKS	8

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

/*
 * Where somebody must not wait long: one at most, and if the collector has left time for it;
 * when it cannot be put off any more, in any case.
 */
static void keep_bounded(struct yaffs_device *dev, u32 soft, u32 hard)
{
	u32 since = blocks_since(dev);
	struct yaffs_piece *piece = first_waiting(dev);

	if (piece && since > soft &&
	    (since > hard || yaffs_allowance_ns(dev, true, false)))
		write_piece(piece);
}

void yaffs_horizon_keep(struct yaffs_device *dev)
{
	u32 soft = max_t(u32, dev->n_blocks / SOFT_SHARE, SOFT_BLOCKS);
	u32 hard = max_t(u32, dev->n_blocks / HARD_SHARE, HARD_BLOCKS);
	struct yaffs_piece *piece;
	u32 since;

	if (!yaffs_is_segregated(dev))
		return;
	if (dev->bound.ns) {
		keep_bounded(dev, soft, hard);
		return;
	}
	for (; (since = blocks_since(dev)) > soft; dev->unseen_pages--) {
		piece = first_waiting(dev);
		if (!piece || (!dev->unseen_pages && since <= hard))
			return;
		if (!dev->unseen_pages)
			dev->unseen_pages++;
		if (write_piece(piece))
			return;
	}
	dev->unseen_pages = 0;
}

int yaffs_horizon_flush(struct yaffs_device *dev)
{
	struct yaffs_piece *piece;
	int err = 0;

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
