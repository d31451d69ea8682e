/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * content.h - what workloads write.
 *
 * - random: any bytes, which no compressor can shorten;
 * - zeros;
 * - printable: random characters of the 95 that ASCII prints, as Postmark's.  An
 *   entropy coder saves a sixth, what looks for repetitions nothing;
 * - text: English words drawn by a Zipf-like law (words.h), with spaces, commas,
 *   stops and line ends.  It compresses as prose does;
 * - compressible: of each sector of 512 bytes, so much at its end is one byte
 *   repeated as the percentage says, the rest is random.  So every compressor
 *   that knows repetitions saves about that share, in pieces of any size.
 *
 * The contents of a file are a function of (its key, the position): any piece can
 * be made and checked without the rest, whoever wrote it.  Workloads with many small
 * pieces cut them from a stock instead, which is made before.
 *
 * Each sector of random bytes is a run of SplitMix64 (Steele, Lea, Flood, "Fast
 * splittable pseudorandom number generators", OOPSLA 2014) from a start of its
 * own: some gigabytes a second, since a benchmark makes all that it writes.  Text
 * begins anew after 4,096 bytes; making it is ten times slower.  Neither allocates.
 */
#ifndef FFSAGENT_CONTENT_H
#define FFSAGENT_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

#define CONTENT_SECTOR_BYTES 512

enum content_kind {
	CONTENT_RANDOM,
	CONTENT_ZEROS,
	CONTENT_PRINTABLE,
	CONTENT_TEXT,
	CONTENT_COMPRESSIBLE,
};

/* The names in plans, by enum content_kind; ends at NULL. */
extern const char *const content_kind_names[];

/* What a plan says of contents; random if it is all zero. */
struct content_choice {
	enum content_kind kind;
	unsigned int saving_percent;	/* CONTENT_COMPRESSIBLE */
};

/** content_choice_check() - find a percentage that has no meaning. */
int content_choice_check(const struct content_choice *choice,
			 struct ffs_error *error);

struct word_table;

/* It makes contents as they were chosen; random if it is all zero. */
struct content_source {
	struct content_choice choice;
	struct word_table *words;	/* CONTENT_TEXT */
};

extern const struct content_source content_random;

/**
 * content_source_init() - allocate and touch what the choice needs: filling costs
 * no page fault later.
 */
int content_source_init(struct content_source *source,
			const struct content_choice *choice,
			struct ffs_error *error);
void content_source_free(struct content_source *source);

/* --- files --------------------------------------------------------------- */

enum content_file { CONTENT_TEST, CONTENT_VALID, CONTENT_INVALID };

/* The contents of one file in one generation. */
struct content {
	const struct content_source *source;
	uint64_t key;
	uint64_t file_bytes;	/* its last sector may be short */
};

/**
 * content_init() - a file of which it is not said how long it will be.
 * @generation: 0 when it is written first; what overwrites it is 1.
 */
void content_init(struct content *content, const struct content_source *source,
		  uint64_t seed, enum content_file file,
		  unsigned int generation);

/** content_fill() - the bytes of the file from @offset on. */
void content_fill(const struct content *content, uint64_t offset,
		  void *buffer, size_t bytes);

/**
 * content_check() - compare what was read from @offset on.
 * @generations: each sector may be of either of these two.
 * @mixed: a sector may be of both, since requests begin or end within it.
 * @wrong_at: where in the file the first wrong byte is.
 *
 * Return: true if all is as it was written.
 */
bool content_check(const struct content generations[2], uint64_t offset,
		   const void *buffer, size_t bytes, bool mixed,
		   uint64_t *wrong_at);

/* --- pieces -------------------------------------------------------------- */

/**
 * content_stock() - fill memory from which pieces are cut, wherever they begin.
 * @piece_bytes: the shortest; it, too, has the share that a compressor saves.
 */
int content_stock(const struct content_choice *choice, uint64_t key,
		  size_t piece_bytes, unsigned char *out, size_t bytes,
		  struct ffs_error *error);

#endif
