/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Faults of the chip, all drawn from the seed: see faults.c for the model.
 */
#ifndef VNAND_FAULTS_H
#define VNAND_FAULTS_H

#include "params.h"

/* Most bit errors of one ECC step that are told apart; more change nothing. */
#define VNAND_MAX_BITFLIPS 64

/**
 * vnand_hash() - a number for a place and an occasion
 * @seed: seed of the chip
 * @kind: what is drawn
 * @a, @b, @c: the place and the occasion
 *
 * Return: 64 bits, uniform, a pure function of its arguments.
 */
u64 vnand_hash(u64 seed, u32 kind, u64 a, u64 b, u64 c);

/* Kinds of draws. */
enum {
	VNAND_DRAW_FACTORY_BAD = 1,
	VNAND_DRAW_PROGRAM_FAIL,
	VNAND_DRAW_ERASE_FAIL,
	VNAND_DRAW_ENDURANCE,
	VNAND_DRAW_BIT_COUNT,
	VNAND_DRAW_BIT_PLACE,
};

/* Does the program number @nth of page @page of @block in its life @erases fail? */
bool vnand_program_fails(const struct vnand_params *p, u32 block, u32 page,
			 u32 erases, u32 nth);

/* Does erase number @erases of @block fail (at random, or because it is worn)? */
bool vnand_erase_fails(const struct vnand_params *p, u32 block, u32 erases);

/**
 * struct vnand_age - what bit errors of a block depend on
 * @erases: its erase count, with those before the contents began
 * @reads: page reads since its erase
 * @shelf_hours: hours without power since the first program after its erase
 */
struct vnand_age {
	u32 erases;
	u32 reads;
	u32 shelf_hours;
};

/* Is bit-error simulation on at all? */
bool vnand_has_bitflips(const struct vnand_params *p);

/**
 * vnand_bitflips() - wrong bits of one ECC step
 * @p: the chip
 * @block, @page, @step: where
 * @age: what its block has been through
 * @place: filled with the bit numbers within the step (0 is bit 0 of byte 0)
 *
 * For a given programmed page the set of wrong bits only grows, with reads and with
 * hours.
 *
 * Return: how many, at most VNAND_MAX_BITFLIPS.
 */
u32 vnand_bitflips(const struct vnand_params *p, u32 block, u32 page, u32 step,
		   const struct vnand_age *age, u32 *place);

/* exp(-@x) in units of 2^-60, for @x in units of 2^-32; exposed for its test. */
u64 vnand_exp_neg(u64 x);

/* Smallest k with P(Poisson(@mean) <= k) > @u; both in units of 2^-32. */
u32 vnand_poisson(u64 mean, u32 u);

#endif
