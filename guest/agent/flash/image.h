/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * image.h - a file system's image goes onto the flash as a flasher writes it:
 * block by block in order, bad blocks skipped.
 *
 * Two kinds of image.  Of *data* the flasher writes pages without a word about
 * their OOB area, and of each erase block leaves out the trailing pages that
 * are all 0xff: UBI and JFFS2 take those for free and would program them, and
 * on most chips a page programmed with 0xff cannot be programmed again.  An
 * image *with OOB* has each page followed by its OOB area as it is on the chip
 * (YAFFS2's tags; MTD_OPS_PLACE_OOB, a driver may put its ECC over it); of it
 * every page that is all 0xff with its OOB is left out.
 *
 * A block that fails while it is programmed is erased, marked as bad, and its
 * part of the image goes into the next good block, as flashers do.  The flash
 * must have been erased.
 *
 * An image can be written *in place*: each of its erase blocks into the block
 * with the same number, because what is in it names places on the device (as
 * LogFS does).  Then every page that is all 0xff is left out, bad blocks are
 * passed over only where the image has nothing, and one that fails ends the
 * writing.
 *
 * Limit: the image is read through one buffer of an erase block.
 */
#ifndef FFSAGENT_IMAGE_H
#define FFSAGENT_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/record.h"

struct image_written {
	uint64_t image_bytes;	/* of the file */
	uint64_t pages;		/* programmed, those of failed blocks not */
	uint64_t blocks;	/* that the image takes, blank ones too */
	uint64_t bad_blocks_skipped;	/* with those that failed */
};

/**
 * image_write() - write the file @path to the erased device @mtd.
 * @oob: the file has the OOB area of each page behind it.
 * @in_place: block by block into the blocks with the same numbers.
 *
 * Return: 0 with @written, or -1 with @error: ENOSPC if the image is larger
 * than the good blocks (in place: than the device), EINVAL if the file is
 * empty, not whole pages with their OOB, or has something in place of a bad
 * block, all found before the first page is programmed; the errno of a read
 * or a program.
 */
int image_write(const char *mtd, const char *path, bool oob, bool in_place,
		struct image_written *written, struct ffs_error *error);

/** image_record() - emit the "written" record. */
void image_record(const struct image_written *written, const char *path,
		  struct record_sink *sink);

/* --- pure, for image.c and its tests --- */

/** image_is_blank() - whether all of @bytes are 0xff; true for none. */
bool image_is_blank(const uint8_t *data, size_t bytes);

/** image_pages_used() - @pages without the trailing ones that are all 0xff. */
size_t image_pages_used(const uint8_t *data, size_t page_bytes, size_t pages);

#endif
