// SPDX-License-Identifier: GPL-2.0-only
/*
 * times.c - what is known of a node's times.
 *
 * The kernel stamps an inode with the clock's time of some moment during a
 * system call, so the model knows a range; a comparison narrows it to what it
 * found, which from then on may not change by itself.  A history run on the
 * model alone knows only what utimensat() set.
 */
#include <time.h>

#include "workloads/random/history.h"

#define NS_PER_S 1000000000ll

static int64_t read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* The clock of the last tick, which the kernel stamps inodes with. */
int64_t clock_ns(void)
{
	return read_clock(CLOCK_REALTIME_COARSE);
}

static void widen(struct time_range *range, int64_t low, int64_t high)
{
	if (low < range->low)
		range->low = low;
	if (high > range->high)
		range->high = high;
}

static void stamp(struct history *h, struct time_range *range, bool certain)
{
	int64_t low = h->begun_ns, high = INT64_MAX;

	/* Newer kernels may stamp with the precise time. */
	if (h->live)
		high = read_clock(CLOCK_REALTIME);
	else
		low = INT64_MIN;
	low -= low > 0 ? low % (int64_t)h->opt.granularity_ns : 0;
	if (certain) {
		range->low = low;
		range->high = high;
	} else {
		widen(range, low, high);
	}
}

/* Called after the system call that sets the times of @node to now. */
void touch(struct history *h, struct node *node, unsigned int which)
{
	if (which & MODIFIED)
		stamp(h, &node->mtime, true);
	if (which & CHANGED) {
		stamp(h, &node->ctime, true);
		node->ctime_loose = false;
	}
}

/* For times that a file system is free to set or to leave. */
void touch_perhaps(struct history *h, struct node *node, unsigned int which)
{
	if (which & MODIFIED)
		stamp(h, &node->mtime, false);
	if (which & CHANGED) {
		stamp(h, &node->ctime, false);
		node->ctime_loose = h->opt.lax_times;
	}
}

/* For times that POSIX wants set and that --lax-times tolerates as they were. */
void touch_unless_lax(struct history *h, struct node *node, unsigned int which)
{
	if (h->opt.lax_times)
		touch_perhaps(h, node, which);
	else
		touch(h, node, which);
}
