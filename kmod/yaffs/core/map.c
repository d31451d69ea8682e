// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parts of a file's index, in the segregated layout. On flash the index is cut into
 * pieces, each an index page or, if there is one piece and it is short, the rest of the
 * header's page. In memory all of them are one tree (index.c); here is what ties the two.
 *
 * A piece that was read once stays in memory. After a mount by checkpoint none is, and each
 * is read when it is first asked for.
 *
 * A data page that was written is on flash, but in no index there. A mount finds it all the
 * same, if it looks; how far back it has to look is the horizon. So pieces that such pages
 * belong to wait in a line, the oldest page first, and have to be written in time (horizon.c).
 */

#include <linux/mm.h>

#include "objects.h"

static u32 entries(const struct yaffs_device *dev)
{
	return yaffs_map_entries(dev->chunk_bytes);
}

u32 yaffs_piece_number(const struct yaffs_device *dev, u32 chunk_id)
{
	return chunk_id / entries(dev);
}

u32 yaffs_piece_first(const struct yaffs_piece *piece)
{
	return piece->number * entries(piece->obj->dev);
}

u32 yaffs_piece_last(const struct yaffs_piece *piece)
{
	return yaffs_piece_first(piece) + entries(piece->obj->dev) - 1;
}

/* ---- the pieces of a file ---- */

static void init_piece(struct yaffs_piece *piece, struct yaffs_object *obj,
		       u32 number)
{
	INIT_LIST_HEAD(&piece->waiting);
	piece->obj = obj;
	piece->number = number;
}

int yaffs_map_new(struct yaffs_object *obj)
{
	struct yaffs_map *map = kzalloc(sizeof(*map), GFP_NOFS);

	if (!map)
		return -ENOMEM;
	init_piece(&map->first, obj, 0);
	xa_init(&map->others);
	map->cuts = kcalloc(1, sizeof(*map->cuts), GFP_NOFS);
	if (!map->cuts) {
		kfree(map);
		return -ENOMEM;
	}
	obj->file.map = map;
	return 0;
}

void yaffs_map_begin(struct yaffs_object *obj)
{
	struct yaffs_map *map = obj->file.map;

	if (!map)
		return;
	map->cuts[0] = (struct yaffs_cut) { .position = yaffs_data_position(obj->dev) };
	map->n_cuts = 1;
	map->known = true;
	map->first.loaded = true;
}

void yaffs_map_free_piece(struct yaffs_piece *piece)
{
	struct yaffs_object *obj = piece->obj;

	INVARIANT(obj->dev->n_pieces && obj->dev->n_unwritten >= !piece->chunk,
		  "a piece goes, of %u, %u of them unwritten", obj->dev->n_pieces,
		  obj->dev->n_unwritten);
	list_del(&piece->waiting);
	obj->dev->n_unwritten -= !piece->chunk;
	xa_erase(&obj->file.map->others, piece->number);
	obj->dev->n_pieces--;
	kfree(piece);
}

void yaffs_map_free(struct yaffs_object *obj)
{
	struct yaffs_map *map = obj->file.map;
	struct yaffs_piece *piece;
	unsigned long number;

	if (!map)
		return;
	xa_for_each(&map->others, number, piece)
		yaffs_map_free_piece(piece);
	xa_destroy(&map->others);
	list_del(&map->first.waiting);
	kfree(map->cuts);
	kfree(map);
	obj->file.map = NULL;
}

struct yaffs_piece *yaffs_map_at(const struct yaffs_object *obj, u32 number)
{
	return number ? xa_load(&obj->file.map->others, number) :
			&obj->file.map->first;
}

struct yaffs_piece *yaffs_map_piece(const struct yaffs_object *obj, u32 chunk_id)
{
	return yaffs_map_at(obj, yaffs_piece_number(obj->dev, chunk_id));
}

struct yaffs_piece *yaffs_map_make_piece(struct yaffs_object *obj, u32 number)
{
	struct yaffs_map *map = obj->file.map;
	struct yaffs_piece *piece = yaffs_map_at(obj, number);

