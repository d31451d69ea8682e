// SPDX-License-Identifier: GPL-2.0-only
/*
 * params.c - see params.h.
 */
#include <stddef.h>

#include "plan/content_keys.h"
#include "workloads/micro/params.h"
#include "workloads/micro/pattern.h"

const char *const micro_kind_names[] = {
	[MICRO_SEQUENTIAL_READ] = "sequential-read",
	[MICRO_RANDOM_READ] = "random-read",
	[MICRO_SEQUENTIAL_WRITE] = "sequential-write",
	[MICRO_RANDOM_WRITE] = "random-write",
	NULL,
};

const char *const micro_random_names[] = {
	[MICRO_SHUFFLE] = "shuffle",
	[MICRO_UNIFORM] = "uniform",
	NULL,
};

const char *const micro_cache_names[] = {
	[MICRO_CACHE_DROP] = "drop",
	[MICRO_CACHE_BYPASS] = "bypass",
	[MICRO_CACHE_KEEP] = "keep",
	NULL,
};

void micro_params_read(struct micro_params *params,
		       const struct plan_step *step)
{
	int64_t mix = step_number(step, "mix_pattern");

	*params = (struct micro_params) {
		.dir = step_text(step, "dir"),
		.kind = (enum micro_kind)step_number(step, "pattern"),
		.request_bytes = (uint64_t)step_number(step, "request_bytes"),
		.volume_bytes = (uint64_t)step_number(step, "volume_bytes"),
		.file_bytes = (uint64_t)step_number(step, "file_bytes"),
		.existing = step_number(step, "existing"),
		.limit = step_number(step, "limit"),
		.remove = step_number(step, "remove"),
		.until_full = step_number(step, "until_full"),
		.settle_ms = (uint64_t)step_number(step, "settle_ms"),
		.random = (enum micro_random)step_number(step, "random"),
		.shift_bytes = (uint64_t)step_number(step, "shift_bytes"),
		.target_bytes = (uint64_t)step_number(step, "target_bytes"),
		.partitions = (uint64_t)step_number(step, "partitions"),
		.increment = step_number(step, "increment"),
		.parallel = (uint32_t)step_number(step, "parallel"),
		.mix = mix >= 0,
		.mix_kind = mix < 0 ? 0 : (enum micro_kind)mix,
		.mix_ratio = (uint64_t)step_number(step, "mix_ratio"),
		.pause_us = (uint64_t)step_number(step, "pause_us"),
		.burst = (uint64_t)step_number(step, "burst"),
		.cache = (enum micro_cache)step_number(step, "cache"),
		.fsync_every = (uint64_t)step_number(step, "fsync_every"),
		.contents = content_choice_of(step, CONTENT_RANDOM),
		.seed = (uint64_t)step_number(step, "seed"),
	};
	if (!params->file_bytes)
		params->file_bytes = params->volume_bytes;
}

static int check_order(const struct micro_params *params,
		       struct ffs_error *error)
{
	bool ordered = params->partitions != 1 || params->increment != 1;

	if (ordered && micro_is_random(params->kind) &&
	    (!params->mix || micro_is_random(params->mix_kind)))
		return ffs_fail(error, 0,
			"partitions and increment order the requests of a sequential pattern, and pattern=%s is random; leave both at 1, or choose a sequential pattern",
			micro_kind_names[params->kind]);
	if (params->partitions != 1 && params->increment != 1)
		return ffs_fail(error, 0,
			"partitions and increment are two orders for the same requests; leave one of them at 1");
	return 0;
}

static int check_streams(const struct micro_params *params,
			 struct ffs_error *error)
{
	if (params->mix && params->mix_kind == params->kind)
		return ffs_fail(error, 0,
			"mix_pattern=%s is the pattern itself; name another, or leave it empty",
			micro_kind_names[params->kind]);
	if (params->mix && params->parallel > 1)
		return ffs_fail(error, 0,
			"mix_pattern needs parallel=1: a mix is one process with two patterns; leave one of them out");
	if (!params->existing && (micro_reads(params->kind) ||
	    (params->mix && micro_reads(params->mix_kind))))
		return ffs_fail(error, 0,
			"reads need a file that is there: set existing=1, and let a step prepare with test_file=1 write it");
	return 0;
}

int micro_params_check(const struct micro_params *params,
		       struct ffs_error *error)
{
	struct pattern patterns[MICRO_STREAMS_MAX];
	uint64_t requests = params->volume_bytes / params->request_bytes;
	uint64_t file_bytes = params->existing ? params->target_bytes :
						 params->file_bytes;

	if (check_order(params, error) || check_streams(params, error) ||
	    content_choice_check(&params->contents, error))
		return -1;
	if (params->until_full && (params->existing || params->mix ||
				   micro_reads(params->kind)))
		return ffs_fail(error, 0,
			"until_full=1 is for writes to a new file: set existing=0, a pattern that writes, and no mix_pattern");
	if (requests > MICRO_REQUESTS_MAX)
		return ffs_fail(error, 0,
			"volume_bytes / request_bytes is %llu requests, and %u can be recorded; lower volume_bytes or raise request_bytes",
			(unsigned long long)requests, MICRO_REQUESTS_MAX);
	if (!requests)
		return ffs_fail(error, 0,
			"volume_bytes=%llu is less than one request of %llu bytes; raise it, or lower request_bytes",
			(unsigned long long)params->volume_bytes,
			(unsigned long long)params->request_bytes);
	if (params->target_bytes > file_bytes)
		return ffs_fail(error, 0,
			"target_bytes=%llu is larger than the file of %llu bytes; lower it, or raise file_bytes",
			(unsigned long long)params->target_bytes,
			(unsigned long long)file_bytes);
	/* The size of a file that exists is yet to be seen. */
	if (!file_bytes)
		return 0;
	return pattern_layout(params, file_bytes, params->volume_bytes,
			      patterns, error) < 0 ? -1 : 0;
}
