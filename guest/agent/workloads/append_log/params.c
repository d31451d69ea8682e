// SPDX-License-Identifier: GPL-2.0-only
/*
 * params.c - see params.h.
 */
#include <stddef.h>

#include "plan/content_keys.h"
#include "workloads/append_log/params.h"

const char *const log_sync_names[] = {
	[LOG_FSYNC] = "fsync",
	[LOG_FDATASYNC] = "fdatasync",
	NULL,
};

void append_log_params_read(struct append_log_params *params,
			    const struct plan_step *step)
{
	*params = (struct append_log_params) {
		.dir = step_text(step, "dir"),
		.lines = (uint64_t)step_number(step, "lines"),
		.line_bytes = (uint64_t)step_number(step, "line_bytes"),
		.interval_us = (uint64_t)step_number(step, "interval_us"),
		.fsync_every = (uint64_t)step_number(step, "fsync_every"),
		.sync = (enum log_sync)step_number(step, "sync"),
		.rotate_bytes = (uint64_t)step_number(step, "rotate_bytes"),
		.keep = (uint64_t)step_number(step, "keep"),
		.contents = content_choice_of(step, CONTENT_TEXT),
		.remove = step_number(step, "remove"),
		.settle_ms = (uint64_t)step_number(step, "settle_ms"),
		.seed = (uint64_t)step_number(step, "seed"),
		.verify = step_number(step, "verify"),
	};
}

int append_log_params_check(const struct append_log_params *params,
			    struct ffs_error *error)
{
	if (params->rotate_bytes && params->rotate_bytes < params->line_bytes)
		return ffs_fail(error, 0,
			"rotate_bytes=%llu is less than one line of %llu bytes; raise it, or set it to 0 for one file that is never rotated",
			(unsigned long long)params->rotate_bytes,
			(unsigned long long)params->line_bytes);
	if (params->settle_ms && !params->remove)
		return ffs_fail(error, 0,
			"settle_ms=%llu is the sleep after a removal, and remove=0; set remove=1, or settle_ms=0",
			(unsigned long long)params->settle_ms);
	return content_choice_check(&params->contents, error);
}