	if (piece)
		return piece;
	piece = kzalloc(sizeof(*piece), GFP_NOFS);
	if (!piece)
		return NULL;
	init_piece(piece, obj, number);
	if (xa_err(xa_store(&map->others, number, piece, GFP_NOFS))) {
		kfree(piece);
		return NULL;
	}
	obj->dev->n_pieces++;
	obj->dev->n_unwritten++;
	return piece;
}

struct yaffs_piece *yaffs_map_next(struct yaffs_object *obj, u32 *number)
{
	struct yaffs_piece *piece = &obj->file.map->first;
	unsigned long at = *number;

	if (at)
		piece = xa_find(&obj->file.map->others, &at, ULONG_MAX,
				XA_PRESENT);
	if (piece)
		*number = piece->number + 1;
	return piece;
}

/* ---- the clock of data pages ---- */

u64 yaffs_map_position(const struct yaffs_device *dev, u32 chunk)
{
	u32 block = yaffs_block_of(dev, chunk);

	return yaffs_position(dev->blocks[block].seq,
			      chunk - block * dev->pages_per_block);
}

u64 yaffs_map_horizon(const struct yaffs_device *dev,
		      const struct yaffs_piece *but)
{
	struct yaffs_piece *piece;

	list_for_each_entry(piece, &dev->waiting_pieces, waiting)
		if (piece != but)
			return piece->position;
	return yaffs_data_position(dev);
}

void yaffs_piece_wait(struct yaffs_piece *piece, u64 position)
{
	if (!list_empty(&piece->waiting))
		return;
	piece->position = position;
	list_add_tail(&piece->waiting, &piece->obj->dev->waiting_pieces);
}

void yaffs_map_note(struct yaffs_object *obj, u32 chunk_id, u32 chunk)
{
	struct yaffs_device *dev = obj->dev;

	if (!obj->file.map)
		return;
	dev->unseen_pages++;
	yaffs_piece_wait(yaffs_map_piece(obj, chunk_id),
			 yaffs_map_position(dev, chunk));
}

/* The first is not counted: most lie in headers. */
void yaffs_piece_set_chunk(struct yaffs_piece *piece, u32 chunk)
{
	if (piece->number)
		piece->obj->dev->n_unwritten += !chunk - !piece->chunk;
	piece->chunk = chunk;
}

void yaffs_map_note_lost(struct yaffs_object *obj, u32 chunk_id)
{
	if (obj->file.map)
		yaffs_map_piece(obj, chunk_id)->lost = true;
}

void yaffs_piece_written(struct yaffs_piece *piece)
{
	list_del_init(&piece->waiting);
}

/* ---- to pages ---- */

u32 yaffs_map_xattr_used(const struct yaffs_device *dev, u8 *page)
{
	return round_up(yaffs_xattr_used(yaffs_xattr_area(dev, page),
					 yaffs_xattr_bytes(dev)),
			sizeof(__le32));
}

/* Entries that the piece has in memory, up to the last one that is not 0. */
static u32 used_entries(const struct yaffs_piece *piece)
{
	const struct yaffs_file *file = &piece->obj->file;
	const struct yaffs_device *dev = piece->obj->dev;
	u32 first = yaffs_piece_first(piece);
	/* What is being cut off may still be in memory. */
	u32 end = min_t(u64, DIV_ROUND_UP_ULL(file->stored_size, dev->chunk_bytes),
			yaffs_piece_last(piece));
	u32 last = yaffs_index_previous(&file->index, end);

	return last < first || !last ? 0 : last - first + 1;
}

static void fill_entries(const struct yaffs_piece *piece, u32 n, u8 *to)
{
	u32 first = yaffs_piece_first(piece), i;
	__le32 *entry = (__le32 *)to;

	for (i = 0; i < n; i++)
		entry[i] = cpu_to_le32(yaffs_index_get(&piece->obj->file.index,
						       first + i));
}

bool yaffs_map_fits(const struct yaffs_object *obj, u32 xattr_bytes)
{
	const struct yaffs_map *map = obj->file.map;
	const struct yaffs_device *dev = obj->dev;

	return map->first.loaded && xa_empty(&map->others) &&
	       used_entries(&map->first) * sizeof(__le32) + xattr_bytes <=
	       yaffs_map_room(dev->chunk_bytes);
}

