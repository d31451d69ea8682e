// SPDX-License-Identifier: GPL-2.0-only
/*
 * Segregated layout: summaries of metadata blocks say which objects there are (format/ids.c).
 * The newest ones together say it of all; what is older than each of them may be erased in
 * any order, since no mark of a deleted object in it is needed any more. They themselves
 * stay until newer ones are written, or until nothing is left that they void.
 */

#include "alloc.h"

static u32 parts(const struct yaffs_device *dev)
{
	return DIV_ROUND_UP(dev->ids.end, dev->ids.per_part);
}

static u32 seq_of(const struct yaffs_device *dev, u32 part)
{
	u32 block = dev->ids.block[part];

	return block ? dev->blocks[block].seq : 0;
}

void yaffs_ids_settle(struct yaffs_device *dev)
{
	struct yaffs_ids *ids = &dev->ids;
	u32 part;

	ids->settled_seq = 0;
	if (!ids->per_part || parts(dev) > YAFFS_IDS_PARTS)
		return;
	ids->settled_seq = YAFFS_SEQ_END;
	for (part = 0; part < parts(dev); part++)
		ids->settled_seq = min(ids->settled_seq, seq_of(dev, part));
}

void yaffs_ids_note(struct yaffs_device *dev, u32 obj_id)
{
	if (obj_id < dev->ids.end)
		return;
	dev->ids.end = obj_id + 1;
	yaffs_ids_settle(dev);
}

void yaffs_ids_pin(struct yaffs_device *dev, u32 part, u32 block)
{
	u32 *pinned = &dev->ids.block[part];

	if (*pinned)
		dev->blocks[*pinned].pinned = false;
	*pinned = block;
	dev->blocks[block].pinned = true;
	yaffs_ids_settle(dev);
}

/* The part that was written the longest ago. */
static u32 next_part(const struct yaffs_device *dev)
{
	u32 n = min_t(u32, parts(dev), YAFFS_IDS_PARTS), part, oldest = 0;

	for (part = 1; part < n; part++)
		if (seq_of(dev, part) < seq_of(dev, oldest))
			oldest = part;
	return oldest;
}

u32 yaffs_ids_fill(struct yaffs_device *dev, u8 *to)
{
	u32 per_part = dev->ids.per_part, part = next_part(dev);
	u8 *bits = to + sizeof(struct yaffs_ids_media);

	if (dev->ids.bits[part])
		memcpy(bits, dev->ids.bits[part], per_part / 8);
	else
		memset(bits, 0, per_part / 8);
	yaffs_ids_pack(part * per_part, per_part, yaffs_data_position(dev), to);
	return part;
}
