/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The live page, /proc/flashmon/NAME/live: what each task has asked of the
 * device so far. A process maps it read-only, and reads it without a system
 * call, so that looking takes no time of what is looked at. For the kernel and
 * for user space; native byte order.
 *
 * A reader takes the sequence, copies, and takes the sequence again: if it was
 * odd or is another one, the copy is worth nothing and is made anew.
 *
 * Limit: on processors whose caches are indexed by virtual address (ARMv5) a
 * reader may see old contents, since it maps the page elsewhere than the kernel.
 */
#ifndef FLASHMON_LIVE_FORMAT_H
#define FLASHMON_LIVE_FORMAT_H

#include <linux/types.h>
#ifdef __KERNEL__
#include <linux/build_bug.h>
#include <linux/stddef.h>
#else
#include <assert.h>
#include <stddef.h>
#endif

#define FLASHMON_LIVE_MAGIC	0x464c4956	/* "FLIV" */
#define FLASHMON_LIVE_VERSION	1
#define FLASHMON_LIVE_BYTES	4096
#define FLASHMON_LIVE_TASKS	63
/* In the last slot: all tasks that came when the others were taken. */
#define FLASHMON_LIVE_OTHERS_PID	(-1)
#define FLASHMON_LIVE_OTHERS_NAME	"(others)"

struct flashmon_live_task {
	__s32 pid;
	__u8 name[16];		/* at its last request, zero-terminated */
	__u8 unused[4];
	__u64 pages_read;	/* this and the next two as in "counters" */
	__u64 pages_programmed;
	__u64 blocks_erased;
	__u64 busy_ns;		/* read_ns, program_ns and erase_ns */
	__u64 oob_pages;	/* OOB alone: oob_reads and oob_programs */
};

static_assert(sizeof(struct flashmon_live_task) == 64);
static_assert(offsetof(struct flashmon_live_task, pages_read) == 24);
static_assert(offsetof(struct flashmon_live_task, busy_ns) == 48);

struct flashmon_live {
	__u32 magic;
	__u32 version;
	__u32 sequence;		/* odd while the page is being changed */
	__u32 tasks;		/* slots in use, the first ones */
	__u8 unused[48];
	struct flashmon_live_task task[FLASHMON_LIVE_TASKS];
};

static_assert(sizeof(struct flashmon_live) == FLASHMON_LIVE_BYTES);
static_assert(offsetof(struct flashmon_live, task) == 64);

#endif
