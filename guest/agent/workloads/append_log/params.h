/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * params.h - the keys of the step append-log (docs/plan-format.md).
 *
 * Limits: 10^9 lines, whose numbers have ten digits; 99 old files.
 */
#ifndef FFSAGENT_APPEND_LOG_PARAMS_H
#define FFSAGENT_APPEND_LOG_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/content.h"
#include "core/error.h"
#include "plan/plan.h"

#define LOG_LINES_MAX 1000000000
#define LOG_LINE_BYTES_MIN 16
#define LOG_LINE_BYTES_MAX 65536
#define LOG_KEEP_MAX 99

enum log_sync { LOG_FSYNC, LOG_FDATASYNC };

/* The names in plans, by enum log_sync; ends at NULL. */
extern const char *const log_sync_names[];

struct append_log_params {
	const char *dir;
	uint64_t lines;
	uint64_t line_bytes;	/* with the line feed */
	uint64_t interval_us;	/* 0: none */
	uint64_t fsync_every;	/* lines; 0: never */
	enum log_sync sync;
	uint64_t rotate_bytes;	/* no file is larger; 0: never rotated */
	uint64_t keep;		/* old files */
	struct content_choice contents;
	bool remove;		/* the file of invalid data, before the log */
	uint64_t settle_ms;	/* sleep after that */
	uint64_t seed;
	bool verify;
};

/** append_log_params_read() - from a parsed step, whose texts it keeps using. */
void append_log_params_read(struct append_log_params *params,
			    const struct plan_step *step);

/** append_log_params_check() - find keys that contradict each other. */
int append_log_params_check(const struct append_log_params *params,
			    struct ffs_error *error);

#endif
