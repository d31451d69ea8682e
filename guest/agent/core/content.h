/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * content.h - what is in the files of the micro-benchmark.
 *
 * Random bytes, which no compressor can shorten, and yet a function of (seed,
 * file, generation, number of the 512-byte sector): any piece of a file can be
 * made and checked without the rest, whoever wrote it.  A file is generation 0
 * when it is written first; what overwrites it is generation 1.
 *
 * Each sector is a run of SplitMix64 (Steele, Lea, Flood, "Fast splittable
 * pseudorandom number generators", OOPSLA 2014) from a start of its own:
 * some gigabytes a second, since a benchmark makes all that it writes.
 */
#ifndef FFSAGENT_CONTENT_H
#define FFSAGENT_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTENT_SECTOR_BYTES 512

enum content_file { CONTENT_TEST, CONTENT_VALID, CONTENT_INVALID };

/* The contents of one file in one generation. */
struct content {
	uint64_t key;
};

void content_init(struct content *content, uint64_t seed,
		  enum content_file file, unsigned int generation);

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

#endif
