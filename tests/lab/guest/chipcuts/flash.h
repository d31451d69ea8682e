/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flash.h - single operations on an MTD device, as its driver carries them out.
 */
#ifndef CHIPCUTS_FLASH_H
#define CHIPCUTS_FLASH_H

#include <stdint.h>

#define FLASH_PAGE_MAX 4096
#define FLASH_OOB_MAX 256
#define FLASH_NOR_PAGE 256	/* of the chips of the tests */

/**
 * struct flash - an MTD device
 * @fd, @raw_fd: the second reads true bits, without ECC
 * @is_nor: there is neither ECC nor OOB area, and MTD's own unit is a byte
 */
struct flash {
	int fd, raw_fd, is_nor;
	uint32_t page_bytes, oob_bytes, block_bytes;
};

/**
 * struct flash_read - what reading a page gave
 * @corrected, @failed: bits that the ECC corrected, and steps that it could not
 */
struct flash_read {
	uint8_t data[FLASH_PAGE_MAX], raw[FLASH_PAGE_MAX], oob[FLASH_OOB_MAX];
	uint32_t corrected, failed;
};

/* Each returns 0 or an errno. */
int flash_open(struct flash *flash, const char *path);
int flash_erase(const struct flash *flash, uint32_t block);
int flash_mark(const struct flash *flash, uint32_t block);

/**
 * flash_program() - one program of @page: @bytes at @column, and the OOB area if
 * it @with_oob; @bytes may be 0 then. What is written is pattern_byte() of @seed.
 */
int flash_program(const struct flash *flash, uint32_t page, uint32_t column,
		  uint32_t bytes, int with_oob, uint32_t seed);
int flash_read(const struct flash *flash, uint32_t page,
	       struct flash_read *read);

/** flash_is_bad() - 1, 0, or a negative errno. */
int flash_is_bad(const struct flash *flash, uint32_t block);

#endif
