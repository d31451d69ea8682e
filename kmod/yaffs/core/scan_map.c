// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mount by scan in the segregated layout. Blocks with metadata are gone through as in the
 * other layout: the first header of an object that is met is its newest, and so is the first
 * page of each part of its index. That says where its data are, but for what was written since.
 * So blocks with data are gone through, too, but only from the horizon on: see
 * docs/yaffs2-segregated.md, which also says why an entry or a page is the newer one.
 *
 * In the end what each index names is live. While the scan goes on, entries that come from
 * a page of data, not from an index on flash, carry a mark.
 *
 * If a part of an index cannot be read, its pages are sought in all blocks with data.
 */

#include <linux/sched.h>

#include "alloc.h"
#include "map_io.h"
#include "mount.h"
#include "nand.h"
#include "scan.h"

/* Of an entry in memory: from a page that was met. Chunk numbers have 31 bits. */
#define MET 0x80000000u

/* ---- metadata ---- */

/* @err: of a part of an index. Without it all pages have to be looked at. */
static int judge(struct yaffs_scan *scan, int err)
{
	if (err == -EOPNOTSUPP && !scan->refused) {
		scan->refused = true;
		pr_err("yaffs2: %s was written by a later version of the segregated layout\n",
		       scan->dev->mtd->name);
	}
	if (!err || err == -ENOMEM)
		return err;
	scan->everything = true;
	return 0;
}

int yaffs_scan_map(struct yaffs_scan *scan, struct yaffs_object *obj,
		   u8 *page, int err)
{
	return judge(scan, err ? err : yaffs_map_take_header(obj, page));
}

static int read_index(struct yaffs_scan *scan, struct yaffs_piece *piece,
		      u32 chunk)
{
	struct yaffs_device *dev = scan->dev;
	int err = yaffs_nand_read(dev, chunk, dev->map_page, NULL);

	if (!err)
		err = yaffs_map_take_index(piece, dev->map_page);
	if (err) {
		piece->position = 0;
		return judge(scan, err);
	}
	yaffs_piece_set_chunk(piece, chunk);
	yaffs_chunk_live(dev, chunk);
	return 0;
}

/* Only the newest of a piece counts, be it here or in the header. */
static int scan_index(struct yaffs_scan *scan, u32 chunk,
		      const struct yaffs_tags *tags)
{
	struct yaffs_device *dev = scan->dev;
	struct yaffs_object *obj = yaffs_object_find(dev, tags->obj_id);
	struct yaffs_piece *piece;

	if (tags->obj_id < YAFFS_ID_FIRST ||
	    tags->chunk_id > yaffs_piece_number(dev, YAFFS_MAX_CHUNK_ID))
		return 0;
	if (!obj) {
		obj = yaffs_object_new(dev, tags->obj_id, YAFFS_TYPE_FILE);
		if (IS_ERR(obj))
			return PTR_ERR(obj);
	}
	if (obj->type != YAFFS_TYPE_FILE || yaffs_is_grave(obj->parent_id))
		return 0;
	piece = yaffs_map_make_piece(obj, tags->chunk_id);
	if (!piece)
		return -ENOMEM;
	if (piece->loaded || piece->found)
		return 0;
	piece->found = true;
	return read_index(scan, piece, chunk);
}

/* Gone before a newer summary was written: what its pages say is void. */
static bool is_void(const struct yaffs_scan *scan, u32 obj_id)
{
	const struct yaffs_ids *ids = &scan->dev->ids;
	u32 part;

	if (obj_id < YAFFS_ID_FIRST || !ids->per_part)
		return false;
	part = obj_id / ids->per_part;
	return part < YAFFS_IDS_PARTS && scan->ids[part] &&
	       !yaffs_ids_has(scan->ids[part], obj_id % ids->per_part);
}

static int scan_ids(struct yaffs_scan *scan, u32 block, const u8 *page)
{
	struct yaffs_device *dev = scan->dev;
	const u8 *bits;
	u64 position;
	u32 part;

	if (!yaffs_ids_unpack(page + yaffs_summary_end(dev), dev->ids.per_part,
			      &part, &position, &bits) || scan->ids[part])
		return 0;
	scan->told = true;
	dev->seen_position = max(dev->seen_position, position);
	scan->ids[part] = kmemdup(bits, dev->ids.per_part / 8, GFP_KERNEL);
	if (!scan->ids[part])
		return -ENOMEM;
	yaffs_ids_pin(dev, part, block);
	return 0;
}

/*
 * The position in pages of metadata: in those that are newer than the newest summary, be
 * they dead or void. It says the same of all before it.
 */
static void note_position(struct yaffs_device *dev, u32 chunk, bool is_index)
{
	struct yaffs_map_head head;
	int err = yaffs_nand_read(dev, chunk, dev->map_page, NULL);

	if (!err && is_index)
		err = yaffs_map_unpack_index(dev->map_page, dev->chunk_bytes,
					     &head);
	else if (!err)
		err = yaffs_map_unpack_header(dev->map_page, dev->chunk_bytes,
					      &head);
	if (!err)
		dev->seen_position = max(dev->seen_position, head.position);
}

