/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * marks.c: segregated layout: the collector and headers that say that their object is gone.
 */
#ifndef YAFFS_MARKS_H
#define YAFFS_MARKS_H

#include "device.h"

/* A block is about to be collected: whether it may hold marks that must be elsewhere first. */
void yaffs_marks_begin(struct yaffs_device *dev);
/* The page at hand, a dead one of such a block: is written anew if it is one of them. */
int yaffs_marks_pass(struct yaffs_device *dev, u32 chunk);

#endif
