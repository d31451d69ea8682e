/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The chip: a vnand of this program's own, and images on it. The chip's rules hold
 * for this program too: a block is erased before its pages are written in ascending
 * order, and an erased page is not written.
 *
 * Only blocks that differ are written. What the file system did to the others is
 * known from the chip's counters of erases and programs.
 */
#ifndef FSFUZZ_FLASH_H
#define FSFUZZ_FLASH_H

#include "image.h"

struct flash {
	const char *module;	/* vnand's file */
	const char *chip;	/* its parameter chip= */
	const char *faults;	/* more of it, or empty: then writes may fail */
	char name[32];		/* of the chip in /proc/vnand */
	const char *mtd;	/* name of the MTD device */
	int fd, number;		/* of the MTD device */
	struct geometry g;
	struct image now;	/* what the blocks that are @known hold */
	struct block_state *block;
};

/* Loads the chip, and fills in the geometry, except for the place of tags. */
void flash_load(struct flash *f, const char *module, const char *chip,
		const char *mtd);
void flash_unload(struct flash *f);
void flash_read(struct flash *f, struct image *image);
void flash_write(struct flash *f, const struct image *image);
/*
 * Replaces the chip by a new one that has faults, drawn with @seed. What is written
 * to it afterwards may not be what is there.
 */
void flash_faulty(struct flash *f, const char *faults, u64 seed);
/*
 * After the file system has used the chip: says how often it broke a rule of the
 * chip. If it did, or retired a block, the chip is replaced by a new one.
 */
unsigned int flash_inspect(struct flash *f);

#endif
