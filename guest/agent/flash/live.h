/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * live.h - what each task has asked of the flash so far.
 *
 * The flash monitor keeps it in a page that a process can map
 * (live_format.h, which is the monitor's own file).  Reading it takes no
 * system call, hence in the lab no time: it can be read before and after
 * every request.  live_open() touches the page; a child of the process has
 * the mapping too, and pays for its first look at it.
 *
 * Limit: 62 tasks by name; the last slot, pid -1, is for all others.
 */
#ifndef FFSAGENT_LIVE_H
#define FFSAGENT_LIVE_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "flash/monitor.h"

#define LIVE_TASKS_MAX 63

struct live_task {
	int32_t pid;
	char name[16];
	uint64_t pages_read, pages_programmed, blocks_erased, busy_ns;
	uint64_t oob_pages;	/* of which OOB alone was read or programmed */
};

/* The tasks in the order in which they came; their places do not change. */
struct live_snapshot {
	size_t n;
	struct live_task tasks[LIVE_TASKS_MAX];
};

/* page: NULL without a monitor. */
struct live {
	const struct flashmon_live *page;
};

/**
 * live_open() - map the page of the monitor.
 * @monitor: NULL: there is none, and every snapshot will be empty.
 *
 * Return: 0, or -1 with @error, and then @live is as without a monitor.
 */
int live_open(struct live *live, const struct flash_monitor *monitor,
	      struct ffs_error *error);

/** live_decode() - what a copy of the page says, made while nothing changed it. */
void live_decode(const struct flashmon_live *page,
		 struct live_snapshot *snapshot);

/** live_read() - copy the page as it is at one moment. */
void live_read(const struct live *live, struct live_snapshot *snapshot);

void live_close(struct live *live);

#endif
