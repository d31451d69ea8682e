/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ubi.h - UBI devices and volumes through their ioctls, as ubiattach,
 * ubimkvol and ubidetach of mtd-utils do; those need not be on the board.
 */
#ifndef FFSAGENT_UBI_H
#define FFSAGENT_UBI_H

#include <stdint.h>

#include "core/error.h"

/**
 * ubi_attach() - UBI_IOCATT.
 * @mtd: name of the MTD device.
 * @ubi: number of the UBI device to create.
 * @vid_hdr_offset: bytes, 0 for UBI's own choice.
 * @max_beb_per1024: reserve for bad blocks, 0 for UBI's own choice.
 */
int ubi_attach(const char *mtd, int ubi, int vid_hdr_offset,
	       int max_beb_per1024, struct ffs_error *error);

/**
 * ubi_make_volume() - UBI_IOCMKVOL of a dynamic volume.
 * @bytes: its size; PLAN_SIZE_MAX for what UBI reports as available.
 */
int ubi_make_volume(int ubi, const char *name, int volume, int64_t bytes,
		    struct ffs_error *error);

/**
 * ubi_make_block() - UBI_IOCVOLCRBLK: /dev/ubiblock@ubi_@volume, read-only.
 *
 * The kernel removes it when the device is detached.
 */
int ubi_make_block(int ubi, int volume, struct ffs_error *error);

/**
 * ubi_fill_volume() - UBI_IOCVOLUP: the volume holds the file @path, and nothing else.
 */
int ubi_fill_volume(int ubi, int volume, const char *path,
		    struct ffs_error *error);

/** ubi_detach() - UBI_IOCDET; block devices on its volumes go with it. */
int ubi_detach(int ubi, struct ffs_error *error);

#endif
