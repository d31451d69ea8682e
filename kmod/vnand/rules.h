/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rule checker: what a chip's data sheet forbids.
 */
#ifndef VNAND_RULES_H
#define VNAND_RULES_H

#include "params.h"

enum vnand_violation {
	VNAND_OK,
#ifdef VNOR
	VNOR_SETS_BITS,		/* a program that asks for ones where zeros are */
#else
	VNAND_SUBPAGE_TWICE,	/* a sub-page programmed again without an erase */
	VNAND_PAGE_TOO_OFTEN,	/* more partial programs than NOP allows */
	VNAND_OUT_OF_ORDER,	/* a page behind one that is programmed already */
	VNAND_BAD_BLOCK,	/* program or erase of a bad block */
#endif
	VNAND_VIOLATIONS,
};

extern const char * const vnand_violation_name[VNAND_VIOLATIONS];

/**
 * struct vnand_page_state - one page since its last erase
 * @programs: how often it was programmed, up to 255
 * @subpages: bit mask of the sub-pages that were programmed
 * @oob: 1 if its OOB was programmed
 * @torn: 1 if a program of it failed: data and ECC do not belong together
 */
struct vnand_page_state {
	u8 programs;
	u8 subpages;
	u8 oob;
	u8 torn;
};

/**
 * vnand_check_program() - may this program be issued?
 * @p: the chip
 * @page: state of the page
 * @page_no: number of the page in its block
 * @next_page: one behind the highest page of the block that is programmed
 * @bad: the block is bad
 * @subpages: sub-pages to program, a bit mask; 0 for OOB only
 *
 * Return: the first rule broken, or VNAND_OK.
 */
enum vnand_violation
vnand_check_program(const struct vnand_params *p,
		    const struct vnand_page_state *page, u32 page_no,
		    u32 next_page, bool bad, u32 subpages);

#ifdef VNOR
/* Does programming @want over @have ask for a one where there is a zero? */
bool vnor_sets_bits(const u8 *have, const u8 *want, u32 bytes);
#endif

#endif
