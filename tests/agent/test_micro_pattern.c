// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_micro_pattern.c - where requests go: each pattern has a property that
 * says what it is, checked over many sizes.
 */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "workloads/micro/pattern.h"

static struct micro_params presets(enum micro_kind kind)
{
	return (struct micro_params) {
		.dir = "/mnt", .kind = kind, .request_bytes = 4096,
		.volume_bytes = 1 << 20, .file_bytes = 1 << 20,
		.existing = true, .limit = true, .partitions = 1,
		.increment = 1, .parallel = 1, .mix_ratio = 1, .burst = 1,
		.seed = 1,
	};
}

/* The offsets of one stream, to be freed; all lie in [low, high). */
static uint64_t *offsets_of(const struct pattern *pattern, uint64_t low,
			    uint64_t high)
{
	uint64_t *offsets = calloc(pattern->requests, sizeof(*offsets));
	uint32_t *scratch = calloc(pattern_scratch(pattern) + 1,
				   sizeof(*scratch));
	uint64_t i, outside = 0;

	pattern_offsets(pattern, offsets, scratch);
	for (i = 0; i < pattern->requests; i++)
		outside += offsets[i] < low ||
			   offsets[i] + pattern->request_bytes > high;
	CHECKF(!outside, "%llu requests outside of their part",
	       (unsigned long long)outside);
	free(scratch);
	return offsets;
}

/* A step of one stream. */
static uint64_t *one_stream(const struct micro_params *params,
			    struct pattern *pattern)
{
	struct pattern patterns[MICRO_STREAMS_MAX];
	struct ffs_error error;
	uint64_t target = params->target_bytes ? params->target_bytes :
						 params->file_bytes;

	if (!CHECKF(pattern_layout(params, params->file_bytes,
				   params->volume_bytes, patterns, &error) == 1,
		    "%s", error.message))
		exit(1);
	*pattern = patterns[0];
	return offsets_of(pattern, params->shift_bytes, target);
}

/* Whether requests [first, first + n) are n different places. */
static bool all_different(const uint64_t *offsets, uint64_t n,
			  uint64_t request_bytes, uint64_t slots)
{
	unsigned char *seen = calloc(slots + 1, 1);
	bool different = true;
	uint64_t i;

	for (i = 0; i < n; i++) {
		uint64_t slot = offsets[i] / request_bytes;

		different &= slot <= slots && !seen[slot];
		if (slot <= slots)
			seen[slot] = 1;
	}
	free(seen);
	return different;
}

static void sequential(void)
{
	struct micro_params params = presets(MICRO_SEQUENTIAL_WRITE);
	struct pattern pattern;
	uint64_t *offsets, i, wrong = 0;

	params.volume_bytes = 3 * params.file_bytes;
	offsets = one_stream(&params, &pattern);
	CHECK(pattern.slots == 256 && pattern.requests == 768);
	for (i = 0; i < pattern.requests; i++)
		wrong += offsets[i] != i * 4096 % (1 << 20);
	CHECK(!wrong);
	free(offsets);
	params.increment = -1;
	offsets = one_stream(&params, &pattern);
	for (i = 0; i < pattern.requests; i++)
		wrong += offsets[i] != (255 - i % 256) * 4096;
	CHECK(!wrong);
	free(offsets);
	params.increment = 0;
	offsets = one_stream(&params, &pattern);
	for (i = 0; i < pattern.requests; i++)
		wrong += offsets[i] != 0;
	CHECK(!wrong);
	free(offsets);
}

