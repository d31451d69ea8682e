/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * distribution.h - a number that is constant, or drawn anew each time.
 *
 * Text: constant(N), uniform(LOW,HIGH), normal(MEAN,SD).  The numbers are
 * decimal, not negative, with up to three decimals.  What is drawn is a whole
 * number: rounded to the nearest, cut at 0 and at 2^31.
 *
 * uniform() of whole bounds gives each number of the range, bounds included,
 * the same chance; otherwise each thousandth has the same chance, and is
 * rounded after.  normal() is Marsaglia's polar form of the Box-Muller method
 * (Marsaglia and Bray, "A convenient method for generating normal variables",
 * SIAM Review 6(3), 1964), in integers of fixed point: the logarithm and the
 * root of a C library, and what a compiler makes of floating point, differ in
 * the last bit from machine to machine, and so would rounded draws.  A draw is
 * off by less than 1e-6 standard deviations.
 */
#ifndef FFSAGENT_DISTRIBUTION_H
#define FFSAGENT_DISTRIBUTION_H

#include <stdint.h>

#include "core/error.h"
#include "core/random.h"

#define DISTRIBUTION_MAX ((uint64_t)1 << 31)

enum distribution_kind {
	DISTRIBUTION_CONSTANT,
	DISTRIBUTION_UNIFORM,
	DISTRIBUTION_NORMAL,
};

struct distribution {
	enum distribution_kind kind;
	/* In thousandths: N, LOW or MEAN; HIGH or SD. */
	int64_t first, second;
};

/**
 * distribution_parse() - read the text of a distribution.
 * @key: what is drawn, for the message.
 */
int distribution_parse(struct distribution *distribution, const char *key,
		       const char *text, struct ffs_error *error);

/** distribution_draw() - the next number. */
uint64_t distribution_draw(const struct distribution *distribution,
			   struct rng *rng);

/**
 * normal_draw() - standard normal, in units of 2^-28.
 *
 * No draw is beyond 9.3 standard deviations: 2^-62 is the smallest number
 * whose logarithm is taken.
 */
int64_t normal_draw(struct rng *rng);

#endif
