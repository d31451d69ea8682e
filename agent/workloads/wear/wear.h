/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wear.h - the step wear: data that stay are written once, then one file is
 * written, synced and deleted over and over, and at stated volumes it is noted
 * how often each block has been erased.
 *
 * Phases: static (the data that stay), write (the file, to the last volume),
 * verify (the data that stay are read back, whatever became of the second).
 * The notes are taken within the phase write, between two files or within one:
 * what reading them costs is in its time.
 */
#ifndef FFSAGENT_WEAR_H
#define FFSAGENT_WEAR_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/record.h"
#include "flash/monitor.h"
#include "plan/plan.h"

#define WEAR_VOLUMES_MAX 16

struct wear_params {
	const char *dir;
	uint64_t static_bytes, file_bytes, unit_bytes;
	size_t n_volumes;
	uint64_t volumes[WEAR_VOLUMES_MAX];	/* bytes, each above the last */
	uint64_t seed;
};

/** wear_params_read() - from a parsed step; fails for volumes that are none. */
int wear_params_read(struct wear_params *params, const struct plan_step *step,
		     struct ffs_error *error);

/**
 * wear_run() - run it once.
 * @monitor: where to look, or NULL.
 *
 * Return: 0, or -1 with @error: EBADMSG if the data that stay are not what was
 * written, else why the writing ended.  What was measured is emitted.
 */
int wear_run(const struct wear_params *params,
	     const struct flash_monitor *monitor,
	     struct record_sink *sink, struct ffs_error *error);

#endif
