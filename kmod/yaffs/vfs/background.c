// SPDX-License-Identifier: GPL-2.0-only
/*
 * The background thread of a writable mount: writes the headers of changed
 * directories once a second, and collects garbage while nobody waits, more often the
 * less erased space there is. While a valid checkpoint is on flash it does nothing:
 * any work would make it invalid. Only bit errors are a reason to collect then: data
 * that are only read must be moved, too, before ECC can no longer correct them.
 */

#include <linux/freezer.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/moduleparam.h>

#include "../core/gc.h"
#include "../core/names.h"
#include "../core/pages.h"
#include "../core/request.h"
#include "vfs.h"

static bool yaffs_bg_enable = true;
module_param(yaffs_bg_enable, bool, 0644);
MODULE_PARM_DESC(yaffs_bg_enable, "mounts start a background thread");

#define DIRECTORY_PERIOD	HZ
/* Of the collector in one round, if there is a bound. */
#define BOUNDED_STEPS		16

static unsigned long gc_period(unsigned int urgency)
{
	if (urgency > 1)
		return HZ / 20 + 1;
	return urgency ? HZ / 10 + 1 : 2 * HZ;
}

static bool has_work(const struct yaffs_device *dev)
{
	return !dev->ckpt_valid ||
	       dev->policy->ops->has_pressing(dev->policy);
}

/* Where somebody must not wait long, the lock is given away after each step. */
static void give_way(struct yaffs_device *dev)
{
	yaffs_unlock(dev);
	yaffs_let_others(dev);
	yaffs_lock(dev);
}

/* An error leaves them dirty; sync reports it. */
static void write_directories(struct yaffs_device *dev)
{
	if (!dev->bound.ns) {
		yaffs_directories_sync(dev, U32_MAX);
		return;
	}
	while (!list_empty(&dev->dirty_directories) &&
	       !yaffs_directories_sync(dev, 1))
		give_way(dev);
}

/* With a bound, while no call is under way: these collect themselves as they write. */
static void collect(struct yaffs_device *dev)
{
	u32 steps = dev->bound.ns ? BOUNDED_STEPS : 1;

	while (steps-- && has_work(dev) && list_empty(&dev->requests) &&
	       yaffs_gc_in_background(dev) && dev->bound.ns)
		give_way(dev);
}

/* One round; returns the time until the next. */
static unsigned long work(struct yaffs_device *dev, unsigned long *next_gc,
			  unsigned long *next_directories)
{
	unsigned long now = jiffies, wait = DIRECTORY_PERIOD;

	yaffs_lock(dev);
	if (time_after_eq(now, *next_directories)) {
		write_directories(dev);
		*next_directories = now + DIRECTORY_PERIOD;
	}
	if (time_after_eq(now, *next_gc)) {
		collect(dev);
		yaffs_horizon_keep(dev);
		*next_gc = now + gc_period(dev->policy->ops->urgency(dev->policy));
	}
	yaffs_unlock(dev);
	if (time_before(*next_gc, now + wait))
		wait = *next_gc - now;
	return wait;
}

/* With a bound it is to run when nothing else does: a step may be long for who waits. */
static void set_nice(const struct yaffs_device *dev)
{
	int nice = READ_ONCE(dev->bound.ns) ? MAX_NICE : 0;

	if (task_nice(current) != nice)
		set_user_nice(current, nice);
}

static int background(void *data)
{
	struct yaffs_device *dev = data;
	unsigned long next_gc = jiffies + gc_period(0);
	unsigned long next_directories = jiffies + DIRECTORY_PERIOD;
	unsigned long wait;

	set_freezable();
	while (!kthread_should_stop()) {
		wait_event_freezable(dev->background_wait,
				     has_work(dev) || kthread_should_stop());
		if (kthread_should_stop())
			break;
		set_nice(dev);
		wait = work(dev, &next_gc, &next_directories);
		wait_event_freezable_timeout(dev->background_wait,
					     kthread_should_stop(), wait);
	}
	return 0;
}

int yaffs_background_start(struct yaffs_device *dev)
{
	struct task_struct *task;

	if (!yaffs_bg_enable || dev->background)
		return 0;
	task = kthread_run(background, dev, "yaffs-bg-%s", dev->mtd->name);
	if (IS_ERR(task))
		return PTR_ERR(task);
	dev->background = task;
	return 0;
}

void yaffs_background_stop(struct yaffs_device *dev)
{
	if (dev->background)
		kthread_stop(dev->background);
	dev->background = NULL;
}

void yaffs_background_wake(struct yaffs_device *dev)
{
	wake_up(&dev->background_wait);
}
