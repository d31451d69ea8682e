// SPDX-License-Identifier: GPL-2.0-only
/*
 * One chunk of a file, to and from flash. A chunk that the index does not have is a
 * hole and reads as zeros.
 */

#include "blocks.h"
#include "gc.h"
#include "nand.h"
#include "pages.h"

bool yaffs_file_has_chunk(struct yaffs_object *obj, u32 chunk_id)
{
	return yaffs_map_load(obj, chunk_id) ||
	       yaffs_index_get(&obj->file.index, chunk_id);
}

int yaffs_file_read_chunk(struct yaffs_object *obj, u32 chunk_id, u8 *page)
{
	const struct yaffs_identity id = { .obj_id = obj->id, .chunk_id = chunk_id };
	struct yaffs_device *dev = obj->dev;
	int err = yaffs_map_load(obj, chunk_id);
	u32 chunk;

	yaffs_assert_locked(dev);
	if (err)
		return err;
	chunk = yaffs_index_get(&obj->file.index, chunk_id);
	if (!chunk) {
		memset(page, 0, dev->chunk_bytes);
		return 0;
	}
	return yaffs_nand_read_known(dev, chunk, page, &id);
}

int yaffs_file_write_chunk(struct yaffs_object *obj, u32 chunk_id, u8 *page,
			   u32 n_bytes, enum yaffs_writer by)
{
	struct yaffs_device *dev = obj->dev;
	struct yaffs_tags tags = {
		.obj_id = obj->id,
		.chunk_id = chunk_id,
		.n_bytes = n_bytes,
	};
	u64 end = (u64)(chunk_id - 1) * dev->chunk_bytes + n_bytes;
	u32 chunk, old;
	int err;

	yaffs_assert_locked(dev);
	yaffs_gc_before_write(dev);
	err = yaffs_map_prepare(obj, chunk_id);
	if (!err)
		err = yaffs_index_prepare(dev, &obj->file.index, chunk_id);
	if (!err)
		err = yaffs_chunk_write(dev, page, &tags, by, &chunk);
	if (err)
		return err;
	dev->stats.data_writes++;
	old = yaffs_index_set(&obj->file.index, chunk_id, chunk);
	if (old)
		yaffs_chunk_dead(dev, old);
	else
		obj->file.data_chunks++;
	obj->file.stored_size = max(obj->file.stored_size, end);
	yaffs_map_note(obj, chunk_id, chunk);
	yaffs_horizon_keep(dev);
	return 0;
}