void yaffs_map_fill_index(const struct yaffs_piece *piece, u8 *page)
{
	const struct yaffs_device *dev = piece->obj->dev;
	const struct yaffs_map_head head = {
		.has_entries = true,
		.lost = piece->lost,
		.piece = piece->number,
		.n_entries = used_entries(piece),
		.position = yaffs_data_position(dev),
		.horizon = yaffs_map_horizon(dev, piece),
		.size = piece->obj->file.stored_size,
	};

	fill_entries(piece, head.n_entries, page + yaffs_map_index_offset());
	yaffs_map_pack_index(&head, page, dev->chunk_bytes);
}

static void fill_file(const struct yaffs_object *obj, u8 *page,
		      struct yaffs_map_head *head)
{
	const struct yaffs_map *map = obj->file.map;

	head->tail = obj->tail;
	head->n_cuts = map->n_cuts;
	memcpy(head->cuts, map->cuts, map->n_cuts * sizeof(*map->cuts));
	head->has_entries = yaffs_map_fits(obj, head->xattr_bytes);
	if (!head->has_entries)
		return;
	head->lost = map->first.lost;
	head->n_entries = used_entries(&map->first);
	head->horizon = yaffs_map_horizon(obj->dev, &map->first);
	fill_entries(&map->first, head->n_entries,
		     page + yaffs_map_header_offset() + head->xattr_bytes);
}

bool yaffs_map_fill_header(const struct yaffs_object *obj, bool gone, u8 *page)
{
	const struct yaffs_device *dev = obj->dev;
	struct yaffs_map_head head = {
		.xattr_bytes = yaffs_map_xattr_used(dev, page),
		.position = yaffs_data_position(dev),
		.horizon = yaffs_map_horizon(dev, NULL),
	};

	if (obj->type == YAFFS_TYPE_FILE && !gone)
		fill_file(obj, page, &head);
	yaffs_map_pack_header(&head, page, dev->chunk_bytes);
	return head.has_entries;
}

/* ---- from pages ---- */

void yaffs_map_end_xattr(const struct yaffs_device *dev, u8 *page, u32 used)
{
	u8 *area = yaffs_xattr_area(dev, page);

	memset(area + used, 0xff,
	       min_t(u32, sizeof(__le32), yaffs_xattr_bytes(dev) - used));
}

int yaffs_map_trim_xattr(const struct yaffs_device *dev, u8 *page)
{
	struct yaffs_map_head head;
	int err = yaffs_map_unpack_header(page, dev->chunk_bytes, &head);

	yaffs_map_end_xattr(dev, page, err ? 0 : head.xattr_bytes);
	return err;
}

/* After a mount by checkpoint: it knows which pages are live, of data or not. */
static bool is_data(const struct yaffs_device *dev, u32 chunk)
{
	return yaffs_chunk_valid(dev, chunk) && test_bit(chunk, dev->live) &&
	       !dev->blocks[yaffs_block_of(dev, chunk)].metadata;
}

static int take_entries(struct yaffs_piece *piece,
			const struct yaffs_map_head *head, const u8 *from,
			bool is_cut)
{
	const struct yaffs_map *map = piece->obj->file.map;
	struct yaffs_index *index = &piece->obj->file.index;
	struct yaffs_device *dev = piece->obj->dev;
	const __le32 *entry = (const __le32 *)from;
	u32 id = yaffs_piece_first(piece), i, chunk;
	int err;

	for (i = 0; i < head->n_entries; i++, id++) {
		chunk = le32_to_cpu(entry[i]);
		if (!chunk || (is_cut && yaffs_cuts_entry(map->cuts, map->n_cuts,
							  head->position, id)))
			continue;
		if (!id || id > YAFFS_MAX_CHUNK_ID ||
		    (dev->mounted_by && !is_data(dev, chunk)))
			return -EUCLEAN;
		err = yaffs_index_prepare(dev, index, id);
		if (err)
			return err;
		yaffs_index_set(index, id, chunk);
	}
	piece->lost = head->lost;
	dev->has_lost_pages |= head->lost;
	piece->loaded = true;
	return 0;
}

