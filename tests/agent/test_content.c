// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_content.c - contents are what the seed says, wherever one begins to look,
 * and any wrong byte is found.
 */
#include <stdlib.h>
#include <string.h>

#include "core/content.h"
#include "harness.h"

enum { LENGTH = 8192 };

static void any_piece_is_the_same(void)
{
	static const size_t starts[] = { 0, 1, 100, 511, 512, 513, 1000, 4096 };
	static const size_t lengths[] = { 0, 1, 3, 411, 512, 513, 1500, 4096 };
	unsigned char whole[LENGTH], *piece;
	struct content content;
	size_t i, k;

	content_init(&content, 18, CONTENT_TEST, 0);
	content_fill(&content, 0, whole, sizeof(whole));
	for (i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		for (k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++) {
			/* Of exactly that size: a sanitizer watches its end. */
			piece = malloc(lengths[k] ? lengths[k] : 1);
			content_fill(&content, starts[i], piece, lengths[k]);
			CHECKF(!memcmp(piece, whole + starts[i], lengths[k]),
			       "%zu bytes at %zu", lengths[k], starts[i]);
			free(piece);
		}
}

/* Every seed, file and generation has contents of its own. */
static void all_differ(void)
{
	enum { SEEDS = 20, KINDS = SEEDS * 3 * 2, SECTORS = 4 };
	static unsigned char made[KINDS * SECTORS][CONTENT_SECTOR_BYTES];
	size_t n = 0, i, k, equal = 0;
	struct content content;
	int seed, file, generation;

	for (seed = 0; seed < SEEDS; seed++)
		for (file = CONTENT_TEST; file <= CONTENT_INVALID; file++)
			for (generation = 0; generation < 2; generation++) {
				content_init(&content, (uint64_t)seed,
					     (enum content_file)file,
					     (unsigned int)generation);
				content_fill(&content, 0, made[n],
					     SECTORS * CONTENT_SECTOR_BYTES);
				n += SECTORS;
			}
	for (i = 0; i < n; i++)
		for (k = 0; k < i; k++)
			equal += !memcmp(made[i], made[k],
					 CONTENT_SECTOR_BYTES);
	CHECKF(n == KINDS * SECTORS && !equal, "%zu sectors are equal", equal);
}

/* Nothing that a compressor could use: all bytes come equally often. */
static void bytes_are_random(void)
{
	enum { BYTES = 1 << 20 };
	unsigned char *data = malloc(BYTES);
	size_t counts[256] = { 0 }, pairs = 0, i;
	double chi = 0, expected = BYTES / 256.0;
	struct content content;

	content_init(&content, 1, CONTENT_INVALID, 0);
	content_fill(&content, 0, data, BYTES);
	for (i = 0; i < BYTES; i++) {
		counts[data[i]]++;
		pairs += i >= 8 && !memcmp(data + i - 8, data + i - 4, 4);
	}
	for (i = 0; i < 256; i++)
		chi += ((double)counts[i] - expected) *
		       ((double)counts[i] - expected) / expected;
	/* 255 degrees of freedom: mean 255, standard deviation 22.6. */
	CHECKF(chi > 140 && chi < 370, "chi squared %f", chi);
	CHECKF(pairs < 3, "%zu repetitions", pairs);
	free(data);
}

static void wrong_bytes_are_found(void)
{
	struct content generations[2];
	unsigned char data[LENGTH];
	uint64_t offset = 5 * 512 + 100, wrong_at = 0;
	size_t i, missed = 0;

	content_init(&generations[0], 7, CONTENT_TEST, 0);
	content_init(&generations[1], 7, CONTENT_TEST, 1);
	for (i = 0; i < 2; i++) {
		content_fill(&generations[i], offset, data, LENGTH);
		CHECK(content_check(generations, offset, data, LENGTH, false,
				    &wrong_at));
		CHECK(content_check(generations, offset, data, LENGTH, true,
				    &wrong_at));
	}
	for (i = 0; i < LENGTH; i += 37) {
		data[i] ^= 0x10;
		missed += content_check(generations, offset, data, LENGTH,
					false, &wrong_at);
		missed += wrong_at != offset + i;
		data[i] ^= 0x10;
	}
	CHECKF(!missed, "%zu changes were missed or misplaced", missed);
	/* The right contents in the wrong place. */
	CHECK(!content_check(generations, offset + 512, data, LENGTH, true,
			     &wrong_at) && wrong_at < offset + 512 + 32);
	memset(data, 0, LENGTH);
	CHECK(!content_check(generations, 0, data, LENGTH, true, &wrong_at));
	CHECK(content_check(generations, offset, data, 0, false, &wrong_at));
}

static void generations_mix_by_sector(void)
{
	struct content generations[2];
	unsigned char data[4 * 512];
	uint64_t wrong_at = 0;

	content_init(&generations[0], 7, CONTENT_TEST, 0);
	content_init(&generations[1], 7, CONTENT_TEST, 1);
	content_fill(&generations[0], 1024, data, sizeof(data));
	content_fill(&generations[1], 1536, data + 512, 512);
	CHECK(content_check(generations, 1024, data, sizeof(data), false,
			    &wrong_at));
	/* A sector that was written by halves is torn, unless requests are. */
	content_fill(&generations[1], 1024 + 3 * 512, data + 3 * 512, 200);
	CHECK(!content_check(generations, 1024, data, sizeof(data), false,
			     &wrong_at));
	CHECK(wrong_at == 1024 + 3 * 512 + 200);
	CHECK(content_check(generations, 1024, data, sizeof(data), true,
			    &wrong_at));
}

void test_content(void)
{
	any_piece_is_the_same();
	all_differ();
	bytes_are_random();
	wrong_bytes_are_found();
	generations_mix_by_sector();
}
