// SPDX-License-Identifier: GPL-2.0-only
/*
 * The short-op cache: a few chunks in memory, so that many small writes to a chunk
 * are one program. Every write to a file passes through it; the least recently used
 * chunk makes room. Flushed by close, fsync, sync and resize.
 *
 * A slot holds one stretch of its chunk, [begin, end). As long as writes extend the
 * stretch nothing is read, so a chunk that is written from its beginning to its end,
 * in whatever steps, costs no read. Only when a stretch must be completed, because
 * something else of the chunk is asked for or because it is written out, the rest
 * comes from flash. (The original reads the old chunk for each new slot.)
 */

#include "alloc.h"
#include "contents.h"
#include "pages.h"

/* Bytes of the chunk that belong to the file. */
static u32 bytes_in_file(const struct yaffs_object *obj, u32 chunk_id)
{
	u64 start = (u64)(chunk_id - 1) * obj->dev->chunk_bytes;
	u64 size = obj->file.size;

	return size > start ? min_t(u64, size - start, obj->dev->chunk_bytes) :
			      0;
}

/* Makes the slot hold the whole chunk, zero behind the end of the file. */
static int fill_slot(struct yaffs_device *dev, struct yaffs_slot *slot)
{
	u32 in_file = bytes_in_file(slot->obj, slot->chunk_id);
	bool old = yaffs_file_has_chunk(slot->obj, slot->chunk_id);
	u8 *page = dev->data_page;
	int err;

	if (slot->begin == 0 && slot->end == dev->chunk_bytes)
		return 0;
	if (old && (slot->begin || slot->end < in_file)) {
		err = yaffs_file_read_chunk(slot->obj, slot->chunk_id, page);
		if (err)
			return err;
		/* A cut that was interrupted may have left old data behind the end. */
		memset(page + in_file, 0, dev->chunk_bytes - in_file);
		memcpy(slot->data, page, slot->begin);
		memcpy(slot->data + slot->end, page + slot->end,
		       dev->chunk_bytes - slot->end);
	} else {
		memset(slot->data, 0, slot->begin);
		memset(slot->data + slot->end, 0, dev->chunk_bytes - slot->end);
	}
	slot->begin = 0;
	slot->end = dev->chunk_bytes;
	return 0;
}

static int flush_slot(struct yaffs_device *dev, struct yaffs_slot *slot)
{
	int err;

	if (!slot->dirty)
		return 0;
	err = fill_slot(dev, slot);
	if (!err)
		err = yaffs_file_write_chunk(slot->obj, slot->chunk_id,
					     slot->data,
					     bytes_in_file(slot->obj,
							   slot->chunk_id),
					     YAFFS_WRITE_KEPT);
	if (!err)
		yaffs_slot_set_dirty(dev, slot, false);
	return err;
}

/* A slot for another chunk: a free one, or the least recently used. */
static struct yaffs_slot *take_slot(struct yaffs_object *obj, u32 chunk_id)
{
	struct yaffs_device *dev = obj->dev;
	struct yaffs_slot *slot = &dev->slots[0];
	u32 i;
	int err;

	for (i = 0; i < dev->n_slots; i++) {
		if (!dev->slots[i].obj) {
			slot = &dev->slots[i];
			break;
		}
		if (dev->slots[i].used < slot->used)
			slot = &dev->slots[i];
	}
	if (slot->obj) {
		err = flush_slot(dev, slot);
		if (err)
			return ERR_PTR(err);
	}
	slot->obj = obj;
	slot->chunk_id = chunk_id;
	slot->begin = 0;
	slot->end = 0;
	slot->used = ++dev->slot_clock;
	return slot;
}

/* ---- reading ---- */

static int read_uncached(struct yaffs_object *obj, u32 chunk_id, u32 offset,
			 u8 *to, u32 bytes, u32 room)
{
	struct yaffs_device *dev = obj->dev;
	int err;

	if (bytes == dev->chunk_bytes && room >= dev->page_bytes)
		return yaffs_file_read_chunk(obj, chunk_id, to);
	err = yaffs_file_read_chunk(obj, chunk_id, dev->data_page);
	if (!err)
		memcpy(to, dev->data_page + offset, bytes);
	return err;
}

int yaffs_cache_read(struct yaffs_object *obj, u32 chunk_id, u32 offset, u8 *to,
		     u32 bytes, u32 room)
{
	struct yaffs_device *dev = obj->dev;
	struct yaffs_slot *slot = yaffs_slot_find(obj, chunk_id);
	int err;

	yaffs_assert_locked(obj->dev);
	if (!slot) {
		dev->stats.cache_misses++;
		if (!yaffs_file_has_chunk(obj, chunk_id)) {
			memset(to, 0, bytes);
			return 0;
		}
		if (!dev->n_slots || bytes == dev->chunk_bytes)
			return read_uncached(obj, chunk_id, offset, to, bytes,
					     room);
		slot = take_slot(obj, chunk_id);
		if (IS_ERR(slot))
			return read_uncached(obj, chunk_id, offset, to, bytes,
					     room);
		err = yaffs_file_read_chunk(obj, chunk_id, slot->data);
		if (err) {
			yaffs_slot_release(dev, slot);
			return err;
		}
		slot->end = dev->chunk_bytes;
	} else {
		dev->stats.cache_hits++;
		if (offset < slot->begin || offset + bytes > slot->end) {
			err = fill_slot(dev, slot);
			if (err)
				return err;
		}
	}
	memcpy(to, slot->data + offset, bytes);
	return 0;
}

