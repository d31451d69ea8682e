// SPDX-License-Identifier: GPL-2.0-only
/*
 * flash.c - see flash.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <mtd/mtd-user.h>

#include "flash.h"

/* What the test expects, too: a linear congruential generator (Knuth). */
static void pattern(uint8_t *to, uint32_t bytes, uint32_t seed)
{
	uint32_t i, state = seed * 2654435761U + 1;

	for (i = 0; i < bytes; i++) {
		state = state * 1664525U + 1013904223U;
		to[i] = (uint8_t)(state >> 24);
	}
}

int flash_open(struct flash *flash, const char *path)
{
	struct mtd_info_user mtd;

	flash->fd = open(path, O_RDWR | O_CLOEXEC);
	flash->raw_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (flash->fd < 0 || flash->raw_fd < 0 ||
	    ioctl(flash->fd, MEMGETINFO, &mtd))
		return errno;
	flash->is_nor = mtd.type == MTD_NORFLASH;
	if (!flash->is_nor &&
	    ioctl(flash->raw_fd, MTDFILEMODE, MTD_FILE_MODE_RAW))
		return errno;
	if (mtd.writesize > FLASH_PAGE_MAX || mtd.oobsize > FLASH_OOB_MAX)
		return EFBIG;
	flash->page_bytes = flash->is_nor ? FLASH_NOR_PAGE : mtd.writesize;
	flash->oob_bytes = mtd.oobsize;
	flash->block_bytes = mtd.erasesize;
	return 0;
}

int flash_erase(const struct flash *flash, uint32_t block)
{
	struct erase_info_user range = { block * flash->block_bytes,
					 flash->block_bytes };

	return ioctl(flash->fd, MEMERASE, &range) ? errno : 0;
}

int flash_mark(const struct flash *flash, uint32_t block)
{
	int64_t at = (int64_t)block * flash->block_bytes;

	return ioctl(flash->fd, MEMSETBADBLOCK, &at) ? errno : 0;
}

int flash_program(const struct flash *flash, uint32_t page, uint32_t column,
		  uint32_t bytes, int with_oob, uint32_t seed)
{
	uint8_t data[FLASH_PAGE_MAX], oob[FLASH_OOB_MAX];
	struct mtd_write_req request = {
		.start = (uint64_t)page * flash->page_bytes + column,
		.len = bytes,
		.ooblen = with_oob ? flash->oob_bytes : 0,
		.usr_data = bytes ? (uintptr_t)data : 0,
		.usr_oob = with_oob ? (uintptr_t)oob : 0,
		.mode = MTD_OPS_PLACE_OOB,
	};

	pattern(data, bytes, seed);
	if (flash->is_nor)
		return pwrite(flash->fd, data, bytes, (off_t)request.start) !=
		       (ssize_t)bytes ? errno : 0;
	pattern(oob, flash->oob_bytes, seed + 1000);
	/* The mark of a bad block is no part of the contents. */
	oob[0] = 0xff;
	oob[1] = 0xff;
	return ioctl(flash->fd, MEMWRITE, &request) ? errno : 0;
}

int flash_read(const struct flash *flash, uint32_t page,
	       struct flash_read *read)
{
	off_t at = (off_t)page * flash->page_bytes;
	struct mtd_oob_buf oob = { (uint32_t)at, flash->oob_bytes, read->oob };
	struct mtd_ecc_stats before, after;

	if (ioctl(flash->fd, ECCGETSTATS, &before))
		return errno;
	/* It gives what it read, whatever the ECC says of that. */
	if (pread(flash->fd, read->data, flash->page_bytes, at) !=
	    (ssize_t)flash->page_bytes)
		return errno ? errno : EIO;
	if (ioctl(flash->fd, ECCGETSTATS, &after))
		return errno;
	read->corrected = after.corrected - before.corrected;
	read->failed = after.failed - before.failed;
	if (pread(flash->raw_fd, read->raw, flash->page_bytes, at) !=
	    (ssize_t)flash->page_bytes)
		return errno ? errno : EIO;
	if (flash->is_nor)
		return 0;
	return ioctl(flash->fd, MEMREADOOB, &oob) ? errno : 0;
}

int flash_is_bad(const struct flash *flash, uint32_t block)
{
	int64_t at = (int64_t)block * flash->block_bytes;
	int bad = ioctl(flash->fd, MEMGETBADBLOCK, &at);

	return bad < 0 ? -errno : bad;
}
