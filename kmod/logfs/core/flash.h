/* SPDX-License-Identifier: GPL-2.0-only */
/* The only one that speaks to MTD: flash.c. */
#ifndef LOGFS_FLASH_H
#define LOGFS_FLASH_H

#include "device.h"

/* Of logfs_flash_read() and what is like it. */
typedef int logfs_reader(struct logfs_device *dev, u64 place, void *to, u32 bytes);

/*
 * As logfs_flash_read() in logfs.h, of what others will want that is beside it: inodes, dentries
 * and pointers, which are small.
 */
int logfs_flash_read_kept(struct logfs_device *dev, u64 place, void *to, u32 bytes);
/* Programs a write unit. */
int logfs_flash_program(struct logfs_device *dev, u64 place, const u8 *unit);
/* Erases a segment. */
int logfs_flash_erase(struct logfs_device *dev, u32 segno);
/*
 * Nothing but ones in @bytes of whole pages. To know that a write unit was not programmed takes
 * all its pages, for a file may well have a page of ones.
 */
bool logfs_flash_is_erased(struct logfs_device *dev, u64 place, u32 bytes);
/* A segment with one bad erase block is bad. */
bool logfs_flash_is_bad(const struct logfs_device *dev, u32 segno);
/*
 * Sets @dev->n_bad and @dev->n_spare, once: before these are used. A mount does not, for it asks of
 * each erase block, and what a mount does must not grow with the device.
 */
void logfs_flash_count_bad(struct logfs_device *dev);
/* One more is bad: before it is marked, so that it is not counted twice. */
void logfs_flash_note_bad(struct logfs_device *dev);
void logfs_flash_mark_bad(struct logfs_device *dev, u32 segno);
/* From now on nothing can be written. */
void logfs_fail(struct logfs_device *dev, const char *why, int err);

#endif
