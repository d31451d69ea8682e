/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From flash to memory at mount, and back: scan.c and recover.c, or checkpoint.c and
 * ckpt_read.c; mount.c is the whole.
 */
#ifndef YAFFS_MOUNT_H
#define YAFFS_MOUNT_H

#include "objects.h"

/* ---- scan.c, recover.c ---- */

int yaffs_scan(struct yaffs_device *dev);
/* After a scan or a checkpoint: links, deleted and lost objects. */
int yaffs_recover_links(struct yaffs_device *dev);
int yaffs_recover(struct yaffs_device *dev);

/* ---- checkpoint.c, ckpt_read.c ---- */

/* Returns 0, or any error: then nothing of it is left, and a scan is due. */
int yaffs_checkpoint_read(struct yaffs_device *dev);
/*
 * Writes one if that is allowed and useful; not doing so is no error. @urgent: even if
 * garbage should be collected first.
 */
int yaffs_checkpoint_write(struct yaffs_device *dev, bool urgent);
/* Before any change of the flash. */
void yaffs_checkpoint_invalidate(struct yaffs_device *dev);

/* ---- mount.c ---- */

struct yaffs_device *yaffs_device_create(struct mtd_info *mtd,
					 const struct yaffs_options *options,
					 const struct yaffs_events *events);
/* Reads the flash; afterwards dev->root is there. */
int yaffs_device_mount(struct yaffs_device *dev, bool read_only);
/* Everything to flash; @checkpoint: and a checkpoint if possible. */
int yaffs_device_sync(struct yaffs_device *dev, bool checkpoint);
/* To read-only: everything is on flash afterwards. To writable: recovers. */
int yaffs_device_set_read_only(struct yaffs_device *dev, bool read_only);
/* Frees memory; what was not synced is lost. */
void yaffs_device_destroy(struct yaffs_device *dev);

#endif
