// SPDX-License-Identifier: GPL-2.0-only
/*
 * params.c - see params.h.
 */
#include <stddef.h>

#include "plan/content_keys.h"
#include "workloads/tiobench/params.h"

const char *const tio_sync_names[] = {
	[TIO_SYNC_NONE] = "none",
	[TIO_SYNC_END] = "end",
	NULL,
};

const char *const tio_part_names[] = {
	[TIO_WRITE] = "write",
	[TIO_RANDOM_WRITE] = "random-write",
	[TIO_READ] = "read",
	[TIO_RANDOM_READ] = "random-read",
	NULL,
};

void tio_params_read(struct tio_params *params, const struct plan_step *step)
{
	*params = (struct tio_params) {
		.dir = step_text(step, "dir"),
		.threads = (uint32_t)step_number(step, "threads"),
		.file_bytes = (uint64_t)step_number(step, "file_bytes"),
		.random_bytes = (uint64_t)step_number(step, "random_bytes"),
		.block_bytes = (uint64_t)step_number(step, "block_bytes"),
		.sync = (enum tio_sync)step_number(step, "sync"),
		.contents = content_choice_of(step, CONTENT_RANDOM),
		.drop_caches = step_number(step, "drop_caches"),
		.full = step_number(step, "full"),
		.remove = step_number(step, "remove"),
		.settle_ms = (uint64_t)step_number(step, "settle_ms"),
		.seed = (uint64_t)step_number(step, "seed"),
	};
}

uint64_t tio_file_blocks(const struct tio_params *params)
{
	return params->file_bytes / params->threads / params->block_bytes;
}

uint64_t tio_requests(const struct tio_params *params, enum tio_part part)
{
	return tio_is_random(part) ?
		       params->random_bytes / params->threads /
			       params->block_bytes :
		       tio_file_blocks(params);
}

int tio_params_check(const struct tio_params *params, struct ffs_error *error)
{
	uint64_t requests = 0;
	int part;

	if (!tio_file_blocks(params) ||
	    !tio_requests(params, TIO_RANDOM_WRITE))
		return ffs_fail(error, 0,
			"file_bytes=%llu and random_bytes=%llu must have room for a block of %llu bytes for each of %u threads; raise them, or lower block_bytes or threads",
			(unsigned long long)params->file_bytes,
			(unsigned long long)params->random_bytes,
			(unsigned long long)params->block_bytes,
			(unsigned int)params->threads);
	if (params->settle_ms && !params->remove)
		return ffs_fail(error, 0,
			"settle_ms=%llu is the sleep after a removal, and remove=0; set remove=1, or settle_ms=0",
			(unsigned long long)params->settle_ms);
	for (part = 0; part < TIO_PARTS; part++)
		requests += params->threads * tio_requests(params, part);
	if (params->full && requests > TIO_FULL_MAX)
		return ffs_fail(error, 0,
			"full=1 keeps every latency, and there are %llu requests, above %u; raise block_bytes, lower the volumes, or set full=0",
			(unsigned long long)requests, TIO_FULL_MAX);
	return content_choice_check(&params->contents, error);
}

void tio_places_init(struct tio_places *places, const struct tio_params *params,
		     enum tio_part part, uint32_t thread)
{
	*places = (struct tio_places) {
		.blocks = tio_file_blocks(params),
		.block_bytes = params->block_bytes,
		.random = tio_is_random(part),
	};
	rng_seed(&places->rng, rng_mix(params->seed) +
		 (uint64_t)thread * TIO_PARTS + (uint64_t)part);
}

uint64_t tio_place(struct tio_places *places)
{
	uint64_t block = places->random ?
				 rng_below(&places->rng, places->blocks) :
				 places->next++;

	return block * places->block_bytes;
}
