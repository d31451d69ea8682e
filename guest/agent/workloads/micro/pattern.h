/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pattern.h - where the requests of the micro-benchmark go: pure
 * decisions, no I/O.
 *
 * The target is the first part of the file; it is cut into slots of one
 * request.  Processes (parallel) and the two patterns of a mix get equal parts
 * of the target, whole slots, which do not overlap; what does not divide is
 * left unused at the end.  A pattern says in which order the slots of its part
 * are visited:
 *
 * - random: a new random permutation in each pass (shuffle), or any slot at
 *   any time (uniform);
 * - sequential with partitions: the slots are cut into equal parts, visited
 *   round robin, each from its start to its end;
 * - sequential with an increment: from slot to slot by so many, modulo their
 *   number.  The walk is back at its start after N / gcd(increment, N) steps;
 *   the next one then begins one slot on, until all have been visited.  A
 *   negative increment begins at the last slot; 0 stays at the first.
 *
 * Limit: 4 Mi slots for shuffle, whose permutation takes 4 bytes each.
 */
#ifndef FFSAGENT_MICRO_PATTERN_H
#define FFSAGENT_MICRO_PATTERN_H

#include <stdint.h>

#include "core/error.h"
#include "workloads/micro/params.h"

#define PATTERN_SLOTS_MAX (4u << 20)

/* One stream of requests. */
struct pattern {
	enum micro_kind kind;
	enum micro_random random;
	uint64_t request_bytes;
	uint64_t first_byte;		/* offset of its first slot */
	uint64_t slots;
	uint64_t partitions;
	int64_t increment;
	uint64_t seed;
	uint64_t requests;
};

/**
 * pattern_layout() - cut file and volume into the streams of a step.
 * @patterns: [MICRO_STREAMS_MAX], filled in.
 *
 * Return: how many streams there are, or -1 with @error if a part of the
 * target or of the volume would have no room for a request.
 */
int pattern_layout(const struct micro_params *params, uint64_t file_bytes,
		   uint64_t volume_bytes, struct pattern *patterns,
		   struct ffs_error *error);

/** pattern_scratch() - entries of memory that pattern_offsets() needs. */
uint64_t pattern_scratch(const struct pattern *pattern);

/**
 * pattern_offsets() - the offsets of all requests of a stream, in order.
 * @offsets: [->requests], filled in.
 * @scratch: [pattern_scratch()].
 */
void pattern_offsets(const struct pattern *pattern, uint64_t *offsets,
		     uint32_t *scratch);

/** pattern_is_mix_turn() - whether request @index of a mix is the other's. */
static inline int pattern_is_mix_turn(const struct micro_params *params,
				      uint64_t index)
{
	return params->mix &&
	       index % (params->mix_ratio + 1) == params->mix_ratio;
}

#endif
