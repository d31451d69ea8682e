/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wear.h - the step wear: data that stay are written once, then one file is
 * written over and over, and at stated volumes it is noted how often each block
 * has been erased.  How the file is written is the pattern:
 *
 * - rewrite: whole, then one fsync, then it is deleted;
 * - append: with an fsync after each write, then it is deleted;
 * - overwrite: whole once, then pieces of it at random, with an fsync after each.
 *
 * Phases: static (the data that stay), write (the file, to the last volume),
 * verify (the data that stay are read back, whatever became of the second).
 * The notes are taken within the phase write, between two files or within one:
 * what reading them costs is in its time.  So are those of grown bad blocks
 * (grown.h), for which MTD is asked every 128 KiB.
 */
#ifndef FFSAGENT_WEAR_H
#define FFSAGENT_WEAR_H

#include <stddef.h>
#include <stdint.h>

#include "core/content.h"
#include "core/error.h"
#include "core/record.h"
#include "flash/monitor.h"
#include "plan/plan.h"

#define WEAR_VOLUMES_MAX 16

enum wear_pattern { WEAR_REWRITE, WEAR_APPEND, WEAR_OVERWRITE };
extern const char *const wear_pattern_names[];

struct wear_params {
	const char *dir;
	enum wear_pattern pattern;
	uint64_t static_bytes, file_bytes, unit_bytes;
	struct content_choice contents;	/* of both files */
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
