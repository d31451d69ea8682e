// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fault model.
 *
 * Every draw is a hash of the seed, the place and the occasion. So faults do
 * not depend on the order of operations elsewhere, a run can be repeated, and
 * a snapshot of the chip carries no generator state.
 *
 * Failures. A program or erase fails with a fixed probability, and an erase
 * also when the block has reached its endurance limit (which varies from block to
 * block by up to a tenth). chip.c keeps a block that has failed once failing,
 * as real blocks do, so that a file system has to retire it.
 *
 * Bit errors. Their number in an ECC step is Poisson distributed; the mean is
 * the bits of the step times the raw bit error rate
 *	rber + wear * (erases / endurance)^2 + disturb * reads / 1000
 *	     + retention * (erases / endurance) * shelf_hours / 1000.
 * It is found by inversion from one uniform number per programmed page and
 * step, and the places from a sequence per page and step: as reads and hours
 * grow, more of the same sequence is wrong, and nothing heals until the erase.
 *
 * Retention. Charge leaks from the cells while data lie there, the faster the
 * more the block was cycled. Only the time without power counts (shelf_hours,
 * docs/fault-model.md): that of a guest is seconds. All pages of a block are as
 * old as the first one that was programmed.
 *
 * Limits: no temperature, no difference between pages of a block, and rates are
 * averages over good blocks.
 */

#include "faults.h"

u64 vnand_hash(u64 seed, u32 kind, u64 a, u64 b, u64 c)
{
	const u64 word[4] = { kind, a, b, c };
	u64 z = seed;
	int i;

	/* splitmix64 over the words */
	for (i = 0; i < 4; i++) {
		z += word[i] + 0x9e3779b97f4a7c15ULL;
		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
		z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
		z ^= z >> 31;
	}
	return z;
}

static bool happens(u64 hash, u32 ppm)
{
	return ppm && (hash >> 32) * 1000000 < (u64)ppm << 32;
}

bool vnand_program_fails(const struct vnand_params *p, u32 block, u32 page,
			 u32 erases, u32 nth)
{
	return happens(vnand_hash(p->seed, VNAND_DRAW_PROGRAM_FAIL, block,
				  (u64)page << 32 | nth, erases),
		       p->program_fail_ppm);
}

static u32 endurance_of(const struct vnand_params *p, u32 block)
{
	u32 spread = p->endurance_cycles / 10;
	u64 hash = vnand_hash(p->seed, VNAND_DRAW_ENDURANCE, block, 0, 0);

	if (!spread)
		return p->endurance_cycles;
	return p->endurance_cycles - spread +
	       (u32)(((hash >> 32) * (2ULL * spread + 1)) >> 32);
}

bool vnand_erase_fails(const struct vnand_params *p, u32 block, u32 erases)
{
	if (p->endurance_cycles && erases >= endurance_of(p, block))
		return true;
	return happens(vnand_hash(p->seed, VNAND_DRAW_ERASE_FAIL, block, erases,
				  0),
		       p->erase_fail_ppm);
}

bool vnand_has_bitflips(const struct vnand_params *p)
{
	return p->rber_e12 || p->rber_wear_e12 || p->rber_disturb_e12 ||
	       p->rber_retention_e12;
}

/*
 * Probabilities are in units of 2^-60: exp(-20) still has nine digits, and a sum
 * of them fits 64 bits.
 */
#define ONE		BIT_ULL(60)
#define EXP_NEG_1	1580030169ULL	/* exp(-1) * 2^32 */

u64 vnand_exp_neg(u64 x)
{
	u64 whole = x >> 32, part = x & (BIT_ULL(32) - 1);
	u64 sum = ONE, term = ONE;
	u64 i;

	if (whole > 24)
		return 0;
	/*
	 * exp(part) = sum of part^i / i!, and exp(-part) is its inverse: all
	 * terms are positive, so nothing cancels.
	 */
	for (i = 1; i <= 20; i++) {
		term = vnand_div(vnand_mul_shift32(term, part), (u32)i);
		sum += term;
	}
	sum = vnand_mul_div(ONE, ONE, sum);
	for (i = 0; i < whole; i++)
		sum = vnand_mul_shift32(sum, EXP_NEG_1);
	return sum;
}

u32 vnand_poisson(u64 mean, u32 u)
{
	u64 term = vnand_exp_neg(mean), sum = term;
	u32 k = 0;

	if (!term)
		return VNAND_MAX_BITFLIPS;
	while ((u64)u << 28 >= sum && k < VNAND_MAX_BITFLIPS) {
		k++;
		term = vnand_div(vnand_mul_shift32(term, mean), k);
		sum += term;
	}
	return k;
}

/* The mean number of wrong bits in a step, in units of 2^-32. */
static u64 mean_bitflips(const struct vnand_params *p,
			 const struct vnand_age *age)
{
	u64 rate = p->rber_e12;
	u64 limit = 1000000000000ULL;

	if (p->endurance_cycles && p->rber_wear_e12) {
		u64 wear = vnand_mul_div(p->rber_wear_e12, age->erases,
					 p->endurance_cycles);

		rate += vnand_mul_div(wear, age->erases, p->endurance_cycles);
	}
	rate += vnand_mul_div(p->rber_disturb_e12, age->reads, 1000);
	if (p->endurance_cycles && p->rber_retention_e12) {
		u64 worn = vnand_mul_div(p->rber_retention_e12, age->erases,
					 p->endurance_cycles);

		rate += vnand_mul_div(worn, age->shelf_hours, 1000);
	}
	if (rate > limit)
		rate = limit;
	return vnand_mul_div(rate * 8 * p->ecc_step_bytes, BIT_ULL(32),
			     limit);
}

u32 vnand_bitflips(const struct vnand_params *p, u32 block, u32 page, u32 step,
		   const struct vnand_age *age, u32 *place)
{
	u64 where = (u64)page << 32 | step;
	u64 u = vnand_hash(p->seed, VNAND_DRAW_BIT_COUNT, block, where,
			   age->erases);
	u32 count = vnand_poisson(mean_bitflips(p, age), (u32)(u >> 32));
	u32 i;

	for (i = 0; i < count; i++) {
		u64 hash = vnand_hash(p->seed ^ u, VNAND_DRAW_BIT_PLACE, block,
				      where, i);

		place[i] = (u32)(((hash >> 32) * (8ULL * p->ecc_step_bytes)) >>
				 32);
	}
	return count;
}
