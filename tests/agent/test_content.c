// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_content.c - contents are what the seed says, wherever one begins to look,
 * and any wrong byte is found.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "core/content.h"
#include "core/random.h"
#include "core/words.h"
#include "harness.h"

enum { LENGTH = 8192 };

static void any_piece_is_the_same(void)
{
	static const size_t starts[] = { 0, 1, 100, 511, 512, 513, 1000, 4096 };
	static const size_t lengths[] = { 0, 1, 3, 411, 512, 513, 1500, 4096 };
	unsigned char whole[LENGTH], *piece;
	struct content content;
	size_t i, k;

	content_init(&content, &content_random, 18, CONTENT_TEST, 0);
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
				content_init(&content, &content_random,
					     (uint64_t)seed, (enum content_file)file,
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

	content_init(&content, &content_random, 1, CONTENT_INVALID, 0);
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

	content_init(&generations[0], &content_random, 7, CONTENT_TEST, 0);
	content_init(&generations[1], &content_random, 7, CONTENT_TEST, 1);
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

	content_init(&generations[0], &content_random, 7, CONTENT_TEST, 0);
	content_init(&generations[1], &content_random, 7, CONTENT_TEST, 1);
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

/* --- kinds --------------------------------------------------------------- */

#define WHOLE 20000

static const struct content_choice choices[] = {
	{ CONTENT_RANDOM, 0 },	     { CONTENT_ZEROS, 0 },
	{ CONTENT_PRINTABLE, 0 },    { CONTENT_TEXT, 0 },
	{ CONTENT_COMPRESSIBLE, 0 }, { CONTENT_COMPRESSIBLE, 50 },
	{ CONTENT_COMPRESSIBLE, 100 },
};

/* Any piece is the same as in the whole. */
static void pieces_of_a_kind(const struct content_choice *choice)
{
	static unsigned char whole[WHOLE], piece[WHOLE], other[WHOLE];
	struct content_source source;
	struct content content, next;
	struct ffs_error error;
	struct rng rng;
	int i;

	if (!CHECK(!content_source_init(&source, choice, &error)))
		return;
	content = (struct content) { &source, 77, WHOLE };
	next = (struct content) { &source, 78, WHOLE };
	content_fill(&content, 0, whole, WHOLE);
	content_fill(&next, 0, other, WHOLE);
	CHECK(!memcmp(whole, other, WHOLE) == (choice->kind == CONTENT_ZEROS));
	rng_seed(&rng, 1);
	for (i = 0; i < 300; i++) {
		size_t start = rng_below(&rng, WHOLE);
		size_t bytes = rng_below(&rng, WHOLE - start + 1);

		/* The sanitizer sees what goes beyond. */
		unsigned char *exact = malloc(bytes ? bytes : 1);

		content_fill(&content, start, exact, bytes);
		memcpy(piece, exact, bytes);
		free(exact);
		CHECKF(!memcmp(piece, whole + start, bytes), "%zu at %zu",
		       bytes, start);
	}
	content_source_free(&source);
}

/* Any wrong byte is found in each kind, and mixed generations are none. */
static void damage_of_a_kind(const struct content_choice *choice)
{
	struct content_source source;
	struct content generations[2];
	struct ffs_error error;
	unsigned char data[LENGTH];
	uint64_t offset = 3 * 512 + 77, wrong_at = 0;
	size_t i, missed = 0;

	if (!CHECK(!content_source_init(&source, choice, &error)))
		return;
	content_init(&generations[0], &source, 7, CONTENT_TEST, 0);
	content_init(&generations[1], &source, 7, CONTENT_TEST, 1);
	content_fill(&generations[0], offset, data, LENGTH);
	content_fill(&generations[1], offset + 100, data + 100, 3000);
	CHECK(content_check(generations, offset, data, LENGTH, true, &wrong_at));
	content_fill(&generations[0], offset, data, LENGTH);
	for (i = 0; i < LENGTH; i += 61) {
		data[i] ^= 0x80;
		missed += content_check(generations, offset, data, LENGTH,
					false, &wrong_at);
		missed += wrong_at != offset + i;
		data[i] ^= 0x80;
	}
	CHECKF(!missed, "%zu changes of %s were missed or misplaced", missed,
	       content_kind_names[choice->kind]);
	content_source_free(&source);
}

static void compressible_has_its_share(void)
{
	static const unsigned int percents[] = { 0, 1, 30, 50, 99, 100 };
	static const size_t sizes[] = { 1, 100, 511, 512, 513, 5000 };
	unsigned char data[5000];
	size_t i, k, at;

	for (i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
		const struct content_source source = {
			.choice = { CONTENT_COMPRESSIBLE, percents[i] },
		};

		for (k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
			size_t same = 0, wanted = sizes[k] * percents[i] / 100;
			const struct content content = { &source, 0x5a, sizes[k] };

			content_fill(&content, 0, data, sizes[k]);
			for (at = 0; at < sizes[k]; at++)
				same += data[at] == 0x5a;
			/* Rounding, and random bytes that are the same. */
			CHECKF(same + 12 >= wanted && same <= wanted + 45,
			       "%zu of %zu bytes at %u %%", same, sizes[k],
			       percents[i]);
		}
	}
}

/* @text: 100,000 bytes and a NUL. */
static void is_text(char *text)
{
	size_t i, words = 0, the = 0, lines = 0;
	char *next = text, *word;

	for (i = 0; i < 100000; i++) {
		bool good = (text[i] >= 'a' && text[i] <= 'z') ||
			    strchr(" ,.\n", text[i]);

		if (!CHECK(good && text[i]))
			break;
		lines += text[i] == '\n';
	}
	while ((word = strsep(&next, " ,.\n"))) {
		words += *word != '\0';
		the += !strcmp(word, "the");
	}
	/* The first of 512: 1 / 3.7 of the sum of 1 / (rank + 2.7), 4.95. */
	CHECKF(the * 1000 / words > 45 && the * 1000 / words < 65,
	       "%zu of %zu words", the, words);
	CHECKF(words > 15000 && words < 25000 && lines > 900 && lines < 1700,
	       "%zu words, %zu lines", words, lines);
}

static void text_is_english(void)
{
	const struct content_choice text = { CONTENT_TEXT, 0 };
	static char data[100001];
	struct content_source source;
	struct content content;
	struct ffs_error error;

	CHECK(!content_source_init(&source, &text, &error));
	content = (struct content) { &source, 5, 100000 };
	content_fill(&content, 0, data, 100000);
	content_source_free(&source);
	is_text(data);
	CHECK(!content_stock(&text, 5, 512, (unsigned char *)data, 100000,
			     &error));
	is_text(data);
}

/* How many of the 256 bytes there are, and how often that which comes most. */
static void kinds_of_stock(void)
{
	enum { BYTES = 100000 };
	static const struct {
		struct content_choice choice;
		size_t piece_bytes, kinds_low, kinds_high, most_low, most_high;
	} stocks[] = {
		{ { CONTENT_RANDOM, 0 }, 512, 256, 256, 390, 550 },
		{ { CONTENT_ZEROS, 0 }, 512, 1, 1, BYTES, BYTES },
		{ { CONTENT_PRINTABLE, 0 }, 512, 95, 95, 1052, 1400 },
		{ { CONTENT_TEXT, 0 }, 512, 26, 30, 10000, 25000 },
		{ { CONTENT_COMPRESSIBLE, 30 }, 512, 256, 256, 29000, 31000 },
		/* A piece of 16 bytes has 16 * 30 / 100 of them. */
		{ { CONTENT_COMPRESSIBLE, 30 }, 16, 256, 256, 25000, 25800 },
		{ { CONTENT_COMPRESSIBLE, 100 }, 512, 1, 1, BYTES, BYTES },
	};
	struct ffs_error error;
	size_t i, k;

	for (i = 0; i < sizeof(stocks) / sizeof(stocks[0]); i++) {
		/* Of exactly that size: a sanitizer watches its end. */
		unsigned char *data = malloc(BYTES);
		size_t counts[256] = { 0 }, kinds = 0, most = 0;

		CHECK(!content_stock(&stocks[i].choice, 9,
				     stocks[i].piece_bytes, data, BYTES,
				     &error));
		for (k = 0; k < BYTES; k++)
			counts[data[k]]++;
		for (k = 0; k < 256; k++) {
			kinds += counts[k] > 0;
			most = counts[k] > most ? counts[k] : most;
		}
		CHECKF(kinds >= stocks[i].kinds_low &&
		       kinds <= stocks[i].kinds_high &&
		       most >= stocks[i].most_low &&
		       most <= stocks[i].most_high,
		       "stock %zu: %zu kinds, one %zu times", i, kinds, most);
		free(data);
	}
}

/*
 * What a seed means must stay what it is, or a file that is kept could not be checked:
 * words of SplitMix64 from a start that seed, file, generation and sector decide.
 */
static void what_a_seed_means(void)
{
	const uint64_t gamma = 0x9e3779b97f4a7c15u;
	const struct content_choice choice = { CONTENT_TEXT, 0 };
	static unsigned char data[4096 + 600], wanted[600];
	struct content_source source;
	uint64_t key = rng_mix(rng_mix(7 + gamma) + CONTENT_VALID + 1), word;
	struct content content;
	struct ffs_error error;
	size_t i;

	key = rng_mix(key + 3 + 1);
	content_init(&content, &content_random, 7, CONTENT_VALID, 3);
	CHECK(content.key == key && content.file_bytes == UINT64_MAX);
	content_fill(&content, 5 * 512, data, 512);
	for (i = 0; i < 64; i++) {
		memcpy(&word, data + 8 * i, 8);
		CHECK(le64toh(word) ==
		      rng_mix(rng_mix(key + 5 * gamma) + (i + 1) * gamma));
	}
	CHECK(!content_source_init(&source, &choice, &error));
	content.source = &source;
	content_fill(&content, 0, data, sizeof(data));
	words_fill(source.words, rng_mix(key + gamma), 0, wanted, 600);
	CHECK(!memcmp(data + 4096, wanted, 600));
	CHECK(!content_stock(&choice, key, 512, data, 600, &error));
	words_fill(source.words, key, 0, wanted, 600);
	CHECK(!memcmp(data, wanted, 600));
	content_source_free(&source);
	CHECK(!source.words);
}

/* Counts the bytes that are not as the kind says. */
static size_t odd_bytes(enum content_kind kind, const unsigned char *data,
			size_t bytes)
{
	size_t odd = 0, i;

	for (i = 0; i < bytes; i++)
		odd += kind == CONTENT_ZEROS ? data[i] != 0 :
					       data[i] < ' ' || data[i] > '~';
	return odd;
}

static void zeros_and_printable(void)
{
	static const enum content_kind kinds[] = { CONTENT_ZEROS, CONTENT_PRINTABLE };
	const struct content any = { &content_random, 3, UINT64_MAX };
	unsigned char data[3000], bytes[3000];
	struct ffs_error error;
	size_t i, k;

	content_fill(&any, 77, bytes, sizeof(bytes));
	for (i = 0; i < 2; i++) {
		const struct content_source source = { .choice = { kinds[i], 0 } };
		const struct content content = { &source, 3, UINT64_MAX };

		content_fill(&content, 77, data, sizeof(data));
		CHECK(!odd_bytes(kinds[i], data, sizeof(data)));
		for (k = 0; kinds[i] == CONTENT_PRINTABLE && k < 3000; k++)
			CHECK(data[k] == ' ' + bytes[k] * 95 / 256);
		CHECK(!content_stock(&source.choice, 3, 512, data, sizeof(data),
				     &error));
		CHECK(!odd_bytes(kinds[i], data, sizeof(data)));
	}
}

/* Of each 512 bytes the last 30 in 100, 153, and of no other. */
static void places_of_the_repeated_byte(void)
{
	const struct content_choice choice = { CONTENT_COMPRESSIBLE, 30 };
	unsigned char data[1024];
	struct ffs_error error;
	size_t i, same = 0;

	CHECK(!content_stock(&choice, 0x1fe, 4096, data, sizeof(data), &error));
	for (i = 0; i < sizeof(data); i++) {
		if (i % 512 >= 512 - 153)
			CHECK(data[i] == 0xfe);
		else
			same += data[i] == 0xfe;
	}
	CHECKF(same < 15, "%zu of 718", same);
}

/* The first byte, and one that only the other generation has. */
static void wrong_first_bytes(void)
{
	struct content generations[2];
	unsigned char data[512], other[512];
	uint64_t wrong_at = 0;

	content_init(&generations[0], &content_random, 7, CONTENT_TEST, 0);
	content_init(&generations[1], &content_random, 7, CONTENT_TEST, 1);
	content_fill(&generations[0], 0, data, 512);
	content_fill(&generations[1], 0, other, 512);
	data[0] = other[0];
	CHECK(content_check(generations, 0, data, 512, true, &wrong_at));
	CHECK(!content_check(generations, 0, data, 512, false, &wrong_at));
	CHECK(wrong_at == 1);
	data[0] ^= 1;
	data[0] ^= data[0] == (other[0] ^ 1) ? 2 : 0;
	CHECK(!content_check(generations, 0, data, 512, true, &wrong_at) &&
	      wrong_at == 0);
	data[0] = other[0];
	data[300] ^= 0x10;
	data[300] ^= data[300] == other[300] ? 0x20 : 0;
	CHECK(!content_check(generations, 0, data, 512, true, &wrong_at) &&
	      wrong_at == 300);
	other[511] ^= 1;
	CHECK(!content_check(generations, 0, other, 512, false, &wrong_at) &&
	      wrong_at == 511);
}

static void a_share_needs_its_kind(void)
{
	struct content_choice choice = { CONTENT_COMPRESSIBLE, 30 };
	struct ffs_error error = { .errnum = -1 };

	CHECK(!content_choice_check(&choice, &error));
	choice.kind = CONTENT_TEXT;
	CHECK(content_choice_check(&choice, &error) && !error.errnum &&
	      strstr(error.message, "not of text"));
	choice.saving_percent = 0;
	CHECK(!content_choice_check(&choice, &error));
}

void test_content(void)
{
	size_t i;

	any_piece_is_the_same();
	all_differ();
	bytes_are_random();
	wrong_bytes_are_found();
	generations_mix_by_sector();
	for (i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		pieces_of_a_kind(&choices[i]);
		damage_of_a_kind(&choices[i]);
	}
	compressible_has_its_share();
	text_is_english();
	kinds_of_stock();
	what_a_seed_means();
	zeros_and_printable();
	places_of_the_repeated_byte();
	wrong_first_bytes();
	a_share_needs_its_kind();
}
