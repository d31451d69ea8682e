/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the unit tests and the fuzzers of our file systems share: counted checks, a seeded
 * random sequence, and access to integers at a byte offset, which is how the tests see a
 * format: by the offsets of its description, not by our structures.
 */
#ifndef KMOD_TEST_HARNESS_H
#define KMOD_TEST_HARNESS_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "../portable.h"

#define __maybe_unused __attribute__((__unused__))
#define __aligned(n) __attribute__((__aligned__(n)))

static int passed __maybe_unused, failed __maybe_unused;

static __maybe_unused void check(bool good, const char *format, ...)
{
	va_list args;

	if (good) {
		passed++;
		return;
	}
	failed++;
	printf("FAILED: ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

/* The exit status of a test program. */
static __maybe_unused int report(const char *name)
{
	printf("%s: %d passed, %d failed\n", name, passed, failed);
	return failed != 0;
}

/* SplitMix64: the next number of a sequence that its first state decides. */
static __maybe_unused u64 draw(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* A number less than @bound. */
static __maybe_unused u32 draw_below(u64 *state, u32 bound)
{
	return (u32)((draw(state) >> 16) % bound);
}

static __maybe_unused void draw_bytes(u64 *state, void *bytes, size_t n)
{
	u8 *byte = bytes;

	while (n--)
		*byte++ = (u8)(draw(state) >> 24);
}

static __maybe_unused u32 get32(const void *bytes, u32 offset)
{
	const u8 *b = (const u8 *)bytes + offset;

	return b[0] | (u32)b[1] << 8 | (u32)b[2] << 16 | (u32)b[3] << 24;
}

static __maybe_unused void put32(void *bytes, u32 offset, u32 value)
{
	u8 *b = (u8 *)bytes + offset;

	b[0] = (u8)value;
	b[1] = (u8)(value >> 8);
	b[2] = (u8)(value >> 16);
	b[3] = (u8)(value >> 24);
}

/* The same of a format that is big-endian: an integer of @n bytes. */
static __maybe_unused u64 get_be(const void *bytes, u32 offset, u32 n)
{
	const u8 *b = (const u8 *)bytes + offset;
	u64 value = 0;

	while (n--)
		value = value << 8 | *b++;
	return value;
}

static __maybe_unused void put_be(void *bytes, u32 offset, u32 n, u64 value)
{
	u8 *b = (u8 *)bytes + offset;

	while (n--) {
		b[n] = (u8)value;
		value >>= 8;
	}
}

static __maybe_unused bool all_bytes(const void *bytes, size_t n, u8 value)
{
	const u8 *byte = bytes;

	while (n--)
		if (*byte++ != value)
			return false;
	return true;
}

/* The bytes are where reading past their end is noticed; to be freed. */
static __maybe_unused u8 *exact_copy(const void *bytes, size_t n)
{
	u8 *copy = malloc(n ? n : 1);

	if (!copy)
		abort();
	if (n)
		memcpy(copy, bytes, n);
	return copy;
}

#endif
