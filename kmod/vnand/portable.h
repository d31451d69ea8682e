/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the pure parts (params, timing, faults, rules, decide) need from their
 * surroundings, so that they compile in the kernel and in user space, where
 * they are unit-tested and fuzzed.
 */
#ifndef VNAND_PORTABLE_H
#define VNAND_PORTABLE_H

#ifdef __KERNEL__
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/string.h>
#include <linux/types.h>

static inline u64 vnand_div(u64 a, u32 b)
{
	return div_u64(a, b);
}

static inline u64 vnand_mul_shift32(u64 a, u64 b)
{
	return mul_u64_u64_shr(a, b, 32);
}

static inline int vnand_parse_u64(const char *text, u64 *value)
{
	return kstrtoull(text, 0, value);
}
#else
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define BIT_ULL(n) (1ULL << (n))

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

static inline u64 vnand_div(u64 a, u32 b)
{
	return a / b;
}

static inline u64 vnand_mul_shift32(u64 a, u64 b)
{
	return (u64)(((unsigned __int128)a * b) >> 32);
}

static inline int vnand_parse_u64(const char *text, u64 *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	*value = strtoull(text, &end, 0);
	return errno || *end ? -EINVAL : 0;
}
#endif

/*
 * a * b / divisor, exact. Linux's own drops bits of the divisor if the product has
 * more than 62, unless the processor's assembly does it.
 */
static inline u64 vnand_long_mul_div(u64 a, u64 b, u64 divisor)
{
	u64 low = (a & 0xffffffff) * (b & 0xffffffff);
	u64 mid1 = (a >> 32) * (b & 0xffffffff) + (low >> 32);
	u64 mid2 = (a & 0xffffffff) * (b >> 32) + (mid1 & 0xffffffff);
	u64 high = (a >> 32) * (b >> 32) + (mid1 >> 32) + (mid2 >> 32);
	int i;

	low = (low & 0xffffffff) | mid2 << 32;
	/* high is the remainder, and low becomes the quotient. */
	for (i = 0; i < 64; i++) {
		bool carry = high >> 63;

		high = high << 1 | low >> 63;
		low <<= 1;
		if (carry || high >= divisor) {
			high -= divisor;
			low |= 1;
		}
	}
	return low;
}

static inline u64 vnand_mul_div(u64 a, u64 b, u64 divisor)
{
#if defined(__KERNEL__) && defined(mul_u64_u64_div_u64)
	return mul_u64_u64_div_u64(a, b, divisor);
#else
	return vnand_long_mul_div(a, b, divisor);
#endif
}

#endif
