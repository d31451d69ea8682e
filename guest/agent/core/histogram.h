/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * histogram.h - log-linear latency histogram; this file defines the format.
 *
 * A value below 128 has a bucket of its own: index = value.  Above, each power
 * of two is cut into 128 equal buckets: with e = floor(log2(value)),
 *
 *	index = (e - 6) * 128 + (value >> (e - 7)) - 128
 *
 * A bucket of the power e is 2^(e-7) wide and starts at 2^e or above, so its
 * mid-point is within 1/256 (0.4 %) of every value in it.  Any 64-bit value
 * has a bucket; there is no overflow bucket and no configuration.
 *
 * Limit: one bucket counts to 2^32 - 1 (the total is 64 bits).
 */
#ifndef FFSAGENT_HISTOGRAM_H
#define FFSAGENT_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_SUB_BUCKETS 128
#define HISTOGRAM_BUCKETS ((63 - 6) * HISTOGRAM_SUB_BUCKETS + \
			   HISTOGRAM_SUB_BUCKETS)

struct histogram {
	uint64_t count;
	uint64_t sum;
	uint64_t min;
	uint64_t max;
	uint32_t buckets[HISTOGRAM_BUCKETS];
};

/** histogram_index() - the bucket that counts @value. */
static inline unsigned int histogram_index(uint64_t value)
{
	unsigned int e;

	if (value < HISTOGRAM_SUB_BUCKETS)
		return (unsigned int)value;
	e = 63u - (unsigned int)__builtin_clzll(value);
	return (e - 6) * 128 + (unsigned int)(value >> (e - 7)) - 128;
}

/** histogram_add() - count one value.  No allocation, no branch on size. */
static inline void histogram_add(struct histogram *h, uint64_t value)
{
	h->buckets[histogram_index(value)]++;
	h->count++;
	h->sum += value;
	if (value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
}

/** histogram_reset() - forget everything; touches every page of @h. */
void histogram_reset(struct histogram *h);

/** histogram_low() - the smallest value of bucket @index. */
uint64_t histogram_low(unsigned int index);

/** histogram_middle() - the mid-point of bucket @index. */
uint64_t histogram_middle(unsigned int index);

/** histogram_merge() - add the values of @from to @into. */
void histogram_merge(struct histogram *into, const struct histogram *from);

/**
 * histogram_quantile() - the value below which a share of all values lies.
 * @per_mille: 0 to 1000.
 *
 * Return: the mid-point of the bucket of that rank, kept within min and max;
 * 0 for an empty histogram.
 */
uint64_t histogram_quantile(const struct histogram *h, unsigned int per_mille);

#endif
