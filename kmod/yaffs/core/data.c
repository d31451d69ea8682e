// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contents of files: bytes to chunks. Chunk k of a file holds bytes (k - 1) * S to
 * k * S - 1; a chunk that the index does not have is a hole and reads as zeros. What
 * lies behind the end of the file in its last chunk is zero on flash.
 *
 * Making a file longer without writing leaves a hole, and a hole is dangerous: when
 * flash is scanned, an old chunk of a former, longer version of the file would appear
 * in it. So either zeros are written (short holes), or first a header that says how
 * short the file was, with the shrink mark: older data from there on are dead.
 *
 * Making a file shorter writes its header first and drops chunks after, so that
 * blocks that become free can be erased at any moment: the flash never shows the old
 * size with data missing.
 */

#include <linux/mm.h>

#include "alloc.h"
#include "contents.h"
#include "gc.h"
#include "pages.h"

/* Holes of fewer chunks are filled with zeros. */
#define SHORT_HOLE_CHUNKS 4

int yaffs_file_read(struct yaffs_object *obj, u64 position, u8 *to, u32 bytes)
{
	u32 size = obj->dev->chunk_bytes, offset, now;
	u64 chunk;
	int err;

	yaffs_assert_locked(obj->dev);
	if (position >= obj->file.size || position + bytes > obj->file.size) {
		now = position < obj->file.size ? obj->file.size - position : 0;
		memset(to + now, 0, bytes - now);
		bytes = now;
	}
	while (bytes) {
		chunk = div_u64_rem(position, size, &offset);
		now = min(bytes, size - offset);
		err = yaffs_cache_read(obj, chunk + 1, offset, to, now, bytes);
		if (err)
			return err;
		position += now;
		to += now;
		bytes -= now;
	}
	return 0;
}

static int write_bytes(struct yaffs_object *obj, u64 position, const u8 *from,
		       u64 bytes)
{
	u32 size = obj->dev->chunk_bytes, offset, now;
	u64 chunk;
	int err;

	while (bytes) {
		chunk = div_u64_rem(position, size, &offset);
		now = min_t(u64, bytes, size - offset);
		err = yaffs_cache_write(obj, chunk + 1, offset,
					from ? from : page_address(ZERO_PAGE(0)),
					now);
		if (err)
			return err;
		position += now;
		bytes -= now;
		if (from)
			from += now;
	}
	return 0;
}

/* Writes zeros, in pieces that the kernel's page of zeros can give. */
static int write_zeros(struct yaffs_object *obj, u64 position, u64 bytes)
{
	u64 now;
	int err = 0;

	for (; bytes && !err; position += now, bytes -= now) {
		now = min_t(u64, bytes, PAGE_SIZE - (position % PAGE_SIZE));
		err = write_bytes(obj, position, NULL, now);
	}
	return err;
}

/* The last chunk once more, with zeros behind the new end. */
static int cut_last_chunk(struct yaffs_object *obj)
{
	struct yaffs_device *dev = obj->dev;
	u32 left, chunk_id;
	int err;

	chunk_id = div_u64_rem(obj->file.size, dev->chunk_bytes, &left) + 1;
	if (!left || !yaffs_file_has_chunk(obj, chunk_id))
		return 0;
	err = yaffs_file_read_chunk(obj, chunk_id, dev->data_page);
	if (err)
		return err;
	memset(dev->data_page + left, 0, dev->chunk_bytes - left);
	return yaffs_file_write_chunk(obj, chunk_id, dev->data_page, left,
				      YAFFS_WRITE_KEPT);
}

int yaffs_file_cut_tail(struct yaffs_object *obj)
{
	int err = obj->tail ? cut_last_chunk(obj) : 0;

	if (!err)
		obj->tail = false;
	return err;
}

/* Also what the cache may hold of it. */
static int drop_tail(struct yaffs_object *obj)
{
	int err;

	if (!obj->tail)
		return 0;
	err = yaffs_cache_flush(obj);
	if (err)
		return err;
	yaffs_cache_drop(obj, 0);
	return yaffs_file_cut_tail(obj);
}

/*
 * Makes sure that nothing old can appear between the end and @position. What is in the
 * cache may stay there: it will be newer on flash than the header.
 */
static int make_hole(struct yaffs_object *obj, u64 position)
{
	const struct yaffs_header_change shrink = { .is_shrink = true };
	struct yaffs_device *dev = obj->dev;
	u64 bytes = position - obj->file.size;
	int err;

	/* There a hole is one: the index says what is newer. */
	if (yaffs_is_segregated(dev))
		return drop_tail(obj);
	if (bytes < SHORT_HOLE_CHUNKS * dev->chunk_bytes &&
	    yaffs_space_for(dev, SHORT_HOLE_CHUNKS + 1 + dev->n_dirty_slots,
			    false))
		return write_zeros(obj, obj->file.size, bytes);
	err = drop_tail(obj);
	return err ? err : yaffs_header_write(obj, &shrink);
}

