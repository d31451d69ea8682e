/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * device.h - the file system under test: attached, mounted, unmounted, detached,
 * with what each took.
 *
 * It may be a stack of file systems: their mounts are in a list, are made in its
 * order, and undone in the opposite one.  What is tested is the last of them.
 */
#ifndef FFSCRASH_DEVICE_H
#define FFSCRASH_DEVICE_H

#include <mtd/ubi-user.h>
#include <stdbool.h>
#include <stdint.h>

#include "chip/chip.h"
#include "core/calls.h"
#include "core/error.h"

#define LAYERS_MAX 8

/* One mount, as for mount(2); without a type, a directory that has to be there. */
struct layer {
	const char *type;	/* NULL: ->target is made if it is missing */
	const char *source, *target;
	const char *options;	/* "" for none */
	unsigned long flags;
};

struct filesystem {
	struct layer layers[LAYERS_MAX];
	size_t n;
	const char *target;	/* of the last */
	const char *ubi_mtd;	/* the MTD device of UBI, or NULL */
	int vid_hdr_offset, max_beb_per1024;
	int ubi_block;		/* a volume that becomes a block device; -1: none */
};

/* What one step took. */
struct cost {
	int errnum;
	uint64_t ns;
	struct chip_counts counts;
};

/* The tags of the calls of device_mount(). */
enum device_step { DEVICE_BEFORE = 100, DEVICE_ATTACH, DEVICE_ATTACHED,
		   DEVICE_BLOCK, DEVICE_MOUNT, DEVICE_MOUNTED, DEVICE_UNDO };
#define DEVICE_STEPS (DEVICE_UNDO - DEVICE_BEFORE)

struct device {
	struct filesystem fs;
	struct chip chip;
	int ubi_ctrl;		/* -1 without UBI */
	struct ubi_attach_req attach_request;
	int32_t ubi;		/* its number */
	struct ubi_blkcreate_req block_request;
	char block_volume[32];	/* the device of ->fs.ubi_block */
	size_t mounted_layers;	/* by the last device_mount() */
	struct calls calls;
	uint64_t ended_ns[DEVICE_STEPS];	/* of the last of each; 0: none */
	char before[CHIP_COUNTS_BYTES], attached[CHIP_COUNTS_BYTES],
		mounted[CHIP_COUNTS_BYTES];
};

/** device_open() - find everything; @chip is the name of the chip. */
int device_open(struct device *device, const struct filesystem *fs,
		const char *chip, struct ffs_error *error);
void device_close(struct device *device);

/**
 * device_mount() - attach UBI, if it is used, and mount all layers, behind the calls
 * that the caller has put off in ->calls.
 * @attach: of attaching UBI, if it is used.
 * @mounted: of all layers together.
 * @failed_tag: if a call of the caller's failed, or one for the counters, its tag.
 *
 * Nothing is mounted if any of the three has an error.
 *
 * Return: 0 or the errno of that call.
 */
int device_mount(struct device *device, struct cost *attach,
		 struct cost *mounted, uint32_t *failed_tag);

/** device_put_off_unmount() - all layers; before everything else of what is put off. */
void device_put_off_unmount(struct device *device, uint32_t tag);

/** device_put_off_detach() - detach UBI, if it is used. */
void device_put_off_detach(struct device *device, uint32_t tag);

#endif
