// SPDX-License-Identifier: GPL-2.0-only
/*
 * distribution.c - see distribution.h.
 *
 * "Qn" is a number of fixed point with n bits behind the point.
 */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "workloads/tree/distribution.h"

#define THOUSANDTHS 1000
#define LN2_Q28 186065279u
#define LOG_BITS 28

/* --- text ---------------------------------------------------------------- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * A number at *text, which moves behind it.
 *
 * Return: NULL, or what is wrong with it.
 */
static const char *parse_number(const char **text, int64_t *thousandths)
{
	const char *at = *text;
	int64_t number = 0;
	int decimals = 0;

	if (*at == '-')
		return "a number is below 0";
	if (!is_digit(*at))
		return "a number is missing";
	for (; is_digit(*at); at++) {
		number = number * 10 + (*at - '0');
		if (number > (int64_t)DISTRIBUTION_MAX)
			return "a number is above 2147483648";
	}
	if (*at == '.') {
		for (at++; is_digit(*at); at++, decimals++) {
			if (decimals == 3)
				return "a number has more than three decimals";
			number = number * 10 + (*at - '0');
		}
		if (!decimals)
			return "digits are missing behind a point";
	}
	for (; decimals < 3; decimals++)
		number *= 10;
	if (number > (int64_t)DISTRIBUTION_MAX * THOUSANDTHS)
		return "a number is above 2147483648";
	*thousandths = number;
	*text = at;
	return NULL;
}

static const struct {
	const char *name;
	size_t numbers;
	const char *form;
} kinds[] = {
	[DISTRIBUTION_CONSTANT] = { "constant", 1, "constant(N)" },
	[DISTRIBUTION_UNIFORM] = { "uniform", 2, "uniform(LOW,HIGH)" },
	[DISTRIBUTION_NORMAL] = { "normal", 2, "normal(MEAN,SD)" },
};

/* What is between the brackets, and the closing one. */
static const char *parse_numbers(struct distribution *distribution,
				 const char *text)
{
	const char *wrong = parse_number(&text, &distribution->first);

	distribution->second = 0;
	if (!wrong && kinds[distribution->kind].numbers == 2) {
		if (*text++ != ',')
			return "it takes two numbers";
		wrong = parse_number(&text, &distribution->second);
	}
	if (wrong)
		return wrong;
	if (*text == ',')
		return "there are too many numbers";
	if (strcmp(text, ")"))
		return "it must end with ')', right after the last number";
	if (distribution->kind == DISTRIBUTION_UNIFORM &&
	    distribution->first > distribution->second)
		return "LOW is above HIGH; swap them";
	return NULL;
}

int distribution_parse(struct distribution *distribution, const char *key,
		       const char *text, struct ffs_error *error)
{
	size_t length = strcspn(text, "("), i;
	const char *wrong;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strlen(kinds[i].name) == length && text[length] &&
		    !memcmp(kinds[i].name, text, length))
			break;
	if (i == sizeof(kinds) / sizeof(kinds[0]))
		return ffs_fail(error, 0,
			"%s=%.60s is no distribution; write constant(N), uniform(LOW,HIGH) or normal(MEAN,SD)",
			key, text);
	distribution->kind = (enum distribution_kind)i;
	wrong = parse_numbers(distribution, text + length + 1);
	if (wrong)
		return ffs_fail(error, 0, "%s=%.60s: %s; it is %s, for example %s",
				key, text, wrong, kinds[i].form,
				i == DISTRIBUTION_CONSTANT ? "constant(4)" :
				i == DISTRIBUTION_UNIFORM ? "uniform(1,6)" :
				"normal(4,1.5)");
	return 0;
}

/* --- draws --------------------------------------------------------------- */

/* The largest number whose square is not above @value. */
static uint64_t square_root(uint64_t value)
{
	uint64_t root = 0, bit = (uint64_t)1 << 62;

	while (bit > value)
		bit >>= 2;
	for (; bit; bit >>= 2) {
		if (value >= root + bit) {
			value -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return root;
}

/*
 * -ln(@s), @s in Q62 and between 0 and 1, as Q56.  The digits of the binary
 * logarithm come one by one: squaring a number doubles its logarithm.
 */
static uint64_t minus_ln(uint64_t s)
{
	uint64_t halvings = 0, log2 = 0, x;
	int i;

	for (; !(s >> 62); s <<= 1)
		halvings++;
	x = s >> 31;	/* Q31, at least 1 and below 2 */
	for (i = 0; i < LOG_BITS; i++) {
		x = x * x >> 31;
		log2 = log2 << 1 | x >> 32;
		x >>= x >> 32;
	}
	return ((halvings << LOG_BITS) - log2) * LN2_Q28;
}

int64_t normal_draw(struct rng *rng)
{
	uint64_t s, size, root, direction, length;
	int64_t x, y;

	/* A point in the unit circle, in Q31; but not its centre. */
	do {
		uint64_t bits = rng_next(rng);

		x = (int64_t)(bits >> 32) - ((int64_t)1 << 31);
		y = (int64_t)(bits & UINT32_MAX) - ((int64_t)1 << 31);
		s = (uint64_t)(x * x) + (uint64_t)(y * y);
	} while (!s || s >> 62);
	length = square_root(2 * minus_ln(s));	/* Q28 */
	size = (uint64_t)(x < 0 ? -x : x);
	/* Near the centre there are few digits to divide by. */
	for (; !(s >> 60); s <<= 2)
		size <<= 1;
	root = square_root(s);
	direction = (size << 31) / root;	/* Q31, at most 1 */
	length = length * direction >> 31;
	return x < 0 ? -(int64_t)length : (int64_t)length;
}

/* @value * @factor, the factor in Q28, without overflow. */
static int64_t scale(int64_t value, int64_t factor)
{
	int64_t size = factor < 0 ? -factor : factor;
	int64_t high = value >> 20, low = value & ((1 << 20) - 1);
	int64_t product = (high * size >> 8) + (low * size >> 28);

	return factor < 0 ? -product : product;
}

static int64_t draw_uniform(const struct distribution *distribution,
			    struct rng *rng)
{
	uint64_t low = (uint64_t)distribution->first;
	uint64_t high = (uint64_t)distribution->second;

	if (low % THOUSANDTHS || high % THOUSANDTHS)
		return (int64_t)rng_between(rng, low, high);
	return (int64_t)rng_between(rng, low / THOUSANDTHS,
				    high / THOUSANDTHS) * THOUSANDTHS;
}

uint64_t distribution_draw(const struct distribution *distribution,
			   struct rng *rng)
{
	int64_t value = distribution->first;
	uint64_t whole;

	if (distribution->kind == DISTRIBUTION_UNIFORM)
		value = draw_uniform(distribution, rng);
	else if (distribution->kind == DISTRIBUTION_NORMAL)
		value += scale(distribution->second, normal_draw(rng));
	if (value < 0)
		return 0;
	whole = ((uint64_t)value + THOUSANDTHS / 2) / THOUSANDTHS;
	return whole < DISTRIBUTION_MAX ? whole : DISTRIBUTION_MAX;
}
