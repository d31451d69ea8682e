/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run.h - what the steps tree-* share among themselves.
 *
 * A step's function allocates all it needs, calls tree_begin(), does the work,
 * calls tree_stop(), and frees.  Between the two there are the system calls of
 * the work and no others.
 */
#ifndef FFSAGENT_TREE_RUN_H
#define FFSAGENT_TREE_RUN_H

#include <stdint.h>

#include "core/error.h"
#include "measure/latency.h"
#include "measure/measure.h"
#include "plan/plan.h"
#include "workloads/tree/walk.h"

#define TREE_DIGEST_BYTES 17

struct tree_run {
	const struct plan_step *step;
	const char *dir;
	const struct flash_monitor *monitor;
	struct measure measure;
	struct latency latencies[LATENCY_OPS];
	/* The record. */
	struct walk_counts counts;
	uint64_t found;
	char digest[TREE_DIGEST_BYTES];
};

/** tree_begin(), tree_stop() - the edges of the phase. */
int tree_begin(struct tree_run *run, struct ffs_error *error);
void tree_stop(struct tree_run *run);

/* The steps; what they share is begun and ended by tree_step(). */
typedef int (*tree_function)(struct tree_run *run, struct ffs_error *error);

int tree_create(struct tree_run *run, struct ffs_error *error);
int tree_list(struct tree_run *run, struct ffs_error *error);
int tree_find(struct tree_run *run, struct ffs_error *error);
int tree_delete(struct tree_run *run, struct ffs_error *error);
int tree_copy(struct tree_run *run, struct ffs_error *error);
int tree_check(struct tree_run *run, struct ffs_error *error);
int tree_digest(struct tree_run *run, struct ffs_error *error);
int tree_read_files(struct tree_run *run, struct ffs_error *error);
int tree_warm(struct tree_run *run, struct ffs_error *error);

#endif
