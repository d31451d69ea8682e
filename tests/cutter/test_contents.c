// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "harness.h"
#include "history/contents.h"

void test_contents(void);

/* The first output of SplitMix64 from a state that is the seed. */
static uint64_t splitmix64(uint64_t state)
{
	uint64_t z = state + 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static void first_words(void)
{
	unsigned char bytes[8];
	uint64_t odd = splitmix64(7), even = splitmix64(8);
	int i;

	contents_fill(7, 0, bytes, sizeof(bytes));
	for (i = 0; i < 8; i++)
		CHECK(bytes[i] == (odd >> 8 * i & 255));
	contents_fill(8, 56, bytes, sizeof(bytes));
	for (i = 0; i < 8; i++)
		CHECK(bytes[i] == (even >> 8 * i & 255));
}

/* Any piece is what the whole has there. */
static void pieces(uint64_t seed)
{
	unsigned char whole[700], piece[700];
	size_t from, bytes;

	contents_fill(seed, 1000, whole, sizeof(whole));
	for (from = 0; from < 130; from += 13)
		for (bytes = 0; bytes < 200; bytes += 7) {
			contents_fill(seed, 1000 + from, piece, bytes);
			CHECKF(!memcmp(piece, whole + from, bytes),
			       "%zu from %zu", bytes, from);
		}
}

static void repetition(void)
{
	unsigned char bytes[128];
	int i;

	contents_fill(2, 640, bytes, sizeof(bytes));
	for (i = 8; i < 64; i++)
		CHECK(bytes[i] == bytes[i - 8]);
	CHECK(memcmp(bytes, bytes + 64, 64));
	contents_fill(3, 640, bytes, sizeof(bytes));
	CHECK(memcmp(bytes, bytes + 8, 8));
}

void test_contents(void)
{
	first_words();
	pieces(5);
	pieces(6);
	repetition();
}
