/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ffsmark.h - the ffsmark workload: Postmark's transactions on a flash file
 * system whose initial state is known.
 *
 * Phases: prepare (files of valid and of invalid data are written and synced),
 * invalidate (the second one is removed; nothing is synced, so that no
 * collector gets a chance to run), creation, transactions, verify (on demand),
 * deletion.  Sub-directories are made before "invalidate" and removed after
 * "deletion", outside every phase, as Postmark leaves them out of its times.
 *
 * Records leave after each phase; those of "invalidate" wait for the end of
 * "creation", because the second must follow the first at once.
 */
#ifndef FFSAGENT_FFSMARK_H
#define FFSAGENT_FFSMARK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "core/histogram.h"
#include "core/record.h"
#include "measure/phase.h"
#include "workloads/ffsmark/pool.h"

enum ffsmark_phase_id {
	PHASE_PREPARE,
	PHASE_INVALIDATE,
	PHASE_CREATION,
	PHASE_TRANSACTIONS,
	PHASE_VERIFY,
	PHASE_DELETION,
	PHASES,
};

struct ffsmark_result {
	struct phase phases[PHASES];
	/* Of all phases together; NULL unless the caller wants them. */
	struct histogram *histograms;	/* [LATENCY_OPS] */
	bool keep_snapshots;		/* until ffsmark_result_free() */
};

/* The names in records, by enum ffsmark_phase_id. */
extern const char *const ffsmark_phase_names[PHASES];

struct ffsmark_outputs {
	struct record_sink *sink;
	const struct flash_monitor *monitor;	/* or NULL */
	/* Called outside timed regions with what begins; may be NULL. */
	void (*progress)(void *context, const char *what);
	void *progress_context;
};

/**
 * ffsmark_run() - run the workload once.
 * @result: zeroed by the caller but for the fields it sets; what was measured
 *	before a failure stays valid.
 *
 * Return: 0, or -1 with @error; ENOSPC there means that the partition filled
 * up inside a phase.
 */
int ffsmark_run(const struct ffsmark_params *params,
		const struct ffsmark_outputs *outputs,
		struct ffsmark_result *result, struct ffs_error *error);

void ffsmark_result_free(struct ffsmark_result *result);

#endif
