/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * params.h - the keys of the step tiobench (docs/plan-format.md), and what
 * follows from them: where the requests of a phase go.  Pure, no I/O.
 *
 * Each thread has a file of its own, an equal part of file_bytes in whole
 * blocks; what does not divide is left out.
 */
#ifndef FFSAGENT_TIOBENCH_PARAMS_H
#define FFSAGENT_TIOBENCH_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/content.h"
#include "core/error.h"
#include "core/random.h"
#include "plan/plan.h"

#define TIO_THREADS_MAX 64
#define TIO_BLOCK_BYTES_MIN 16
#define TIO_BLOCK_BYTES_MAX (1 << 20)
/* Latencies in full, of all phases together: 8 bytes each. */
#define TIO_FULL_MAX 262144

enum tio_sync { TIO_SYNC_NONE, TIO_SYNC_END };
/* The phases with requests, in their order. */
enum tio_part {
	TIO_WRITE, TIO_RANDOM_WRITE, TIO_READ, TIO_RANDOM_READ, TIO_PARTS,
};

/* The names in plans and records, by the enumerations; they end at NULL. */
extern const char *const tio_sync_names[];
extern const char *const tio_part_names[];

struct tio_params {
	const char *dir;
	uint32_t threads;
	uint64_t file_bytes;	/* of all files together */
	uint64_t random_bytes;	/* of a phase of random requests */
	uint64_t block_bytes;
	enum tio_sync sync;
	struct content_choice contents;
	bool drop_caches;	/* before each of the phases that read */
	bool full;		/* every latency beside the histograms */
	bool remove;		/* the file of invalid data, before the files */
	uint64_t settle_ms;	/* sleep after that */
	uint64_t seed;
};

static inline bool tio_reads(enum tio_part part)
{
	return part >= TIO_READ;
}

static inline bool tio_is_random(enum tio_part part)
{
	return part == TIO_RANDOM_WRITE || part == TIO_RANDOM_READ;
}

/** tio_params_read() - from a parsed step, whose texts it keeps using. */
void tio_params_read(struct tio_params *params, const struct plan_step *step);

/** tio_params_check() - find keys that contradict each other. */
int tio_params_check(const struct tio_params *params, struct ffs_error *error);

/** tio_file_blocks() - blocks in the file of one thread. */
uint64_t tio_file_blocks(const struct tio_params *params);

/** tio_requests() - requests of one thread in a phase. */
uint64_t tio_requests(const struct tio_params *params, enum tio_part part);

/* Where the requests of one thread in one phase go. */
struct tio_places {
	uint64_t next, blocks, block_bytes;
	bool random;
	struct rng rng;
};

/**
 * tio_places_init() - the first request is the next.
 *
 * Random ones go to any block with equal chance, whatever came before; each
 * thread and each phase has a sequence of its own.
 */
void tio_places_init(struct tio_places *places, const struct tio_params *params,
		     enum tio_part part, uint32_t thread);

/** tio_place() - the offset of the next request. */
uint64_t tio_place(struct tio_places *places);

#endif
