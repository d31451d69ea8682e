// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rules of programming. A NAND page can be programmed as a whole or, on SLC
 * chips, in sub-pages, at most NOP times between two erases; MLC chips also
 * want the pages of a block in order. A chip that is used against these rules
 * loses data later, on other chips, or at another temperature, which no test on
 * a board shows: so they are checked here at every program.
 *
 * Reading a page that was never programmed is not a violation: JFFS2 and UBI do
 * so on purpose to find free space. It is counted (reads_erased).
 */

#include "rules.h"

const char * const vnand_violation_name[VNAND_VIOLATIONS] = {
	[VNAND_OK] = "none",
	[VNAND_SUBPAGE_TWICE] = "subpage_programmed_twice",
	[VNAND_PAGE_TOO_OFTEN] = "page_programmed_too_often",
	[VNAND_OUT_OF_ORDER] = "page_out_of_order",
	[VNAND_BAD_BLOCK] = "bad_block_used",
};

enum vnand_violation
vnand_check_program(const struct vnand_params *p,
		    const struct vnand_page_state *page, u32 page_no,
		    u32 next_page, bool bad, u32 subpages)
{
	if (bad)
		return VNAND_BAD_BLOCK;
	if (page->subpages & subpages)
		return VNAND_SUBPAGE_TWICE;
	if (p->nop && page->programs >= p->nop)
		return VNAND_PAGE_TOO_OFTEN;
	/* The page programmed last may be continued, one before it may not. */
	if (p->ordered && page_no + 1 < next_page)
		return VNAND_OUT_OF_ORDER;
	return VNAND_OK;
}
