/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the pure parts of the file systems need from their surroundings, so that they
 * compile in the kernel and in user space, where they are unit-tested and fuzzed.
 */
#ifndef FFSLAB_PORTABLE_H
#define FFSLAB_PORTABLE_H

#ifdef __KERNEL__
#include <asm/byteorder.h>
#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/crc32.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/string.h>
#include <linux/types.h>
#else
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef uint16_t __le16;
typedef uint32_t __le32;
typedef unsigned long long __le64;	/* as <linux/types.h> has it */
typedef uint16_t __be16;
typedef uint32_t __be32;
typedef unsigned long long __be64;

#define cpu_to_le16(v) htole16(v)
#define le16_to_cpu(v) le16toh(v)
#define cpu_to_le32(v) htole32(v)
#define le32_to_cpu(v) le32toh(v)
#define cpu_to_le64(v) htole64(v)
#define le64_to_cpu(v) le64toh(v)
#define cpu_to_be16(v) htobe16(v)
#define be16_to_cpu(v) be16toh(v)
#define cpu_to_be32(v) htobe32(v)
#define be32_to_cpu(v) be32toh(v)
#define cpu_to_be64(v) htobe64(v)
#define be64_to_cpu(v) be64toh(v)
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define hweight8(v) ((unsigned int)__builtin_popcount((u8)(v)))
#define hweight32(v) ((unsigned int)__builtin_popcount(v))
#define div_u64(a, b) ((u64)(a) / (u32)(b))
#define div64_u64(a, b) ((u64)(a) / (u64)(b))
#define __packed __attribute__((__packed__))
#define U32_MAX UINT32_MAX
#define U64_MAX UINT64_MAX
#define min_t(type, a, b) \
	({ type a_ = (a), b_ = (b); a_ < b_ ? a_ : b_; })
#define max_t(type, a, b) \
	({ type a_ = (a), b_ = (b); a_ > b_ ? a_ : b_; })

/* As the kernel has it: neither the first value nor the result is inverted. */
static inline u32 crc32_le(u32 crc, const void *bytes, size_t n)
{
	/* By the four bits that leave it. */
	static const u32 of[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
		0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
		0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
		0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};
	const u8 *p = bytes;

	while (n--) {
		crc ^= *p++;
		crc = crc >> 4 ^ of[crc & 15];
		crc = crc >> 4 ^ of[crc & 15];
	}
	return crc;
}
#endif

#endif
