/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A NAND chip in memory, behind the functions of MTD: chip.c. It aborts where a rule of such
 * chips is broken: pages are programmed in order, each once; a bad block is left alone.
 */
#ifndef LOGFS_TEST_CHIP_H
#define LOGFS_TEST_CHIP_H

#include <linux/mtd/mtd.h>

/**
 * struct chip - a chip, and what befalls it
 * @mtd: its sizes
 * @random: decides what fails, and how
 * @fail_program: one of so many programs fails; 0: none does
 * @fail_erase: likewise
 * @correct: one of so many reads finds bits that ECC corrects
 * @endurance: erasures that a block bears; 0: any number
 * @cut_in: programs and erases until the power goes, within the last one; 0: it stays
 * @fail_read: reads until one fails, as that of a driver does; 0: none does
 * @is_off: it is gone: nothing is read and nothing changes
 * @programs: pages
 * @erases: blocks
 * @bytes: contents
 * @pages: enum page_state of each
 * @is_bad: blocks
 * @erased: how often a block was
 */
struct chip {
	struct mtd_info mtd;
	u64 random;
	u32 fail_program;
	u32 fail_erase;
	u32 correct;
	u32 endurance;
	u32 cut_in;
	u32 fail_read;
	bool is_off;
	u64 programs;
	u64 erases;
	u8 *bytes;
	u8 *pages;
	bool *is_bad;
	u32 *erased;
};

void chip_make(struct chip *chip, u32 page_bytes, u32 block_bytes, u32 blocks);
void chip_free(struct chip *chip);
/* A number that two chips have in common if they hold the same. */
u64 chip_digest(const struct chip *chip);
/* ECC gives up on these pages, of which every eighth byte is wrong. */
void chip_tear(struct chip *chip, u64 place, u32 bytes);

#endif
