/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * clock.h - the time of every record, in nanoseconds.
 *
 * In the lab the kernel offers /dev/vtime: one read-only page with the virtual
 * time and where it went, exact at every return to user space. Reading it costs
 * no system call, so that measuring a request does not change what is measured.
 * Elsewhere CLOCK_MONOTONIC is used.
 *
 * Limit: the page is used on 64-bit machines only, where its word is read
 * in one piece.
 */
#ifndef FFSAGENT_CLOCK_H
#define FFSAGENT_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "core/error.h"

#define VTIME_NAME_BYTES 16
#define VTIME_TASKS	102

/* What the CPU was for: a task's code, the flash's driver, or a chip was busy. */
enum vtime_part { VTIME_CODE, VTIME_DRIVER, VTIME_CHIP, VTIME_PARTS };

/* kernel/patches/0030-um-whose-time-it-is.patch; all of ->ns together is ->now_ns. */
struct vtime {
	uint64_t now_ns;
	uint64_t tasks;		/* in use; each keeps its place */
	struct {
		char name[VTIME_NAME_BYTES];	/* zeros at its end */
		uint64_t ns[VTIME_PARTS];
	} task[VTIME_TASKS];
};

/* Not NULL once clock_open() found the time page. */
extern const volatile struct vtime *ffs_time_page;

/** clock_open() - choose the clock; call it once, before any reading. */
void clock_open(void);

/** clock_name() - "page" or "monotonic". */
const char *clock_name(void);

/** clock_now_ns() - the time now, in nanoseconds. */
static inline uint64_t clock_now_ns(void)
{
	struct timespec now;

	if (ffs_time_page)
		return ffs_time_page->now_ns;
	/* It cannot fail: the clock id is right and the pointer valid. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/** clock_sleep_ns() - sleep so long, whatever signals come. */
int clock_sleep_ns(uint64_t ns, struct ffs_error *error);

#endif
