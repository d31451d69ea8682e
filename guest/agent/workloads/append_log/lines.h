/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lines.h - the lines of a log and where they are: pure decisions, no I/O.
 *
 * A line is its number, counted over all files from 0, in ten digits, a space,
 * contents as they were chosen, and a line feed.  Text can be shortened as logs
 * can.  The contents are a window into 256 KiB of them, which the seed and the
 * number choose: making a line costs one copy, and every line can be checked
 * without the others.
 */
#ifndef FFSAGENT_APPEND_LOG_LINES_H
#define FFSAGENT_APPEND_LOG_LINES_H

#include <stdint.h>

#include "core/error.h"
#include "workloads/append_log/params.h"

struct log_lines {
	uint64_t seed;
	uint64_t line_bytes;
	unsigned char *text;
};

/** log_lines_init() - make the text, which log_lines_free() frees. */
int log_lines_init(struct log_lines *lines,
		   const struct append_log_params *params,
		   struct ffs_error *error);
void log_lines_free(struct log_lines *lines);

/** log_line() - write line @number, line_bytes long, to @out. */
void log_line(const struct log_lines *lines, uint64_t number,
	      unsigned char *out);

/** log_line_equal() - how many bytes of @found are as they should be. */
uint64_t log_line_equal(const struct log_lines *lines, uint64_t number,
			const unsigned char *found, unsigned char *scratch);

/** log_file_lines() - lines after which a file is rotated; UINT64_MAX: never. */
uint64_t log_file_lines(const struct append_log_params *params);

/** log_files_kept() - how many old files there are after that many rotations. */
uint64_t log_files_kept(const struct append_log_params *params,
			uint64_t rotations);

/* The lines of one file. */
struct log_part {
	uint64_t first, count;
};

/**
 * log_part() - what is in a file.
 * @file: 0: the log; n: the n-th youngest of the old ones.
 * @rotations: how many there were; at least @file.
 * @done: lines written in all.
 */
struct log_part log_part(const struct append_log_params *params, uint64_t file,
			 uint64_t rotations, uint64_t done);

/** log_sync_due() - is a line that makes @unsynced of them to be synced? */
bool log_sync_due(const struct append_log_params *params, uint64_t unsynced);

#endif