int yaffs_file_write(struct yaffs_object *obj, u64 position, const u8 *from,
		     u32 bytes)
{
	struct yaffs_device *dev = obj->dev;
	int err;

	yaffs_assert_locked(dev);
	if (dev->read_only)
		return -EROFS;
	if (position + bytes > dev->max_file_bytes)
		return -EFBIG;
	if (position > obj->file.size) {
		err = make_hole(obj, position);
		if (err)
			return err;
	}
	obj->dirty = true;
	return write_bytes(obj, position, from, bytes);
}

/* ---- resize ---- */

/* What a file was before it is made shorter, should that fail. */
struct yaffs_cut_undo {
	struct yaffs_cut *cuts;
	u32 n_cuts;
	bool tail;
};

static void drop_chunks(struct yaffs_object *obj, u32 from_id)
{
	struct yaffs_index *index = &obj->file.index;
	u32 id = yaffs_index_previous(index, YAFFS_MAX_CHUNK_ID);

	for (; id && id >= from_id; id = yaffs_index_previous(index, id - 1)) {
		yaffs_chunk_dead(obj->dev, yaffs_index_set(index, id, 0));
		obj->file.data_chunks--;
	}
}

void yaffs_file_drop(struct yaffs_object *obj)
{
	yaffs_assert_locked(obj->dev);
	yaffs_cache_drop(obj, 0);
	/* What cannot be read stays where it is until the next mount. */
	yaffs_map_load_from(obj, 0);
	drop_chunks(obj, 1);
	yaffs_map_drop(obj, 0);
	yaffs_index_free(obj->dev, &obj->file.index);
	obj->file.size = 0;
	obj->file.stored_size = 0;
}

/*
 * Segregated layout: the header that comes next says what is cut off, and whether the last
 * chunk still has something of it.
 */
static int begin_cut(struct yaffs_object *obj, u64 size,
		     struct yaffs_cut_undo *undo)
{
	u32 left, chunks = DIV_ROUND_UP_ULL(size, obj->dev->chunk_bytes);
	int err;

	undo->tail = obj->tail;
	div_u64_rem(size, obj->dev->chunk_bytes, &left);
	if (!yaffs_is_segregated(obj->dev)) {
		obj->tail = left;
		return 0;
	}
	err = yaffs_map_load_from(obj, chunks);
	if (!err)
		err = yaffs_horizon_make_cut(obj, chunks);
	if (!err)
		err = yaffs_map_cut(obj, chunks, &undo->cuts, &undo->n_cuts);
	if (!err)
		obj->tail = left;
	return err;
}

static void end_cut(struct yaffs_object *obj, struct yaffs_cut_undo *undo,
		    int err)
{
	if (err) {
		obj->tail = undo->tail;
		if (undo->cuts)
			yaffs_map_uncut(obj, undo->cuts, undo->n_cuts);
	} else {
		kfree(undo->cuts);
	}
}

/*
 * The collector runs before the new size is set. It copies headers with the present
 * size, and pages after them: what it copied of the old tail would be newer than the
 * new size, and be there again if power failed now, behind a hole.
 */
static int shrink(struct yaffs_object *obj, u64 size)
{
	u64 old_size = obj->file.size, old_stored = obj->file.stored_size;
	struct yaffs_device *dev = obj->dev;
	u32 chunks = DIV_ROUND_UP_ULL(size, dev->chunk_bytes);
	struct yaffs_cut_undo undo = {};
	int err;

	yaffs_gc_before_write(dev);
	err = begin_cut(obj, size, &undo);
	if (err)
		return err;
	dev->gc.disabled++;
	obj->file.size = size;
	obj->file.stored_size = min(old_stored, size);
	err = yaffs_header_write(obj, NULL);
	dev->gc.disabled--;
	if (err) {
		obj->file.size = old_size;
		obj->file.stored_size = old_stored;
	}
	end_cut(obj, &undo, err);
	if (err)
		return err;
	drop_chunks(obj, chunks + 1);
	yaffs_map_drop(obj, chunks);
	if (!size)
		yaffs_index_free(dev, &obj->file.index);
	return yaffs_file_cut_tail(obj);
}

static int grow(struct yaffs_object *obj, u64 size)
{
	u64 old_stored;
	int err = make_hole(obj, size);

	if (!err)
		err = yaffs_cache_flush(obj);
	if (err)
		return err;
	old_stored = obj->file.stored_size;
	obj->file.stored_size = size;
	err = yaffs_header_write(obj, NULL);
	if (err)
		obj->file.stored_size = old_stored;
	else
		obj->file.size = size;
	return err;
}

int yaffs_file_resize(struct yaffs_object *obj, u64 size)
{
	struct yaffs_device *dev = obj->dev;
	int err;

	yaffs_assert_locked(dev);
	if (dev->read_only)
		return -EROFS;
	if (size > dev->max_file_bytes)
		return -EFBIG;
	err = yaffs_object_load(obj);
	if (err || size == obj->file.size)
		return err;
	if (size > obj->file.size)
		return grow(obj, size);
	err = yaffs_cache_flush(obj);
	if (err)
		return err;
	yaffs_cache_drop(obj, 0);
	return shrink(obj, size);
}
