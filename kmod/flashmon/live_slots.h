/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the live page is kept. Pure: compiles in user space, where it is tested.
 * The caller sees to it that one change is made at a time.
 */
#ifndef FLASHMON_LIVE_SLOTS_H
#define FLASHMON_LIVE_SLOTS_H

#include "account.h"
#include "live_format.h"

#ifdef __KERNEL__
#include <asm/barrier.h>
#include <linux/compiler.h>
#else
#define WRITE_ONCE(x, value) __atomic_store_n(&(x), value, __ATOMIC_RELAXED)
/* Stores before it are seen before stores behind it, as in the kernel. */
static inline void smp_wmb(void)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
}
#endif

/**
 * struct flashmon_share - the part of the counters that the live page has
 * @pages_read, @pages_programmed, @blocks_erased: as the counters
 * @busy_ns: the sum of read_ns, program_ns and erase_ns
 * @oob_pages: the sum of oob_reads and oob_programs
 */
struct flashmon_share {
	u64 pages_read, pages_programmed, blocks_erased, busy_ns, oob_pages;
};

struct flashmon_share flashmon_share_of(const struct flashmon_counters *c);

/* What came after flashmon_share_of() the counters was @before. */
struct flashmon_share flashmon_share_since(const struct flashmon_share *before,
					   const struct flashmon_counters *c);

/* Pages or blocks of a share that is one request's. */
static inline u32 flashmon_units(const struct flashmon_share *share)
{
	return share->pages_read + share->pages_programmed +
	       share->blocks_erased;
}

/* Makes a page without tasks out of one of zeros. */
void flashmon_live_init(struct flashmon_live *live);

/* Removes all tasks; the page may have readers. */
void flashmon_live_clear(struct flashmon_live *live);

/**
 * flashmon_live_add() - give a task what its request added to the counters
 * @live: the page
 * @pid: the task
 * @name: its name, 16 bytes
 * @added: flashmon_share_since() the request
 */
void flashmon_live_add(struct flashmon_live *live, int pid, const char *name,
		       const struct flashmon_share *added);

#endif
