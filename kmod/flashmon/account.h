/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters, and how one MTD request adds to them. Pure: compiles in user space,
 * where it is tested.
 */
#ifndef FLASHMON_ACCOUNT_H
#define FLASHMON_ACCOUNT_H

#ifdef __KERNEL__
#include <linux/bitops.h>
#include <linux/math64.h>
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stdint.h>
typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
static inline u64 div_u64(u64 a, u32 b)
{
	return a / b;
}

static inline u64 div_u64_rem(u64 a, u32 b, u32 *rest)
{
	*rest = (u32)(a % b);
	return a / b;
}

static inline unsigned long __ffs(unsigned long word)
{
	return (unsigned long)__builtin_ctzl(word);
}
#endif

/**
 * flashmon_divide_rest() - divide an offset by the size of a page or block
 * @a: the offset
 * @b: the size, not 0
 * @rest: result: what is left
 *
 * Processors of 32 bit divide 64 bits in a loop, which took longer than all
 * else that is done for a request. Sizes of flash are powers of two, as a rule.
 *
 * Return: the quotient.
 */
static inline u64 flashmon_divide_rest(u64 a, u32 b, u32 *rest)
{
#ifndef CONFIG_64BIT
	if (!(b & (b - 1))) {
		*rest = (u32)a & (b - 1);
		return a >> __ffs(b);
	}
#endif
	return div_u64_rem(a, b, rest);
}

static inline u64 flashmon_divide(u64 a, u32 b)
{
#ifndef CONFIG_64BIT
	u32 rest;

	return flashmon_divide_rest(a, b, &rest);
#else
	return div_u64(a, b);
#endif
}

/* Name of each counter, in the order in which they are printed. */
#define FLASHMON_COUNTERS(X) \
	X(pages_read)		/* pages touched by reads of data */ \
	X(pages_programmed)	/* program operations with data */ \
	X(blocks_erased) \
	X(oob_reads)		/* pages of which only OOB was read */ \
	X(oob_programs)		/* pages of which only OOB was programmed */ \
	X(subpage_programs)	/* of pages_programmed: less than a page */ \
	X(bytes_read) \
	X(bytes_programmed) \
	X(read_calls) \
	X(write_calls) \
	X(erase_calls) \
	X(read_errors)		/* calls that failed; -EUCLEAN is none */ \
	X(corrected_bitflips) \
	X(program_errors) \
	X(erase_errors) \
	X(read_ns)		/* time in the driver */ \
	X(program_ns) \
	X(erase_ns)

struct flashmon_counters {
#define X(name) u64 name;
	FLASHMON_COUNTERS(X)
#undef X
};

struct flashmon_block {
	u32 erases;
	u32 programs;
	u32 reads;
};

/**
 * struct flashmon_totals - what a monitor counts
 * @page_bytes, @block_bytes, @blocks: geometry of the device
 * @counters: sums
 * @block: per erase block, @blocks entries
 */
struct flashmon_totals {
	u32 page_bytes, block_bytes, blocks;
	struct flashmon_counters counters;
	struct flashmon_block *block;
};

/**
 * struct flashmon_request - one MTD request that has ended
 * @offset: first byte in the device
 * @data_bytes: data bytes the driver was asked for, and reached: those it
 *	reports, plus the page at which it failed
 * @oob_pages: pages whose OOB was asked for, when no data was
 * @ns: time in the driver
 * @failed: the driver reported an error
 */
struct flashmon_request {
	u64 offset;
	u64 data_bytes;
	u32 oob_pages;
	u64 ns;
	bool failed;
};

void flashmon_count_read(struct flashmon_totals *t,
			 const struct flashmon_request *r);
void flashmon_count_program(struct flashmon_totals *t,
			    const struct flashmon_request *r);
void flashmon_count_erase(struct flashmon_totals *t,
			  const struct flashmon_request *r);

#endif
