/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * measure.h - a phase of the workload "tree": any piece of a plan that is timed
 * with its flash operations.
 *
 * Other workloads look at the space and at every block at the edges of their
 * phases.  Here that would disturb what is measured: the file system may not
 * be mounted, and statfs() or a long read of the monitor gives background
 * tasks time between two phases that belong together.  So only the counters
 * are read, and the live page, which costs no time.
 */
#ifndef FFSAGENT_MEASURE_H
#define FFSAGENT_MEASURE_H

#include "core/error.h"
#include "core/record.h"
#include "flash/live.h"
#include "measure/latency.h"
#include "measure/phase.h"

#define MEASURE_WORKLOAD "tree"

struct measure {
	struct phase phase;
	struct live live;
	struct live_snapshot start, end;
};

/**
 * measure_begin() - open the monitor, look at it, then start the time.
 * @m: all zero.
 * @monitor: where to look, or NULL: only the time is measured.
 *
 * Return: 0, or -1 with @error and nothing to free.
 */
int measure_begin(struct measure *m, const struct flash_monitor *monitor,
		  struct ffs_error *error);

/** measure_stop() - take the time; right after the timed part. */
void measure_stop(struct measure *m);

/**
 * measure_end() - note how the phase ended, and look at the monitor again.
 * @result: 0, or -1 with @error describing why the phase failed.
 *
 * Return: 0, or -1 with @error, in which the phase's own failure goes first.
 */
int measure_end(struct measure *m, const struct flash_monitor *monitor,
		int result, struct ffs_error *error);

/**
 * measure_record() - emit "phase", "latency" of what there is, "tasks".
 * @latencies: or NULL.
 */
void measure_record(struct measure *m, const char *workload, const char *name,
		    const struct latency_list *latencies,
		    struct record_sink *sink);

void measure_free(struct measure *m);

#endif
