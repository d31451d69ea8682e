/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a cut leaves of bits that were to change. Pure, and drawn from a seed.
 */
#ifndef VNAND_CRASH_TEAR_H
#define VNAND_CRASH_TEAR_H

#include "../vnand/portable.h"

/**
 * tear_bits() - some of the bits that were to change have changed
 * @to: what was there; then what is left
 * @target: what it was to become
 * @bytes: of both
 * @seed: how many of them, and which
 *
 * Each bit that differs has changed with one chance, which is drawn as well: a
 * program or an erase that is stopped early has changed few, one that is
 * stopped late nearly all.
 */
void tear_bits(u8 *to, const u8 *target, u32 bytes, u64 seed);

/* A quarter of all bits, wherever they are, is wrong: no ECC corrects that. */
void tear_noise(u8 *to, u32 bytes, u64 seed);

#define TEAR_FLIP_MAX 160u

/**
 * tear_flip() - a number of bits of a buffer are wrong
 * @to: the buffer, @bytes long
 * @count: how many different bits are flipped, at most TEAR_FLIP_MAX; all of
 *	   them if there are fewer
 */
void tear_flip(u8 *to, u32 bytes, u32 count, u64 seed);

/**
 * tear_weaken() - a number of the bits in which two buffers differ
 * @to: the buffer, @bytes long: they become as in @other
 * @count: how many; all of them if there are fewer
 */
void tear_weaken(u8 *to, const u8 *other, u32 bytes, u32 count, u64 seed);

enum tear_page {
	TEAR_BLANK,	/* erased */
	TEAR_GARBAGE,	/* in between */
	TEAR_AS_BEFORE,
	TEAR_ZEROS,	/* all bits programmed */
};

/* What a half erase leaves of page @page of the block; bit 0 of @variant: page 0 is as before. */
enum tear_page tear_page(u64 seed, u64 variant, u32 page);

/**
 * tear_zeroing() - what is left of a page of a NOR sector that was being filled with zeros
 * @seed: where it had come to, and whether it began at the end or at the beginning
 * @pages: of the sector
 * @page: which of them
 *
 * Return: one page of the sector is in between. A quarter of the seeds comes to page
 * 0, where file systems have their headers.
 */
enum tear_page tear_zeroing(u64 seed, u32 pages, u32 page);

/**
 * tear_erasing() - a page of a NOR sector whose bits all were zeros, and become ones
 * @to: the page, @bytes long
 * @seed: how many have; half of the seeds leave fewer than 1 in 256 zeros
 * @page: which page of the sector: the chance of a bit is one for all pages
 */
void tear_erasing(u8 *to, u32 bytes, u64 seed, u32 page);

/**
 * tear_prefix() - how far a program came that wrote sub-pages one by one
 * @variant: which of the ways
 * @units: sub-pages to be programmed
 * @with_oob: and the OOB
 * @oob_done: set: was the OOB programmed?
 *
 * Return: how many sub-pages were; never none with no OOB, nor all of it.
 */
u32 tear_prefix(u64 variant, u32 units, bool with_oob, bool *oob_done);

/* How many ways tear_prefix() has. */
u32 tear_prefixes(u32 units, bool with_oob);

#endif