/* Each pass covers everything, whatever divides whatever; and it is a stride. */
static void increments(void)
{
	static const int64_t steps[] = {
		1, -1, 2, -2, 3, 7, 8, -8, 16, 31, 32, 60, 64, -64, 100, 1000,
		(int64_t)1 << 31, -((int64_t)1 << 31),
	};
	uint64_t slots, i, k;

	for (slots = 1; slots <= 64; slots++)
		for (k = 0; k < sizeof(steps) / sizeof(steps[0]); k++) {
			struct micro_params params =
				presets(MICRO_SEQUENTIAL_READ);
			struct pattern pattern;
			uint64_t *offsets, jumps = 0;
			int64_t step = steps[k] % (int64_t)slots;

			params.file_bytes = slots * 4096 + 100;
			params.volume_bytes = 2 * slots * 4096;
			params.increment = steps[k];
			offsets = one_stream(&params, &pattern);
			CHECKF(all_different(offsets, slots, 4096, slots) &&
			       !memcmp(offsets, offsets + slots,
				       slots * sizeof(*offsets)),
			       "%llu slots by %lld", (unsigned long long)slots,
			       (long long)steps[k]);
			for (i = 1; i < slots; i++) {
				int64_t move = (int64_t)offsets[i] / 4096 -
					       (int64_t)offsets[i - 1] / 4096;

				jumps += (move - step) % (int64_t)slots != 0;
			}
			/* Only where a walk ends is it another step. */
			CHECKF(jumps < slots && (slots % 2 || steps[k] != 3 ||
						 slots % 3 == 0 || !jumps),
			       "%llu slots by %lld: %llu jumps",
			       (unsigned long long)slots, (long long)steps[k],
			       (unsigned long long)jumps);
			free(offsets);
		}
}

static void stride_that_divides(void)
{
	struct micro_params params = presets(MICRO_SEQUENTIAL_WRITE);
	struct pattern pattern;
	uint64_t *offsets, wrong = 0, i;

	params.increment = 64;	/* of 256 slots: walks of 4 */
	offsets = one_stream(&params, &pattern);
	for (i = 0; i < 256; i++)
		wrong += offsets[i] != (i / 4 + i % 4 * 64) * 4096;
	CHECK(!wrong);
	free(offsets);
	params.increment = -64;
	offsets = one_stream(&params, &pattern);
	for (i = 0; i < 256; i++)
		wrong += offsets[i] != (255 - (i / 4 + i % 4 * 64)) * 4096;
	CHECK(!wrong);
	free(offsets);
}

static void partitions(void)
{
	uint64_t parts, i;

	for (parts = 2; parts <= 256; parts = parts * 2 + parts % 3) {
		struct micro_params params = presets(MICRO_SEQUENTIAL_WRITE);
		struct pattern pattern;
		uint64_t *offsets, in_part = 256 / parts, wrong = 0;

		params.partitions = parts;
		offsets = one_stream(&params, &pattern);
		for (i = 0; i < pattern.requests; i++) {
			uint64_t slot = offsets[i] / 4096;

			wrong += slot / in_part != i % parts;
			wrong += slot % in_part != i / parts % in_part;
		}
		CHECKF(!wrong, "%llu partitions", (unsigned long long)parts);
		CHECK(all_different(offsets, in_part * parts, 4096, 256));
		free(offsets);
	}
}

static void shuffled(void)
{
	uint64_t slots, pass;

	for (slots = 1; slots < 600; slots += slots < 20 ? 1 : 83) {
		struct micro_params params = presets(MICRO_RANDOM_WRITE);
		struct pattern pattern;
		uint64_t *offsets;

		params.request_bytes = 1000;
		params.file_bytes = slots * 1000 + 999;
		params.volume_bytes = 5 * slots * 1000 + slots / 2 * 1000;
		offsets = one_stream(&params, &pattern);
		CHECK(pattern.requests == 5 * slots + slots / 2);
		for (pass = 0; pass < 5; pass++)
			CHECKF(all_different(offsets + pass * slots, slots,
					     1000, slots),
			       "%llu slots, pass %llu",
			       (unsigned long long)slots,
			       (unsigned long long)pass);
		CHECK(all_different(offsets + 5 * slots, slots / 2, 1000,
				    slots));
		/* Another order in each pass, unless there is little choice. */
		CHECK(slots < 20 || memcmp(offsets, offsets + slots,
					   slots * sizeof(*offsets)));
		free(offsets);
	}
}

