// SPDX-License-Identifier: GPL-2.0-only
/*
 * What reading a weak page gives: see place.h.
 *
 * An ECC step with no more wrong bits than the ECC corrects reads as the codeword
 * that was meant, or as all ones if blank is nearer: drivers look for that where
 * the ECC gives up (nand_check_erased_ecc_chunk() in drivers/mtd/nand/raw). Any
 * other is uncorrectable and reads as its true bits. The OOB has no ECC here.
 *
 * Limits: the wrong bits of a cut and those of wear and read disturb (faults.c)
 * are compared with the ECC's strength one by one, not as a sum. ECC bytes are
 * not computed, so they are never torn.
 */

#include "place.h"

#ifdef __KERNEL__
#include <linux/bitops.h>
#else
#define hweight64(word) ((u32)__builtin_popcountll(word))
#endif

u32 vnand_bits_differ(const u8 *a, const u8 *b, u32 bytes)
{
	u32 i, differ = 0;

	for (i = 0; i + 8 <= bytes; i += 8) {
		u64 left, right;

		memcpy(&left, a + i, 8);
		memcpy(&right, b + i, 8);
		differ += hweight64(left ^ right);
	}
	for (; i < bytes; i++)
		differ += hweight64(a[i] ^ b[i]);
	return differ;
}

bool vnand_place_corrects(const struct vnand_params *p,
			  const struct vnand_place *place, u32 boot, u32 step,
			  bool raw)
{
	if (vnand_place_sleeps(place, boot))
		return true;
	return !raw && place->errors[step] <= p->ecc_strength_bits;
}

void vnand_place_decide(const struct vnand_params *p,
			const struct vnand_place *place, u32 boot,
			const struct vnand_request *r,
			struct vnand_read_decision *d)
{
	u32 unit = p->subpage_read ? p->page_bytes / p->subpages : p->page_bytes;
	u32 first = r->column / unit * unit, step, last;

	if (!d->data_bytes || r->raw || !p->ecc_strength_bits ||
	    vnand_place_sleeps(place, boot))
		return;
	last = (first + d->data_bytes - 1) / p->ecc_step_bytes;
	for (step = first / p->ecc_step_bytes; step <= last; step++) {
		u32 errors = place->errors[step];

		if (errors > p->ecc_strength_bits) {
			d->uncorrectable++;
			continue;
		}
		d->corrected += errors;
		if (errors > d->bitflips)
			d->bitflips = errors;
	}
	if (d->kept_page == r->page && (d->bitflips || d->uncorrectable))
		d->kept_page = VNAND_NO_PAGE;
}

void vnand_place_count(const struct vnand_params *p, struct vnand_place *place,
		       const u8 *true_bits, u32 first, u32 last)
{
	u32 step, bytes = p->ecc_step_bytes;

	for (step = first; step <= last; step++)
		place->errors[step] =
			(u16)vnand_bits_differ(place->good + step * bytes,
					       true_bits + step * bytes, bytes);
}

void vnand_place_copy(const struct vnand_params *p,
		      const struct vnand_place *from, struct vnand_place *to)
{
	memcpy(to->errors, from->errors, sizeof(to->errors));
	memcpy(to->good, from->good, p->page_bytes + p->oob_bytes);
	to->page = from->page;
	to->unstable = from->unstable;
	to->boot = from->boot;
}

/*
 * Data that is programmed upon what was good stays what it is: bits only clear.
 * Upon what was not the ECC makes it good, where there is one.
 */
static void program_byte(const struct vnand_params *p,
			 const struct vnand_place *before, u32 at, u8 *good,
			 u8 data)
{
	bool is_new = p->ecc_strength_bits &&
		      before->errors[at / p->ecc_step_bytes];

	good[at] = is_new ? data : good[at] & data;
}

bool vnand_place_program(const struct vnand_params *p,
			 const struct vnand_place *before, u32 column,
			 u32 data_bytes, const u8 *data, const u8 *oob,
			 const u8 *true_bits, struct vnand_place *after)
{
	u32 bytes = p->ecc_step_bytes, steps = p->page_bytes / bytes;
	u32 step, i;
	u8 *good = after->good;
	bool weak = before->unstable;

	vnand_place_copy(p, before, after);
	for (i = 0; data && i < data_bytes; i++)
		program_byte(p, before, column + i, good, data[i]);
	for (i = 0; oob && i < p->oob_bytes; i++)
		good[p->page_bytes + i] &= oob[i];
	vnand_place_count(p, after, true_bits, 0, steps - 1);
	for (step = 0; step < steps; step++)
		weak |= after->errors[step] != 0;
	return weak;
}