static int scan_metadata(struct yaffs_scan *scan, u32 chunk,
			 const struct yaffs_tags *tags)
{
	yaffs_ids_note(scan->dev, tags->obj_id);
	if (!scan->told)
		note_position(scan->dev, chunk, tags->is_index);
	if (is_void(scan, tags->obj_id))
		return 0;
	if (tags->is_index)
		return scan_index(scan, chunk, tags);
	return tags->chunk_id ? 0 : yaffs_scan_header(scan, chunk, tags);
}

/* ---- data that is newer than the index ---- */

static int take_page(struct yaffs_object *obj, struct yaffs_piece *piece,
		     u32 chunk, const struct yaffs_tags *tags)
{
	struct yaffs_index *index = &obj->file.index;
	struct yaffs_device *dev = obj->dev;
	int err;

	if (yaffs_index_get(index, tags->chunk_id) & MET)
		return 0;
	err = yaffs_index_prepare(dev, index, tags->chunk_id);
	if (err)
		return err;
	yaffs_index_set(index, tags->chunk_id, chunk | MET);
	yaffs_chunk_live(dev, chunk);
	if (tags->n_bytes == YAFFS_LOST_BYTES) {
		dev->has_lost_pages = true;
		piece->lost = true;
	}
	return 0;
}

static int scan_data(struct yaffs_scan *scan, u32 chunk,
		     const struct yaffs_tags *tags)
{
	struct yaffs_device *dev = scan->dev;
	struct yaffs_object *obj = yaffs_object_find(dev, tags->obj_id);
	u64 position = yaffs_map_position(dev, chunk), end;
	struct yaffs_piece *piece;
	struct yaffs_map *map;

	/* Without a header the file was deleted. */
	if (!obj || obj->type != YAFFS_TYPE_FILE ||
	    yaffs_is_grave(obj->parent_id))
		return 0;
	map = obj->file.map;
	piece = yaffs_map_make_piece(obj, yaffs_piece_number(dev, tags->chunk_id));
	if (!piece)
		return -ENOMEM;
	if (position < piece->position ||
	    yaffs_cuts_page(map->cuts, map->n_cuts, position, tags->chunk_id))
		return 0;
	end = (u64)(tags->chunk_id - 1) * dev->chunk_bytes +
	      min(tags->n_bytes, dev->chunk_bytes);
	if (position >= map->position)
		obj->file.size = max(obj->file.size, end);
	return take_page(obj, piece, chunk, tags);
}

/* ---- what is live ---- */

static bool names_data(const struct yaffs_device *dev,
		       const struct yaffs_piece *piece, u32 chunk)
{
	const struct yaffs_block *b;

	if (!yaffs_chunk_valid(dev, chunk))
		return false;
	b = &dev->blocks[yaffs_block_of(dev, chunk)];
	return b->state == YAFFS_BLOCK_FULL && b->seq && !b->metadata &&
	       !yaffs_chunk_is_live(dev, chunk) &&
	       yaffs_map_position(dev, chunk) < piece->position;
}

static void settle_entry(struct yaffs_scan *scan, struct yaffs_object *obj,
			 u32 id)
{
	struct yaffs_piece *piece = yaffs_map_piece(obj, id);
	struct yaffs_index *index = &obj->file.index;
	struct yaffs_map *map = obj->file.map;
	u32 chunk = yaffs_index_get(index, id);

	if (chunk & MET) {
		chunk &= ~MET;
		piece->found = true;
	} else if (!piece->in_header &&
		   yaffs_cuts_entry(map->cuts, map->n_cuts, piece->position, id)) {
		chunk = 0;
	} else if (names_data(scan->dev, piece, chunk)) {
		yaffs_chunk_live(scan->dev, chunk);
	} else {
		scan->bad_entries++;
		chunk = 0;
	}
	yaffs_index_set(index, id, chunk);
	obj->file.data_chunks += chunk != 0;
}

static bool has_chunks(struct yaffs_object *obj, const struct yaffs_piece *piece)
{
	u32 last = yaffs_index_previous(&obj->file.index,
					yaffs_piece_last(piece));

	return last && last >= yaffs_piece_first(piece);
}

/* Of an earlier file with this id, or of which all was cut off. */
static void settle_piece(struct yaffs_object *obj, struct yaffs_piece *piece)
{
	if (has_chunks(obj, piece))
		return;
	yaffs_map_set_page(piece, 0);
	if (piece->number)
		yaffs_map_free_piece(piece);
}

