/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * params.h - the keys of the step micro (docs/plan-format.md, section 8),
 * and which of them contradict each other.
 *
 * Limits: 500,000 requests (44 MB of the guest's memory), 64 processes.
 */
#ifndef FFSAGENT_MICRO_PARAMS_H
#define FFSAGENT_MICRO_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/content.h"
#include "core/error.h"
#include "plan/plan.h"

#define MICRO_REQUESTS_MAX 500000u
#define MICRO_STREAMS_MAX 64

/* The baselines of uFLIP (Bouganim, Jonsson, Bonnet, CIDR 2009). */
enum micro_kind {
	MICRO_SEQUENTIAL_READ,
	MICRO_RANDOM_READ,
	MICRO_SEQUENTIAL_WRITE,
	MICRO_RANDOM_WRITE,
};

enum micro_random { MICRO_SHUFFLE, MICRO_UNIFORM };
enum micro_cache { MICRO_CACHE_DROP, MICRO_CACHE_BYPASS, MICRO_CACHE_KEEP };

/* The names in plans and records, by the enumerations; they end at NULL. */
extern const char *const micro_kind_names[];
extern const char *const micro_random_names[];
extern const char *const micro_cache_names[];

struct micro_params {
	const char *dir;
	enum micro_kind kind;
	uint64_t request_bytes, volume_bytes;
	uint64_t file_bytes;		/* 0: as volume_bytes */
	bool existing, limit, remove;
	bool until_full;		/* ENOSPC is how it is to end */
	uint64_t settle_ms;
	enum micro_random random;
	uint64_t shift_bytes;
	uint64_t target_bytes;		/* 0: the whole file */
	uint64_t partitions;
	int64_t increment;
	uint32_t parallel;
	bool mix;
	enum micro_kind mix_kind;
	uint64_t mix_ratio;
	uint64_t pause_us, burst;
	enum micro_cache cache;
	uint64_t fsync_every;		/* 0: never */
	struct content_choice contents;
	uint64_t seed;
};

static inline bool micro_reads(enum micro_kind kind)
{
	return kind <= MICRO_RANDOM_READ;
}

static inline bool micro_is_random(enum micro_kind kind)
{
	return kind == MICRO_RANDOM_READ || kind == MICRO_RANDOM_WRITE;
}

/** micro_params_read() - from a parsed step, whose texts it keeps using. */
void micro_params_read(struct micro_params *params,
		       const struct plan_step *step);

/**
 * micro_params_check() - find what cannot work, as far as the keys tell: the
 * size of a file that exists already is not known here.
 */
int micro_params_check(const struct micro_params *params,
		       struct ffs_error *error);

#endif