/* ---- writing ---- */

/* Without a cache: read, change, write. */
static int write_uncached(struct yaffs_object *obj, u32 chunk_id, u32 offset,
			  const u8 *from, u32 bytes)
{
	struct yaffs_device *dev = obj->dev;
	u64 start = (u64)(chunk_id - 1) * dev->chunk_bytes;
	u32 old = bytes_in_file(obj, chunk_id);
	u8 *page = dev->data_page;
	int err;

	if (offset || offset + bytes < old) {
		err = yaffs_file_read_chunk(obj, chunk_id, page);
		if (err)
			return err;
	} else {
		memset(page + bytes, 0, dev->chunk_bytes - bytes);
	}
	memcpy(page + offset, from, bytes);
	err = yaffs_file_write_chunk(obj, chunk_id, page,
				     max(old, offset + bytes), YAFFS_WRITE_NEW);
	if (!err)
		obj->file.size = max(obj->file.size, start + offset + bytes);
	return err;
}

/* True if [offset, offset + bytes) extends the slot's stretch, or lies in it. */
static bool joins(const struct yaffs_slot *slot, u32 offset, u32 bytes)
{
	return slot->begin == slot->end ||
	       (offset <= slot->end && offset + bytes >= slot->begin);
}

static void join(struct yaffs_slot *slot, u32 offset, u32 bytes)
{
	if (slot->begin == slot->end) {
		slot->begin = offset;
		slot->end = offset + bytes;
		return;
	}
	slot->begin = min(slot->begin, offset);
	slot->end = max(slot->end, offset + bytes);
}

int yaffs_cache_write(struct yaffs_object *obj, u32 chunk_id, u32 offset,
		      const u8 *from, u32 bytes)
{
	struct yaffs_device *dev = obj->dev;
	struct yaffs_slot *slot = yaffs_slot_find(obj, chunk_id);
	u64 end = (u64)(chunk_id - 1) * dev->chunk_bytes + offset + bytes;
	int err;

	yaffs_assert_locked(obj->dev);
	/* A dirty slot has its page already. */
	if (!(slot && slot->dirty) &&
	    !yaffs_space_for(dev, 1 + dev->n_dirty_slots, false))
		return -ENOSPC;
	if (!dev->n_slots)
		return write_uncached(obj, chunk_id, offset, from, bytes);
	if (!slot) {
		dev->stats.cache_misses++;
		slot = take_slot(obj, chunk_id);
		if (IS_ERR(slot))
			return PTR_ERR(slot);
	} else {
		dev->stats.cache_hits++;
	}
	if (!joins(slot, offset, bytes)) {
		err = fill_slot(dev, slot);
		if (err)
			return err;
	}
	join(slot, offset, bytes);
	memcpy(slot->data + offset, from, bytes);
	yaffs_slot_set_dirty(dev, slot, true);
	obj->file.size = max(obj->file.size, end);
	return 0;
}

/* ---- flushing ---- */

/* The dirty slot of @obj (NULL: of any) with the lowest chunk. */
static struct yaffs_slot *next_dirty(struct yaffs_device *dev,
				     const struct yaffs_object *obj)
{
	struct yaffs_slot *slot, *found = NULL;

	for (slot = dev->slots; slot < dev->slots + dev->n_slots; slot++)
		if (slot->dirty && (!obj || slot->obj == obj) &&
		    (!found || slot->chunk_id < found->chunk_id))
			found = slot;
	return found;
}

/* A slot of @obj (NULL: of any); 1, 0 if there is none, or an error. */
static int flush_next(struct yaffs_device *dev, const struct yaffs_object *obj)
{
	struct yaffs_slot *slot = NULL;
	int err;

	yaffs_assert_locked(dev);
	if (dev->n_dirty_slots)
		slot = next_dirty(dev, obj);
	if (!slot)
		return 0;
	err = flush_slot(dev, slot);
	return err ? err : 1;
}

static int flush(struct yaffs_device *dev, const struct yaffs_object *obj)
{
	int ret;

	do {
		ret = flush_next(dev, obj);
	} while (ret > 0);
	return ret;
}

int yaffs_cache_flush(struct yaffs_object *obj)
{
	return flush(obj->dev, obj);
}

int yaffs_cache_flush_one(struct yaffs_object *obj)
{
	return flush_next(obj->dev, obj);
}

int yaffs_cache_flush_all(struct yaffs_device *dev)
{
	return flush(dev, NULL);
}