/* Each of the six orders of three slots comes as often as the others. */
static void shuffles_are_fair(void)
{
	struct micro_params params = presets(MICRO_RANDOM_WRITE);
	uint64_t hits[27] = { 0 }, i;
	struct pattern pattern;
	uint64_t *offsets;

	params.file_bytes = 3 * 4096;
	params.volume_bytes = 6000 * params.file_bytes;
	offsets = one_stream(&params, &pattern);
	for (i = 0; i < pattern.requests; i += 3)
		hits[(offsets[i] * 9 + offsets[i + 1] * 3 + offsets[i + 2]) /
		     4096]++;
	/* Standard deviation 29. */
	CHECK(hits[5] > 850 && hits[7] > 850 && hits[11] > 850 &&
	      hits[15] > 850 && hits[19] > 850 && hits[21] > 850);
	/* And the first pass alone, over seeds. */
	memset(hits, 0, sizeof(hits));
	free(offsets);
	params.volume_bytes = params.file_bytes;
	for (params.seed = 0; params.seed < 600; params.seed++) {
		offsets = one_stream(&params, &pattern);
		hits[offsets[0] / 4096]++;
		hits[3 + offsets[2] / 4096]++;
		free(offsets);
	}
	for (i = 0; i < 6; i++)	/* standard deviation 12 */
		CHECKF(hits[i] > 140 && hits[i] < 260, "%llu",
		       (unsigned long long)hits[i]);
}

static void random_order_is_the_seeds(void)
{
	struct micro_params params = presets(MICRO_RANDOM_READ);
	struct pattern pattern;
	uint64_t *one, *again, *other, hits[256] = { 0 }, i, empty = 0;

	one = one_stream(&params, &pattern);
	again = one_stream(&params, &pattern);
	CHECK(!memcmp(one, again, 256 * sizeof(*one)));
	params.seed = 2;
	other = one_stream(&params, &pattern);
	CHECK(memcmp(one, other, 256 * sizeof(*one)));
	free(one);
	free(again);
	free(other);
	params.random = MICRO_UNIFORM;
	params.volume_bytes = 40 << 20;
	one = one_stream(&params, &pattern);
	for (i = 0; i < pattern.requests; i++)
		hits[one[i] / 4096]++;
	/* 40 expected in each: outside of 12 to 80 is a chance of 1e-6. */
	for (i = 0; i < 256; i++)
		empty += hits[i] < 12 || hits[i] > 80;
	CHECK(!empty && !all_different(one, 256, 4096, 256));
	free(one);
}

static void shift_and_locality(void)
{
	struct micro_params params = presets(MICRO_RANDOM_WRITE);
	struct pattern pattern;
	uint64_t *offsets, i, wrong = 0;

	params.shift_bytes = 512;
	params.target_bytes = 64 << 10;
	offsets = one_stream(&params, &pattern);
	/* One slot less, and all requests go to what is left of the target. */
	CHECK(pattern.slots == 15 && pattern.requests == 256);
	for (i = 0; i < pattern.requests; i++)
		wrong += offsets[i] % 4096 != 512;
	CHECK(!wrong && all_different(offsets, 15, 4096, 16));
	free(offsets);
	params.shift_bytes = 4096;
	offsets = one_stream(&params, &pattern);
	CHECK(pattern.slots == 15);
	free(offsets);
	params.shift_bytes = 0;
	offsets = one_stream(&params, &pattern);
	CHECK(pattern.slots == 16);
	free(offsets);
}

static void parallel_parts(void)
{
	struct pattern patterns[MICRO_STREAMS_MAX];
	struct micro_params params = presets(MICRO_RANDOM_WRITE);
	uint32_t n, i;

	for (n = 1; n <= MICRO_STREAMS_MAX; n++) {
		uint64_t total = 0, part_bytes = 256 / n * 4096ull;
		struct ffs_error error;

		params.parallel = n;
		params.shift_bytes = n % 2 ? 0 : 100;
		params.volume_bytes = 1000 * 4096;
		if (params.shift_bytes && part_bytes < 2 * 4096)
			continue;
		CHECKF(pattern_layout(&params, 1 << 20, params.volume_bytes,
				      patterns, &error) == (int)n, "%s",
		       error.message);
		for (i = 0; i < n; i++) {
			free(offsets_of(&patterns[i], i * part_bytes,
					(i + 1) * part_bytes));
			CHECK(patterns[i].slots ==
			      256 / n - (params.shift_bytes != 0));
			CHECK(patterns[i].requests == 1000 / n ||
			      patterns[i].requests == 1000 / n + 1);
			CHECK(!i || patterns[i].seed != patterns[i - 1].seed);
			total += patterns[i].requests;
		}
		CHECK(total == 1000);
	}
}