/* Nothing of it is waited for, but what was written since. */
static void settle_pieces(struct yaffs_scan *scan, struct yaffs_object *obj)
{
	struct yaffs_map *map = obj->file.map;
	struct yaffs_piece *piece;
	u32 number = 0;

	yaffs_for_each_piece(piece, obj, number) {
		piece->loaded = true;
		if (piece->found)
			yaffs_piece_wait(piece, scan->dev->seen_horizon);
		settle_piece(obj, piece);
	}
	map->known = true;
	/* There is no header that could be read: nothing was cut off, as far as is known. */
	if (!map->n_cuts)
		map->n_cuts = 1;
}

static void settle_file(struct yaffs_scan *scan, struct yaffs_object *obj)
{
	struct yaffs_index *index = &obj->file.index;
	struct yaffs_map *map = obj->file.map;
	u32 id = YAFFS_MAX_CHUNK_ID, number = 0;
	struct yaffs_piece *piece;

	if (yaffs_is_grave(obj->parent_id)) {
		yaffs_index_free(scan->dev, index);
		settle_pieces(scan, obj);
		return;
	}
	yaffs_for_each_piece(piece, obj, number)
		piece->found = false;
	while ((id = yaffs_index_previous(index, id))) {
		settle_entry(scan, obj, id);
		id--;
	}
	settle_pieces(scan, obj);
	if (map->size_position > map->position)
		obj->file.size = max(obj->file.size, map->size);
	obj->file.stored_size = obj->file.size;
}

static void settle_files(struct yaffs_scan *scan)
{
	struct yaffs_device *dev = scan->dev;
	struct yaffs_object *obj;
	unsigned long id;

	xa_for_each(&dev->objects, id, obj) {
		if (obj->type == YAFFS_TYPE_FILE)
			settle_file(scan, obj);
		cond_resched();
	}
	if (scan->bad_entries)
		pr_err("yaffs2: %s: %u entries of files' indices name no page of the file: they read as holes\n",
		       dev->mtd->name, scan->bad_entries);
}

/*
 * The summary of a block that was not looked at. Most have one. If its pages are those of a
 * file, it has none.
 */
static bool may_have_summary(const struct yaffs_device *dev, u32 block)
{
	u32 end = (block + 1) * dev->pages_per_block, i;

	for (i = 1; i <= dev->summary_pages; i++)
		if (yaffs_chunk_is_live(dev, end - i))
			return false;
	return dev->summary_pages;
}

/* From @from_seq on blocks were looked at. */
static void settle_block(struct yaffs_device *dev, u32 block, u32 from_seq)
{
	struct yaffs_block *b = &dev->blocks[block];
	u32 end = (block + 1) * dev->pages_per_block, i;

	if (b->seq < from_seq)
		b->has_summary = may_have_summary(dev, block);
	if (!b->pages_in_use || !b->has_summary)
		return;
	for (i = 1; i <= dev->summary_pages; i++)
		yaffs_chunk_live(dev, end - i);
}

/* ---- all ---- */

static int scan_kind(struct yaffs_scan *scan, bool metadata, u32 from_seq)
{
	struct yaffs_device *dev = scan->dev;
	u32 block, i;
	int err = 0;

	for (i = 0; i < scan->n && !err; i++) {
		block = scan->order[i];
		if (dev->blocks[block].metadata != metadata)
			continue;
		if (dev->blocks[block].seq >= from_seq)
			err = yaffs_scan_block(scan, block);
		else
			dev->blocks[block].state = YAFFS_BLOCK_FULL;
		cond_resched();
	}
	return err;
}

/*
 * The blocks that made the clock of data pages tick last may have been erased. It must not go
 * back: what is written from now on is newer than any index, even one that is void now and may
 * be taken for that of another object some day.
 */
static void keep_clock(struct yaffs_device *dev)
{
	u64 seq = yaffs_position_seq(max(dev->seen_position,
					 dev->seen_horizon));

	if (seq < YAFFS_SEQ_END)
		dev->seq = max_t(u32, dev->seq, seq);
}

static int scan_all_metadata(struct yaffs_scan *scan)
{
	u32 part;
	int err;

	scan->page = scan_metadata;
	scan->summary = scan_ids;
	err = scan_kind(scan, true, 0);
	scan->summary = NULL;
	for (part = 0; part < YAFFS_IDS_PARTS; part++)
		kfree(scan->ids[part]);
	yaffs_ids_settle(scan->dev);
	keep_clock(scan->dev);
	return err;
}

int yaffs_scan_segregated(struct yaffs_scan *scan)
{
	struct yaffs_device *dev = scan->dev;
	int err = scan_all_metadata(scan);
	u32 from_seq, i;

	if (err || scan->refused)
		return err ? err : -EUCLEAN;
	from_seq = scan->everything ? 0 : yaffs_position_seq(dev->seen_horizon);
	scan->page = scan_data;
	err = scan_kind(scan, false, from_seq);
	if (err)
		return err;
	settle_files(scan);
	for (i = 0; i < scan->n; i++)
		if (!dev->blocks[scan->order[i]].metadata)
			settle_block(dev, scan->order[i], from_seq);
	return 0;
}
