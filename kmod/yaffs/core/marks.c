// SPDX-License-Identifier: GPL-2.0-only
/*
 * Segregated layout: the last header of an object, the mark that it is gone, may lie in the same
 * block as earlier headers of it. If power fails in the erase of that block, the mark may be
 * erased and an earlier header not: a scan would find the object again. So the collector first
 * writes such a mark anew, to the block of metadata that is written now. There it voids what is
 * older than itself, as any mark does, and needs not be written a third time.
 *
 * That is so only where no newer summary says which objects there are (ids.c): of blocks that
 * power cuts left, mostly.
 */

#include "alloc.h"
#include "marks.h"
#include "nand.h"
#include "objects.h"

void yaffs_marks_begin(struct yaffs_device *dev)
{
	const struct yaffs_block *b = &dev->blocks[dev->gc.block];

	dev->gc.marks = yaffs_is_segregated(dev) && b->metadata &&
			(b->has_shrink || b->pinned) &&
			b->seq >= dev->ids.settled_seq;
	if (dev->gc.marks)
		memset(dev->gc.passed, 0,
		       dev->pages_per_block * sizeof(*dev->gc.passed));
}

static bool is_there(struct yaffs_device *dev, u32 id)
{
	const struct yaffs_object *obj = yaffs_object_find(dev, id);

	return obj && !obj->deleted;
}

static bool was_passed(const struct yaffs_device *dev, u32 id)
{
	u32 page;

	for (page = 0; page < dev->gc.page; page++)
		if (dev->gc.passed[page] == id)
			return true;
	return false;
}

/* Its tags say it all: it may be unreadable. */
static int write_anew(struct yaffs_device *dev, u32 chunk)
{
	struct yaffs_tags tags;
	u32 copy;
	int err = yaffs_nand_read(dev, chunk, dev->gc_page_data, &tags);

	if (err == -EBADMSG)
		memset(dev->gc_page_data, 0, dev->chunk_bytes);
	else if (err)
		return err;
	err = yaffs_chunk_write(dev, dev->gc_page_data, &tags,
				YAFFS_WRITE_COPY, &copy);
	/* There may be no block to write to but this one, when it is erased. */
	if (err)
		return err == -ENOSPC ? 0 : err;
	dev->blocks[yaffs_block_of(dev, copy)].has_shrink = true;
	yaffs_chunk_dead(dev, copy);
	dev->stats.gc_copies++;
	dev->stats.gc_metadata_copies++;
	return 0;
}

/* Behind a blank page nothing was written, or its erase had begun: then that was done before. */
static void pass_blank(struct yaffs_device *dev)
{
	dev->gc.page = dev->pages_per_block - 1;
}

int yaffs_marks_pass(struct yaffs_device *dev, u32 chunk)
{
	const struct yaffs_block *b = &dev->blocks[dev->gc.block];
	u32 *passed = &dev->gc.passed[dev->gc.page];
	struct yaffs_tags tags;
	int err = yaffs_nand_read(dev, chunk, NULL, &tags);

	if (!err && !tags.used && !b->pages_in_use)
		pass_blank(dev);
	if (err || !tags.used || tags.seq != b->seq)
		return 0;
	if (tags.is_index ||
	    (!tags.chunk_id && !yaffs_is_grave(tags.parent_id)))
		*passed = tags.obj_id;
	else if (!tags.chunk_id && tags.parent_id == YAFFS_ID_DELETED &&
		 was_passed(dev, tags.obj_id) && !is_there(dev, tags.obj_id))
		return write_anew(dev, chunk);
	return 0;
}
