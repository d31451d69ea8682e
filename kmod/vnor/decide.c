// SPDX-License-Identifier: GPL-2.0-only
/*
 * The decisions of NOR flash: see ../vnand/decide.h. A page is what one command
 * programs at most; a read is not bound to pages, and is cut into them only to
 * be counted.
 *
 * What vnand keeps as the page in the driver's buffer is here the page that the
 * read under way comes to next: mtd.c forgets it at the begin of each request.
 */

#include "../vnand/decide.h"
#include "timing.h"

struct vnand_read_decision
vnand_decide_read(const struct vnand_params *p, const struct vnand_request *r,
		  const struct vnand_page_state *page,
		  const struct vnand_block_facts *block, u32 kept_page)
{
	bool goes_on = r->page == kept_page;

	(void)block;	/* NAND's bit errors depend on it; here there are none */
	return (struct vnand_read_decision){
		.erased = !page->programs,
		.data_bytes = r->data_bytes,
		.kept_page = r->page + 1,
		.time = goes_on ? vnor_time_read_on(p, r->data_bytes) :
				  vnand_time_read(p, r->data_bytes, 0),
	};
}

struct vnand_change
vnand_decide_program(const struct vnand_params *p,
		     const struct vnand_request *r,
		     const struct vnand_page_state *page,
		     const struct vnand_block_facts *block)
{
	u32 number = r->page % p->pages_per_block;
	struct vnand_change c = {
		.kind = VNAND_PROGRAM,
		.block = r->page / p->pages_per_block,
		.page = r->page,
		.violation = r->sets_bits ? VNOR_SETS_BITS : VNAND_OK,
		.stored_bytes = r->data_bytes,
		.state = *page,
		.next_page = block->next_page,
		.bytes_to_chip = r->data_bytes,
		.time = vnand_time_program(p, r->data_bytes, 0),
	};

	c.fails = block->failed ||
		  vnand_program_fails(p, c.block, r->page, block->erases,
				      page->programs);
	/* A program that fails leaves the page half done. */
	if (c.fails)
		c.stored_bytes /= 2;
	if (c.state.programs < 255)
		c.state.programs++;
	c.state.torn |= c.fails;
	if (number >= c.next_page)
		c.next_page = number + 1;
	return c;
}

struct vnand_change
vnand_decide_erase(const struct vnand_params *p, u32 number,
		   const struct vnand_block_facts *block)
{
	bool fails = block->failed ||
		     vnand_erase_fails(p, number, block->erases);

	return (struct vnand_change){
		.kind = VNAND_ERASE,
		.block = number,
		.violation = VNAND_OK,
		.fails = fails,
		.next_page = fails ? block->next_page : 0,
		.time = vnand_time_erase(p),
	};
}
