/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls that users wait for, and how long the collector may take in each: mount option
 * gc_bound_us. What the bound leaves when the call's own work is taken off is the
 * collector's, as published; here for every call, not for write() alone.
 *
 * A call is known from yaffs_enter() to yaffs_leave(), by the task that makes it. It may
 * give the lock away and take it again in between. Without a bound nothing of this is kept,
 * and no clock is read.
 *
 * Limits: sync(2), mount and unmount have no bound. Of calls that come at the same time each
 * waits for the own work of those before it.
 */
#ifndef YAFFS_REQUEST_H
#define YAFFS_REQUEST_H

#include <linux/sched.h>

#include "device.h"

/**
 * struct yaffs_request - a call that somebody waits for
 * @list: in yaffs_device.requests
 * @task: who waits
 * @bound_ns: as it was when it began; 0: there is none
 * @began_ns: before it took the lock
 * @collected_ns: what the collector has taken of it, the waiting for the collector included
 * @pages: that it has still to write, as far as is known
 */
struct yaffs_request {
	struct list_head list;
	struct task_struct *task;
	u64 bound_ns;
	u64 began_ns;
	u64 collected_ns;
	u32 pages;
};

/* The option gc_bound_us; calls under way keep the bound that they began with. */
void yaffs_bound_set(struct yaffs_device *dev, u32 bound_us);

/*
 * A call begins, which writes about so many pages, and takes the lock. Within another call
 * of the same task it is a part of that.
 */
void yaffs_enter(struct yaffs_device *dev, struct yaffs_request *request,
		 u32 pages);
/* It ends, and gives the lock away. */
void yaffs_leave(struct yaffs_device *dev, struct yaffs_request *request);

/* The same for calls that take the lock several times; without a bound, nothing. */
void yaffs_request_begin(struct yaffs_device *dev, struct yaffs_request *request,
			 u32 pages);
void yaffs_request_end(struct yaffs_device *dev, struct yaffs_request *request);

/*
 * Something was done that nobody waits for. With a bound, others are let go first: a driver
 * that polls keeps the processor as long as its chip is busy. Without the lock.
 */
static inline void yaffs_let_others(const struct yaffs_device *dev)
{
	if (READ_ONCE(dev->bound.ns))
		schedule_timeout_uninterruptible(1);
}

/*
 * What the collector may take now, in ns: of the call that holds the lock. Of what nobody
 * waits for, such as writing back, a step, if it is the @first and no call is under way.
 * @hurry: space is short.
 */
u64 yaffs_allowance_ns(const struct yaffs_device *dev, bool first, bool hurry);
/* The collector took that, in front of a page of the call that holds the lock, if one does. */
void yaffs_request_collected(struct yaffs_device *dev, u64 ns);
/* It wrote parts of indices for so long, which are due for what the collector moves. */
void yaffs_request_kept(struct yaffs_device *dev, u64 ns);

#endif
