/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * phase.h - a part of a workload: its edges, its counts, its records.
 *
 * What is the same for every phase of every workload: at both edges, outside
 * the timed region, the file system is asked for its space and the flash
 * monitor for its counters; the records leave when the workload says so, which
 * may be after later phases.
 */
#ifndef FFSAGENT_PHASE_H
#define FFSAGENT_PHASE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "core/record.h"
#include "flash/monitor.h"
#include "measure/latency.h"
#include "measure/space.h"
#include "measure/whose_time.h"

struct phase {
	bool ran, emitted, failed;
	struct ffs_error error;
	uint64_t t_start_ns, t_end_ns;
	uint64_t files_created, files_deleted, files_read, files_appended;
	uint64_t bytes_read, bytes_written;
	struct space space_start, space_end;
	struct flash_snapshot flash_start, flash_end;
	struct whose_time whose;
};

/* Where phases look. */
struct phase_site {
	const char *root;	/* a directory of the file system */
	const struct flash_monitor *monitor;	/* or NULL */
};

/**
 * phase_reserve() - let both snapshots allocate their memory now, so that none
 * is allocated between two phases.
 */
int phase_reserve(struct phase *phase, const struct phase_site *site,
		  struct ffs_error *error);

/** phase_begin() - look at space and flash, then start the time. */
int phase_begin(struct phase *phase, const struct phase_site *site,
		struct ffs_error *error);

/** phase_stop() - the timed part is over: stop the time. */
static inline void phase_stop(struct phase *phase)
{
	phase->t_end_ns = clock_now_ns();
	whose_time_end(&phase->whose);
}

/**
 * phase_end() - note how the phase ended, then look at space and flash.
 * @result: 0, or -1 with @error describing why it failed.
 *
 * Return: 0, or -1 with @error, in which the phase's own failure goes first.
 */
int phase_end(struct phase *phase, const struct phase_site *site, int result,
	      struct ffs_error *error);

/**
 * phase_record() - emit everything of a phase that ran, once.
 * @latencies: or NULL.
 */
void phase_record(struct phase *phase, const char *workload, const char *name,
		  const struct latency_list *latencies,
		  struct record_sink *sink);

/** phase_record_short() - the same without space and blocks. */
void phase_record_short(struct phase *phase, const char *workload,
			const char *name, const struct latency_list *latencies,
			struct record_sink *sink);

void phase_free(struct phase *phase);

#endif
