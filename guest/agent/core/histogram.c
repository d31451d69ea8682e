// SPDX-License-Identifier: GPL-2.0-only
/*
 * histogram.c - the untimed half of the latency histogram; see histogram.h.
 */
#include <string.h>

#include "core/histogram.h"

void histogram_reset(struct histogram *h)
{
	memset(h, 0, sizeof(*h));
	h->min = UINT64_MAX;
}

uint64_t histogram_low(unsigned int index)
{
	unsigned int e;

	if (index < 2 * HISTOGRAM_SUB_BUCKETS)
		return index;
	e = index / HISTOGRAM_SUB_BUCKETS + 6;
	return (uint64_t)(index % HISTOGRAM_SUB_BUCKETS +
			  HISTOGRAM_SUB_BUCKETS) << (e - 7);
}

uint64_t histogram_middle(unsigned int index)
{
	unsigned int e;

	if (index < 2 * HISTOGRAM_SUB_BUCKETS)
		return index;
	e = index / HISTOGRAM_SUB_BUCKETS + 6;
	return histogram_low(index) + ((uint64_t)1 << (e - 7)) / 2;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	unsigned int i;

	for (i = 0; i < HISTOGRAM_BUCKETS; i++)
		into->buckets[i] += from->buckets[i];
	into->count += from->count;
	into->sum += from->sum;
	if (from->min < into->min)
		into->min = from->min;
	if (from->max > into->max)
		into->max = from->max;
}

uint64_t histogram_quantile(const struct histogram *h, unsigned int per_mille)
{
	uint64_t rank = (h->count * per_mille + 999) / 1000;
	uint64_t seen = 0;
	uint64_t value;
	unsigned int i;

	if (!h->count)
		return 0;
	if (!rank)
		rank = 1;
	for (i = 0; i < HISTOGRAM_BUCKETS - 1; i++) {
		seen += h->buckets[i];
		if (seen >= rank)
			break;
	}
	value = histogram_middle(i);
	if (value < h->min)
		return h->min;
	return value > h->max ? h->max : value;
}
