/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * prepare.h - the step prepare: brings a file system to a known state, before
 * a workload, usually in another boot (left.h is the workload's side).
 *
 * Files: ffslab.valid stays, ffslab.invalid is there to be removed, and
 * ffslab.test is what requests will go to (docs/plan-format.md, section 8).
 */
#ifndef FFSAGENT_PREPARE_H
#define FFSAGENT_PREPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/content.h"
#include "core/error.h"
#include "core/record.h"
#include "flash/monitor.h"
#include "plan/plan.h"

#define LAB_FILE_VALID "ffslab.valid"
#define LAB_FILE_INVALID "ffslab.invalid"
#define LAB_FILE_TEST "ffslab.test"

/* What is cut to the space available is cut to a multiple of this. */
#define LAB_CUT_BYTES ((uint64_t)512 << 10)

enum prepare_state {
	PREPARE_FREE,
	PREPARE_AGED,
	PREPARE_SATURATED,
	PREPARE_FILLED,
};

/* The names in plans and records, by enum prepare_state; ends at NULL. */
extern const char *const prepare_state_names[];

struct prepare_params {
	const char *dir;
	enum prepare_state state;
	uint64_t valid_percent, invalid_percent, rate_percent;
	uint64_t partition_bytes, file_bytes;
	bool test_file, limit;
	struct content_choice contents;	/* of the test file */
	uint64_t unit_bytes;
	uint64_t seed;
};

/** prepare_params_read() - from a parsed step, whose texts it keeps using. */
void prepare_params_read(struct prepare_params *params,
			 const struct plan_step *step);

/** prepare_params_check() - find keys that contradict each other. */
int prepare_params_check(const struct prepare_params *params,
			 struct ffs_error *error);

/**
 * prepare_run() - write the state and emit the records.
 * @monitor: where to look, or NULL.
 */
int prepare_run(const struct prepare_params *params,
		const struct flash_monitor *monitor,
		struct record_sink *sink, struct ffs_error *error);

#endif
