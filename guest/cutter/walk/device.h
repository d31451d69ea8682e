/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * device.h - the file system under test: attached, mounted, unmounted, detached,
 * with what each took.
 */
#ifndef FFSCRASH_DEVICE_H
#define FFSCRASH_DEVICE_H

#include <mtd/ubi-user.h>
#include <stdbool.h>
#include <stdint.h>

#include "chip/chip.h"
#include "core/calls.h"
#include "core/error.h"

/* Where the file system is, as for mount(2). */
struct filesystem {
	const char *type, *source, *target;
	const char *options;	/* "" for none */
	unsigned long flags;
	const char *ubi_mtd;	/* the MTD device of UBI, or NULL */
	int vid_hdr_offset, max_beb_per1024;
};

/* What one step took. */
struct cost {
	int errnum;
	uint64_t ns;
	struct chip_counts counts;
};

struct device {
	struct filesystem fs;
	struct chip chip;
	int ubi_ctrl;		/* -1 without UBI */
	struct ubi_attach_req attach_request;
	int32_t ubi;		/* its number */
	struct calls calls;
	char before[CHIP_COUNTS_BYTES], attached[CHIP_COUNTS_BYTES],
		mounted[CHIP_COUNTS_BYTES];
};

/* The tags of the calls of device_mount(). */
enum device_step { DEVICE_BEFORE = 100, DEVICE_ATTACH, DEVICE_ATTACHED,
		   DEVICE_MOUNT, DEVICE_MOUNTED };

/** device_open() - find everything; @chip is the name of the chip. */
int device_open(struct device *device, const struct filesystem *fs,
		const char *chip, struct ffs_error *error);
void device_close(struct device *device);

/**
 * device_mount() - attach UBI, if it is used, and mount, behind the calls that the
 * caller has put off in ->calls.
 * @attach: of attaching UBI, if it is used.
 * @failed_tag: if a call of the caller's failed, or one for the counters, its tag.
 *
 * Nothing is mounted if any of the three has an error.
 *
 * Return: 0 or the errno of that call.
 */
int device_mount(struct device *device, struct cost *attach,
		 struct cost *mounted, uint32_t *failed_tag);

/** device_put_off_unmount() - before everything else of what is put off. */
void device_put_off_unmount(struct device *device, uint32_t tag);

/** device_put_off_detach() - detach UBI, if it is used. */
void device_put_off_detach(struct device *device, uint32_t tag);

#endif