static void mixes(void)
{
	uint64_t ratio, i;

	for (ratio = 1; ratio < 300; ratio = ratio * 2 + 1) {
		struct micro_params params = presets(MICRO_SEQUENTIAL_READ);
		struct pattern patterns[MICRO_STREAMS_MAX];
		struct ffs_error error;
		uint64_t turns = 0, longest = 0, run = 0;

		params.mix = true;
		params.mix_kind = MICRO_RANDOM_WRITE;
		params.mix_ratio = ratio;
		CHECK(pattern_layout(&params, (1 << 20) + 5, 1 << 20, patterns,
				     &error) == 2);
		CHECK(patterns[0].kind == MICRO_SEQUENTIAL_READ &&
		      patterns[1].kind == MICRO_RANDOM_WRITE);
		free(offsets_of(&patterns[0], 0, 512 << 10));
		free(offsets_of(&patterns[1], 512 << 10, 1 << 20));
		for (i = 0; i < 256; i++) {
			bool other = pattern_is_mix_turn(&params, i);

			turns += other;
			run = other ? 0 : run + 1;
			longest = run > longest ? run : longest;
		}
		CHECK(patterns[1].requests == turns);
		CHECK(patterns[0].requests == 256 - turns);
		CHECK(longest == (ratio < 256 ? ratio : 256));
	}
}

static void no_room(void)
{
	static const struct {
		struct micro_params change;	/* what is not 0 */
		const char *words;
	} cases[] = {
		{ { .request_bytes = 2 << 20 }, "larger than the target" },
		{ { .target_bytes = 1000 }, "larger than the target" },
		{ { .shift_bytes = 1 << 20 }, "shift_bytes=1048576 leaves" },
		{ { .shift_bytes = (1 << 20) - 4095 }, "leaves no room" },
		{ { .partitions = 257 }, "partitions=257 needs" },
		{ { .volume_bytes = 4095 }, "less than one request" },
		{ { .parallel = 3, .volume_bytes = 8192 }, "each of 3 streams" },
		{ { .parallel = 3, .target_bytes = 8192 }, "each of 3 streams" },
		{ { .request_bytes = 4096, .file_bytes = (uint64_t)1 << 40,
		    .kind = MICRO_RANDOM_READ }, "can be shuffled" },
	};
	struct pattern patterns[MICRO_STREAMS_MAX];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct micro_params params = presets(MICRO_SEQUENTIAL_READ);
		const struct micro_params *c = &cases[i].change;
		struct ffs_error error = { 0 };

		params.kind = c->kind;
		if (c->request_bytes)
			params.request_bytes = c->request_bytes;
		if (c->target_bytes)
			params.target_bytes = c->target_bytes;
		if (c->file_bytes)
			params.file_bytes = c->file_bytes;
		if (c->volume_bytes)
			params.volume_bytes = c->volume_bytes;
		if (c->partitions)
			params.partitions = c->partitions;
		if (c->parallel)
			params.parallel = c->parallel;
		params.shift_bytes = c->shift_bytes;
		CHECKF(pattern_layout(&params, params.file_bytes,
				      params.volume_bytes, patterns,
				      &error) == -1 &&
		       strstr(error.message, cases[i].words),
		       "'%s' instead of '%s'", error.message, cases[i].words);
	}
}

void test_micro_pattern(void)
{
	sequential();
	increments();
	stride_that_divides();
	partitions();
	shuffled();
	shuffles_are_fair();
	random_order_is_the_seeds();
	shift_and_locality();
	parallel_parts();
	mixes();
	no_room();
}
