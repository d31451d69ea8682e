// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parts of a file's index, to and from flash: see map.c.
 */

#include "map_io.h"
#include "nand.h"

/* ---- reading ---- */

static int read_header(struct yaffs_object *obj)
{
	const struct yaffs_identity id = { .obj_id = obj->id };
	struct yaffs_device *dev = obj->dev;
	int err;

	if (!obj->hdr_chunk)
		return -EUCLEAN;
	err = yaffs_nand_read_known(dev, obj->hdr_chunk, dev->map_page, &id);
	return err ? err : yaffs_map_take_header(obj, dev->map_page);
}

static int read_index(struct yaffs_piece *piece)
{
	const struct yaffs_identity id = {
		.obj_id = piece->obj->id,
		.chunk_id = piece->number,
		.is_index = true,
	};
	struct yaffs_device *dev = piece->obj->dev;
	int err = yaffs_nand_read_known(dev, piece->chunk, dev->map_page, &id);

	return err ? err : yaffs_map_take_index(piece, dev->map_page);
}

static int load_piece(struct yaffs_piece *piece)
{
	struct yaffs_map *map = piece->obj->file.map;
	int err = 0;

	if (!map->known)
		err = read_header(piece->obj);
	if (err || piece->loaded)
		return err;
	if (piece->chunk)
		return read_index(piece);
	piece->loaded = true;
	return 0;
}

int yaffs_map_load(struct yaffs_object *obj, u32 chunk_id)
{
	struct yaffs_piece *piece;

	if (!obj->file.map)
		return 0;
	piece = yaffs_map_piece(obj, chunk_id);
	return piece && !piece->loaded ? load_piece(piece) : 0;
}

int yaffs_map_load_from(struct yaffs_object *obj, u32 chunk_id)
{
	struct yaffs_piece *piece;
	u32 number;
	int err;

	if (!obj->file.map)
		return 0;
	number = yaffs_piece_number(obj->dev, chunk_id);
	yaffs_for_each_piece(piece, obj, number) {
		err = piece->loaded ? 0 : load_piece(piece);
		if (err)
			return err;
	}
	return 0;
}

int yaffs_map_prepare(struct yaffs_object *obj, u32 chunk_id)
{
	struct yaffs_piece *piece;
	int err;

	if (!obj->file.map)
		return 0;
	/* The first says whether the index is in the header. */
	err = yaffs_map_load(obj, 0);
	if (!err)
		err = yaffs_map_load(obj, chunk_id);
	if (err || yaffs_map_piece(obj, chunk_id))
		return err;
	piece = yaffs_map_make_piece(obj, yaffs_piece_number(obj->dev, chunk_id));
	if (!piece)
		return -ENOMEM;
	piece->loaded = true;
	return 0;
}

/* ---- writing ---- */

void yaffs_map_set_page(struct yaffs_piece *piece, u32 chunk)
{
	if (piece->chunk)
		yaffs_chunk_dead(piece->obj->dev, piece->chunk);
	yaffs_piece_set_chunk(piece, chunk);
}

int yaffs_map_write_piece(struct yaffs_piece *piece, enum yaffs_writer by)
{
	struct yaffs_object *obj = piece->obj;
	struct yaffs_device *dev = obj->dev;
	struct yaffs_tags tags = {
		.obj_id = obj->id,
		.chunk_id = piece->number,
		.is_index = true,
		.n_bytes = dev->chunk_bytes,
	};
	u32 chunk;
	int err;

	yaffs_map_fill_index(piece, dev->map_page);
	err = yaffs_chunk_write(dev, dev->map_page, &tags, by, &chunk);
	if (err)
		return err;
	dev->stats.index_writes++;
	yaffs_map_set_page(piece, chunk);
	piece->in_header = false;
	yaffs_piece_written(piece);
	return 0;
}

int yaffs_map_before_header(struct yaffs_object *obj, u32 xattr_bytes,
			    enum yaffs_writer by)
{
	struct yaffs_map *map = obj->file.map;

	if (obj->type != YAFFS_TYPE_FILE || !map || !map->first.in_header ||
	    yaffs_map_fits(obj, xattr_bytes))
		return 0;
	return yaffs_map_write_piece(&map->first, by);
}

void yaffs_map_header_written(struct yaffs_object *obj, bool has_index)
{
	struct yaffs_piece *first;

	if (obj->type != YAFFS_TYPE_FILE || !obj->file.map)
		return;
	first = &obj->file.map->first;
	first->in_header = false;
	if (!has_index)
		return;
	yaffs_map_set_page(first, 0);
	first->in_header = obj->file.data_chunks;
	yaffs_piece_written(first);
}

/* ---- giving up ---- */

static void empty_piece(struct yaffs_piece *piece)
{
	yaffs_map_set_page(piece, 0);
	yaffs_piece_written(piece);
	piece->lost = false;
}

void yaffs_map_drop(struct yaffs_object *obj, u32 chunks)
{
	u32 number = yaffs_piece_number(obj->dev, chunks) + 1;
	struct yaffs_piece *piece;

	if (!obj->file.map)
		return;
	if (!chunks)
		empty_piece(&obj->file.map->first);
	yaffs_for_each_piece(piece, obj, number) {
		empty_piece(piece);
		yaffs_map_free_piece(piece);
	}
}
