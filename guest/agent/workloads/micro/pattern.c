// SPDX-License-Identifier: GPL-2.0-only
/*
 * pattern.c - see pattern.h.
 */
#include <stdbool.h>

#include "core/random.h"
#include "workloads/micro/pattern.h"

/* --- parts --------------------------------------------------------------- */

/* The part of stream @index, of @part_slots slots before it is shifted. */
static int place(const struct micro_params *params, uint64_t part_slots,
		 uint32_t index, struct pattern *pattern,
		 struct ffs_error *error)
{
	uint64_t request = params->request_bytes;
	bool ordered;

	pattern->random = params->random;
	pattern->request_bytes = request;
	pattern->first_byte = index * part_slots * request +
			      params->shift_bytes;
	pattern->slots = (part_slots * request - params->shift_bytes) / request;
	pattern->seed = rng_mix(params->seed + rng_mix(index + 1));
	ordered = !micro_is_random(pattern->kind);
	pattern->partitions = ordered ? params->partitions : 1;
	pattern->increment = ordered ? params->increment : 1;
	if (pattern->partitions > pattern->slots)
		return ffs_fail(error, 0,
			"partitions=%llu needs as many requests in each part of the target, which has room for %llu; lower partitions or request_bytes, or take a larger file",
			(unsigned long long)pattern->partitions,
			(unsigned long long)pattern->slots);
	if (micro_is_random(pattern->kind) &&
	    pattern->random == MICRO_SHUFFLE &&
	    pattern->slots > PATTERN_SLOTS_MAX)
		return ffs_fail(error, 0,
			"random=shuffle visits %llu places, and at most %u can be shuffled; set random=uniform, a smaller target_bytes or a larger request_bytes",
			(unsigned long long)pattern->slots, PATTERN_SLOTS_MAX);
	return 0;
}

/* How many of @total requests are those of stream @index. */
static uint64_t share(const struct micro_params *params, uint64_t total,
		      uint32_t index, uint32_t streams)
{
	uint64_t mixed;

	if (!params->mix)
		return total / streams + (index < total % streams);
	mixed = total / (params->mix_ratio + 1);
	return index ? mixed : total - mixed;
}

static int check_room(const struct micro_params *params, uint64_t target_bytes,
		      uint64_t volume_bytes, uint32_t streams,
		      struct ffs_error *error)
{
	uint64_t request = params->request_bytes;
	uint64_t part_bytes = target_bytes / request / streams * request;

	if (request > target_bytes)
		return ffs_fail(error, 0,
			"a request of %llu bytes is larger than the target of %llu; lower request_bytes, or raise file_bytes (or target_bytes)",
			(unsigned long long)request,
			(unsigned long long)target_bytes);
	if (!part_bytes)
		return ffs_fail(error, 0,
			"the target of %llu bytes has no room for a request of %llu bytes for each of %u streams; lower request_bytes or parallel, or take a larger target",
			(unsigned long long)target_bytes,
			(unsigned long long)request, streams);
	if (params->shift_bytes >= part_bytes ||
	    part_bytes - params->shift_bytes < request)
		return ffs_fail(error, 0,
			"shift_bytes=%llu leaves no room for a request of %llu bytes in %llu bytes of the target; lower it, or take a larger target",
			(unsigned long long)params->shift_bytes,
			(unsigned long long)request,
			(unsigned long long)part_bytes);
	if (volume_bytes / request < streams)
		return ffs_fail(error, 0,
			"the volume of %llu bytes is less than one request of %llu bytes for each of %u streams; raise volume_bytes or lower request_bytes",
			(unsigned long long)volume_bytes,
			(unsigned long long)request, streams);
	return 0;
}

int pattern_layout(const struct micro_params *params, uint64_t file_bytes,
		   uint64_t volume_bytes, struct pattern *patterns,
		   struct ffs_error *error)
{
	uint32_t streams = params->mix ? 2 : params->parallel, i;
	uint64_t target = params->target_bytes, total;

	if (!target || target > file_bytes)
		target = file_bytes;
	if (check_room(params, target, volume_bytes, streams, error))
		return -1;
	total = volume_bytes / params->request_bytes;
	for (i = 0; i < streams; i++) {
		struct pattern *pattern = &patterns[i];

		pattern->kind = params->mix && i ? params->mix_kind :
						   params->kind;
		pattern->requests = share(params, total, i, streams);
		if (place(params, target / params->request_bytes / streams, i,
			  pattern, error))
			return -1;
	}
	return (int)streams;
}

/* --- orders -------------------------------------------------------------- */

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Slots visited round robin in equal parts; the rest stays unvisited. */
static void fill_partitioned(const struct pattern *p, uint64_t *slots)
{
	uint64_t part_slots = p->slots / p->partitions, i;

	for (i = 0; i < p->requests; i++)
		slots[i] = i % p->partitions * part_slots +
			   i / p->partitions % part_slots;
}

/* Slots visited by an increment other than 0. */
static void fill_strided(const struct pattern *p, uint64_t *slots)
{
	bool backwards = p->increment < 0;
	uint64_t n = p->slots, i;
	uint64_t step = backwards ? 0 - (uint64_t)p->increment :
				    (uint64_t)p->increment;
	uint64_t walks, steps;	/* until all slots are visited; of one walk */

	step %= n;
	walks = greatest_common_divisor(n, step);
	steps = n / walks;
	for (i = 0; i < p->requests; i++) {
		uint64_t walk = i / steps % walks;
		uint64_t slot = (walk + i % steps * step) % n;

		slots[i] = backwards ? n - 1 - slot : slot;
	}
}

static void shuffle(struct rng *rng, uint32_t *slots, uint64_t n)
{
	uint64_t i;

	for (i = n; i > 1; i--) {
		uint64_t j = rng_below(rng, i);
		uint32_t kept = slots[i - 1];

		slots[i - 1] = slots[j];
		slots[j] = kept;
	}
}

static void fill_shuffled(const struct pattern *p, uint64_t *slots,
			  uint32_t *scratch)
{
	struct rng rng;
	uint64_t i;

	rng_seed(&rng, p->seed);
	for (i = 0; i < p->slots; i++)
		scratch[i] = (uint32_t)i;
	for (i = 0; i < p->requests; i++) {
		if (i % p->slots == 0)
			shuffle(&rng, scratch, p->slots);
		slots[i] = scratch[i % p->slots];
	}
}

static void fill_uniform(const struct pattern *p, uint64_t *slots)
{
	struct rng rng;
	uint64_t i;

	rng_seed(&rng, p->seed);
	for (i = 0; i < p->requests; i++)
		slots[i] = rng_below(&rng, p->slots);
}

uint64_t pattern_scratch(const struct pattern *pattern)
{
	return micro_is_random(pattern->kind) &&
	       pattern->random == MICRO_SHUFFLE ? pattern->slots : 0;
}

void pattern_offsets(const struct pattern *pattern, uint64_t *offsets,
		     uint32_t *scratch)
{
	uint64_t i;

	if (pattern_scratch(pattern))
		fill_shuffled(pattern, offsets, scratch);
	else if (micro_is_random(pattern->kind))
		fill_uniform(pattern, offsets);
	else if (pattern->partitions > 1)
		fill_partitioned(pattern, offsets);
	else if (pattern->increment)
		fill_strided(pattern, offsets);
	else
		for (i = 0; i < pattern->requests; i++)
			offsets[i] = 0;
	for (i = 0; i < pattern->requests; i++)
		offsets[i] = pattern->first_byte +
			     offsets[i] * pattern->request_bytes;
}