static void note_clock(struct yaffs_device *dev,
		       const struct yaffs_map_head *head)
{
	dev->seen_horizon = max(dev->seen_horizon, head->horizon);
	dev->seen_position = max(dev->seen_position, head->position);
}

static int take_cuts(struct yaffs_map *map, const struct yaffs_map_head *head)
{
	u32 bytes = head->n_cuts * sizeof(*map->cuts);
	struct yaffs_cut *cuts = kmemdup(head->cuts, bytes, GFP_NOFS);

	if (!head->n_cuts || !cuts)
		return head->n_cuts ? -ENOMEM : -EUCLEAN;
	kfree(map->cuts);
	map->cuts = cuts;
	map->n_cuts = head->n_cuts;
	map->position = head->position;
	return 0;
}

static int take_file(struct yaffs_object *obj, const struct yaffs_map_head *head,
		     const u8 *page)
{
	struct yaffs_map *map = obj->file.map;
	int err;

	if (map->known)
		return 0;
	err = take_cuts(map, head);
	if (err)
		return err;
	obj->tail |= head->tail;
	note_clock(obj->dev, head);
	if (!map->first.loaded && !map->first.chunk && head->has_entries) {
		map->first.in_header = head->n_entries;
		map->first.position = head->position;
		err = take_entries(&map->first, head,
				   page + yaffs_map_header_offset() +
				   head->xattr_bytes, false);
	}
	map->known = !err;
	return err;
}

int yaffs_map_take_header(struct yaffs_object *obj, u8 *page)
{
	struct yaffs_device *dev = obj->dev;
	struct yaffs_map_head head;
	int err = yaffs_map_unpack_header(page, dev->chunk_bytes, &head);

	if (!err && obj->type == YAFFS_TYPE_FILE)
		err = take_file(obj, &head, page);
	yaffs_map_end_xattr(dev, page, err ? 0 : head.xattr_bytes);
	return err;
}

int yaffs_map_take_index(struct yaffs_piece *piece, const u8 *page)
{
	struct yaffs_map *map = piece->obj->file.map;
	struct yaffs_device *dev = piece->obj->dev;
	struct yaffs_map_head head;
	int err = yaffs_map_unpack_index(page, dev->chunk_bytes, &head);

	if (err)
		return err;
	if (head.piece != piece->number)
		return -EUCLEAN;
	note_clock(dev, &head);
	if (list_empty(&piece->waiting))
		piece->position = head.position;
	if (head.position >= map->size_position) {
		map->size = head.size;
		map->size_position = head.position;
	}
	return take_entries(piece, &head, page + yaffs_map_index_offset(),
			    map->known);	/* or a scan cuts later */
}

/* ---- cuts ---- */

bool yaffs_map_can_cut(const struct yaffs_object *obj, u32 chunks)
{
	const struct yaffs_map *map = obj->file.map;
	struct yaffs_cut cuts[YAFFS_MAP_CUTS];

	memcpy(cuts, map->cuts, map->n_cuts * sizeof(*cuts));
	return yaffs_cuts_add(cuts, map->n_cuts, yaffs_data_position(obj->dev),
			      chunks) <= YAFFS_MAP_CUTS;
}

int yaffs_map_cut(struct yaffs_object *obj, u32 chunks, struct yaffs_cut **before,
		  u32 *n_before)
{
	struct yaffs_map *map = obj->file.map;
	struct yaffs_cut *cuts = kcalloc(map->n_cuts + 1, sizeof(*cuts),
					 GFP_NOFS);

	if (!cuts)
		return -ENOMEM;
	memcpy(cuts, map->cuts, map->n_cuts * sizeof(*cuts));
	*before = map->cuts;
	*n_before = map->n_cuts;
	map->cuts = cuts;
	map->n_cuts = yaffs_cuts_add(cuts, map->n_cuts, yaffs_data_position(obj->dev),
				     chunks);
	return 0;
}

void yaffs_map_uncut(struct yaffs_object *obj, struct yaffs_cut *before,
		     u32 n_before)
{
	struct yaffs_map *map = obj->file.map;

	kfree(map->cuts);
	map->cuts = before;
	map->n_cuts = n_before;
}
