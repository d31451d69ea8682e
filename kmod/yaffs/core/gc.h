/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gc.c: garbage collection.
 */
#ifndef YAFFS_GC_H
#define YAFFS_GC_H

#include "device.h"

/* Before each write: collects if space is short. */
void yaffs_gc_before_write(struct yaffs_device *dev);
/* While nobody waits; with a bound one step. Returns whether anything was done. */
bool yaffs_gc_in_background(struct yaffs_device *dev);

#endif
