// SPDX-License-Identifier: GPL-2.0-only
/*
 * Segregated layout: which ids there are, a bit for each, as summaries will say (ids.c). In
 * parts, which are made when an id asks for them: a kilobyte for some thousand objects.
 */

#include "objects.h"

/* The bits of the part that has @id; NULL: ids are not told of. */
static u8 **part_of(struct yaffs_device *dev, u32 id, u32 *index)
{
	u32 part;

	if (!dev->ids.per_part)
		return NULL;
	part = id / dev->ids.per_part;
	*index = id % dev->ids.per_part;
	return part < YAFFS_IDS_PARTS ? &dev->ids.bits[part] : NULL;
}

int yaffs_ids_prepare(struct yaffs_device *dev, u32 id)
{
	u32 index;
	u8 **bits = part_of(dev, id, &index);

	if (!bits || *bits)
		return 0;
	*bits = kzalloc(dev->ids.per_part / 8, GFP_NOFS);
	return *bits ? 0 : -ENOMEM;
}

void yaffs_ids_add(struct yaffs_device *dev, u32 id)
{
	u32 index;
	u8 **bits = part_of(dev, id, &index);

	if (bits && *bits)
		yaffs_ids_set(*bits, index);
}

void yaffs_ids_remove(struct yaffs_device *dev, u32 id)
{
	u32 index;
	u8 **bits = part_of(dev, id, &index);

	if (bits && *bits)
		(*bits)[index / 8] &= ~(1 << (index % 8));
}

void yaffs_ids_clear(struct yaffs_device *dev)
{
	u32 part;

	for (part = 0; part < YAFFS_IDS_PARTS; part++) {
		kfree(dev->ids.bits[part]);
		dev->ids.bits[part] = NULL;
	}
}
