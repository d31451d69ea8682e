// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long the collector may take in a call: see request.h.
 *
 * The clock of a call begins before it waits for the lock. So whatever it waits for is taken
 * off: a step of the background, and what others have it collect.
 */

#include <linux/ktime.h>

#include "request.h"
#include "trace.h"

/* More than is known: a summary, or what is written back meanwhile. */
#define PAGES_BESIDE	1
/*
 * A share of the bound that the collector leaves to the rest of the kernel, and a smaller one
 * when it is behind: for who wants the processor after the collector has decided (gc.c).
 */
#define OTHERS		4
#define OTHERS_IN_HURRY	16

static u64 left_after(u64 ns, u64 taken_ns)
{
	return ns - min(ns, taken_ns);
}

void yaffs_bound_set(struct yaffs_device *dev, u32 bound_us)
{
	dev->options.gc_bound_us = bound_us;
	WRITE_ONCE(dev->bound.ns, (u64)bound_us * NSEC_PER_USEC);
}

/* ---- calls ---- */

/* The lock was waited for: as long as the collector worked meanwhile, for that. */
static void note_wait(struct yaffs_device *dev, u64 began_ns, u64 before_ns)
{
	dev->request->collected_ns += min(ktime_get_ns() - began_ns,
					  dev->gc.took_ns - before_ns);
}

void yaffs_enter(struct yaffs_device *dev, struct yaffs_request *request,
		 u32 pages)
{
	u64 before_ns;

	request->bound_ns = READ_ONCE(dev->bound.ns);
	if (!request->bound_ns) {
		yaffs_lock(dev);
		return;
	}
	before_ns = READ_ONCE(dev->gc.took_ns);
	request->began_ns = ktime_get_ns();
	yaffs_lock(dev);
	if (dev->request) {
		request->bound_ns = 0;
		return;
	}
	request->task = current;
	request->collected_ns = 0;
	request->pages = pages;
	list_add(&request->list, &dev->requests);
	dev->request = request;
	note_wait(dev, request->began_ns, before_ns);
}

static void tell_miss(struct yaffs_device *dev,
		      const struct yaffs_request *request)
{
	trace_yaffs2_bound_missed(dev, request->collected_ns,
				  request->bound_ns);
	if (dev->bound.missed++)
		return;
	pr_warn("yaffs2: %s: a call waited %llu us for the collector, more than gc_bound_us=%llu leaves: %u blocks are erased, %u pages are free; further ones are counted in /proc/yaffs2\n",
		dev->mtd->name, div_u64(request->collected_ns, 1000),
		div_u64(request->bound_ns, 1000), dev->space.erased_blocks,
		dev->space.free_chunks);
}

/* What it waited for the collector, against what its own work left of the bound. */
static void note(struct yaffs_device *dev, const struct yaffs_request *request)
{
	u64 took_ns = ktime_get_ns() - request->began_ns;
	u64 own_ns = left_after(took_ns, request->collected_ns);
	u64 left_ns = left_after(request->bound_ns, own_ns);

	dev->bound.calls++;
	dev->bound.longest_ns = max(dev->bound.longest_ns,
				    request->collected_ns);
	if (request->collected_ns > left_ns)
		tell_miss(dev, request);
}

void yaffs_leave(struct yaffs_device *dev, struct yaffs_request *request)
{
	if (request->bound_ns) {
		list_del(&request->list);
		note(dev, request);
	}
	yaffs_unlock(dev);
}

void yaffs_request_begin(struct yaffs_device *dev, struct yaffs_request *request,
			 u32 pages)
{
	request->bound_ns = READ_ONCE(dev->bound.ns);
	if (!request->bound_ns)
		return;
	yaffs_enter(dev, request, pages);
	yaffs_unlock(dev);
}

void yaffs_request_end(struct yaffs_device *dev, struct yaffs_request *request)
{
	if (!request->bound_ns)
		return;
	yaffs_lock(dev);
	yaffs_leave(dev, request);
}

/* ---- the lock, while there is a bound ---- */

static struct yaffs_request *of_task(const struct yaffs_device *dev)
{
	struct yaffs_request *request;

	list_for_each_entry(request, &dev->requests, list)
		if (request->task == current)
			return request;
	return NULL;
}

void yaffs_lock_bounded(struct yaffs_device *dev)
{
	u64 before_ns = READ_ONCE(dev->gc.took_ns);
	u64 began_ns = ktime_get_ns();

	mutex_lock(&dev->lock);
	dev->request = of_task(dev);
	if (dev->request)
		note_wait(dev, began_ns, before_ns);
}

/* ---- what the collector may take ---- */

u64 yaffs_allowance_ns(const struct yaffs_device *dev, bool first, bool hurry)
{
	const struct yaffs_request *request = dev->request;
	const struct yaffs_prices *p = &dev->prices;
	u64 took_ns, own_ns;

	yaffs_assert_locked(dev);
	if (!request)
		return first && list_empty(&dev->requests) ?
			p->read_ns + p->program_ns + p->map_ns : 0;
	took_ns = ktime_get_ns() - request->began_ns;
	own_ns = (request->pages + PAGES_BESIDE) * (p->program_ns + p->map_ns);
	return left_after(request->bound_ns, took_ns + own_ns +
			  div_u64(request->bound_ns,
				  hurry ? OTHERS_IN_HURRY : OTHERS));
}

void yaffs_request_kept(struct yaffs_device *dev, u64 ns)
{
	WRITE_ONCE(dev->gc.took_ns, dev->gc.took_ns + ns);
	if (dev->request)
		dev->request->collected_ns += ns;
}

void yaffs_request_collected(struct yaffs_device *dev, u64 ns)
{
	struct yaffs_request *request = dev->request;

	yaffs_assert_locked(dev);
	yaffs_request_kept(dev, ns);
	if (request && request->pages)
		request->pages--;
}
