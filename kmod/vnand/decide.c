// SPDX-License-Identifier: GPL-2.0-only
/*
 * The decisions of an operation: rules, faults, what comes of it, and its time.
 * See decide.h; the faults are those of faults.c, the times those of timing.c.
 */

#include "decide.h"
#include "faults.h"

/* The bytes that cross the bus for this read: the page, or its sub-pages. */
static void transferred(const struct vnand_params *p,
			const struct vnand_request *r, u32 *first, u32 *bytes)
{
	u32 unit = p->subpage_read ? p->page_bytes / p->subpages : p->page_bytes;
	u32 end = r->column + r->data_bytes;

	*first = r->column / unit * unit;
	*bytes = r->data_bytes ? (end + unit - 1) / unit * unit - *first : 0;
}

/* Decides about the bit errors of one ECC step. */
static void decide_step(const struct vnand_params *p, u32 block,
			const struct vnand_request *r,
			const struct vnand_block_facts *facts, u32 step,
			struct vnand_read_decision *d)
{
	const struct vnand_age age = vnand_age_of(facts);
	u32 place[VNAND_MAX_BITFLIPS];
	u32 wrong = vnand_bitflips(p, block, r->page, step, &age, place);

	if (!r->raw && wrong <= p->ecc_strength_bits) {
		if (wrong > d->bitflips)
			d->bitflips = wrong;
		d->corrected += wrong;
		return;
	}
	if (!r->raw && p->ecc_strength_bits)
		d->uncorrectable++;
	d->wrong_steps[step / 64] |= BIT_ULL(step % 64);
}

static void decide_errors(const struct vnand_params *p,
			  const struct vnand_request *r,
			  const struct vnand_page_state *page,
			  const struct vnand_block_facts *block, u32 first,
			  struct vnand_read_decision *d)
{
	u32 last = (first + d->data_bytes - 1) / p->ecc_step_bytes;
	u32 number = r->page / p->pages_per_block;
	u32 step;

	if (!d->erased && vnand_has_bitflips(p))
		for (step = first / p->ecc_step_bytes; step <= last; step++)
			decide_step(p, number, r, block, step, d);
	/*
	 * Half of the data with the ECC of the whole, or without: no step can
	 * be corrected.
	 */
	if (page->torn && !r->raw && p->ecc_strength_bits)
		d->uncorrectable += d->data_bytes / p->ecc_step_bytes;
}

struct vnand_read_decision
vnand_decide_read(const struct vnand_params *p, const struct vnand_request *r,
		  const struct vnand_page_state *page,
		  const struct vnand_block_facts *block, u32 kept_page)
{
	bool partial = r->data_bytes && r->data_bytes < p->page_bytes;
	struct vnand_read_decision d = {
		.erased = !page->programs,
		.served = partial && !r->oob && !r->raw && kept_page == r->page,
		.kept_page = kept_page,
	};
	u32 first;

	transferred(p, r, &first, &d.data_bytes);
	if (r->oob || (r->data_bytes && !p->subpage_read))
		d.oob_bytes = p->oob_bytes;
	if (r->data_bytes)
		decide_errors(p, r, page, block, first, &d);
	if (d.served)
		return d;
	/* As the raw NAND layer: kept when it was read for a part of it. */
	if (!p->subpage_read && !r->raw && r->data_bytes)
		d.kept_page = partial && !r->oob && !d.bitflips &&
			      !d.uncorrectable ? r->page : VNAND_NO_PAGE;
	d.time = vnand_time_read(p, d.data_bytes, d.oob_bytes);
	return d;
}

static u32 subpage_mask(const struct vnand_params *p,
			const struct vnand_request *r)
{
	u32 unit = p->page_bytes / p->subpages;

	return ((1U << (r->data_bytes / unit)) - 1) << (r->column / unit);
}

struct vnand_change
vnand_decide_program(const struct vnand_params *p,
		     const struct vnand_request *r,
		     const struct vnand_page_state *page,
		     const struct vnand_block_facts *block)
{
	u32 number = r->page % p->pages_per_block;
	u32 mask = r->data_bytes ? subpage_mask(p, r) : 0;
	/* The driver moves the whole page, 0xff where nothing is programmed. */
	u32 data_bytes = r->data_bytes ? p->page_bytes : 0;
	struct vnand_change c = {
		.kind = VNAND_PROGRAM,
		.block = r->page / p->pages_per_block,
		.page = r->page,
		.stored_bytes = r->data_bytes,
		.state = *page,
		.next_page = block->next_page,
		.bytes_to_chip = data_bytes + p->oob_bytes,
		.time = vnand_time_program(p, data_bytes, p->oob_bytes),
	};

	c.violation = vnand_check_program(p, page, number, block->next_page,
					  block->bad, mask);
	c.fails = block->failed ||
		  vnand_program_fails(p, c.block, r->page, block->erases,
				      page->programs);
	/* A program that fails leaves the page half done. */
	if (c.fails)
		c.stored_bytes /= 2;
	if (c.state.programs < 255)
		c.state.programs++;
	c.state.subpages |= mask;
	c.state.oob |= r->oob;
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
		.violation = block->bad ? VNAND_BAD_BLOCK : VNAND_OK,
		.fails = fails,
		.next_page = fails ? block->next_page : 0,
		.time = vnand_time_erase(p),
	};
}

struct vnand_change
vnand_decide_mark_bad(const struct vnand_params *p, u32 number,
		      const struct vnand_block_facts *block)
{
	return (struct vnand_change){
		.kind = VNAND_MARK_BAD,
		.block = number,
		.next_page = block->next_page,
		.time = vnand_time_program(p, 0, p->oob_bytes),
	};
}
