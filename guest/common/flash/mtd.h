/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mtd.h - raw flash devices: finding one by name, describing and erasing it.
 *
 * Devices are named as in /proc/mtd, because numbers change with the order in
 * which drivers load.  Limit: of two devices of one name the first is taken.
 */
#ifndef FFSAGENT_MTD_H
#define FFSAGENT_MTD_H

#include <stdint.h>

#include "core/error.h"
#include "core/record.h"

struct mtd_geometry {
	int number;		/* N of /dev/mtdN */
	uint64_t size_bytes, block_bytes, page_bytes;
	uint64_t oob_bytes;	/* of a page; 0 on NOR flash */
};

/** mtd_find() - the number of the MTD device @name, or -1 with @error. */
int mtd_find(const char *name, struct ffs_error *error);

/**
 * mtd_attribute() - a number that sysfs tells of /dev/mtd@number.
 *
 * Return: the number of the file @name, or -1 if there is none.
 */
int64_t mtd_attribute(int number, const char *name);

/** mtd_record() - emit the "mtd" record of device @name. */
int mtd_record(const char *name, struct record_sink *sink,
	       struct ffs_error *error);

/**
 * mtd_geometry_read() - find device @name and its sizes.
 *
 * Return: 0, or -1 with @error, also if a block is not whole pages.
 */
int mtd_geometry_read(struct mtd_geometry *geometry, const char *name,
		      struct ffs_error *error);

/** mtd_open() - open /dev/mtd@number; a descriptor, or -1 with @error. */
int mtd_open(int number, int flags, struct ffs_error *error);

/**
 * mtd_block_is_bad() - whether the block at byte @offset is marked bad.
 *
 * Return: 0 or 1, or -1 with @error.  NOR flash has no bad blocks.
 */
int mtd_block_is_bad(int fd, uint64_t offset, const char *name,
		     struct ffs_error *error);

/** mtd_bad_blocks() - how many blocks of an open device are bad; -1: not known. */
int64_t mtd_bad_blocks(int fd);

/** mtd_erase_block() - erase the block of @length bytes at @offset. */
int mtd_erase_block(int fd, uint64_t offset, uint64_t length, const char *name,
		    struct ffs_error *error);

/** mtd_page_bytes() - the write unit of device @name, 0 if unknown. */
int64_t mtd_page_bytes(const char *name);

/**
 * mtd_erase() - erase every good block of device @name.
 *
 * Bad blocks are skipped.  A block that fails to erase ends the step: the
 * driver has marked it bad, and the report should say so.
 */
int mtd_erase(const char *name, struct ffs_error *error);

#endif
