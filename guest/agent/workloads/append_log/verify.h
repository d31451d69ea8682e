/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * verify.h - the files of a log: their names, and reading them back.
 */
#ifndef FFSAGENT_APPEND_LOG_VERIFY_H
#define FFSAGENT_APPEND_LOG_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "workloads/append_log/lines.h"
#include "workloads/append_log/params.h"

/* paths: of the log, of its old files, and one to move the oldest to. */
struct log_files {
	uint64_t n;
	char **paths;
};

/** log_files_init() - make the paths, which log_files_free() frees. */
int log_files_init(struct log_files *files,
		   const struct append_log_params *params,
		   struct ffs_error *error);
void log_files_free(struct log_files *files);

/* What has been written. */
struct log_written {
	uint64_t done;		/* lines */
	uint64_t rotations;
	bool cut;	/* the last file may end with a part of a line */
};

/**
 * log_verify() - read back every line of every file that is kept.
 * @bytes_read: grows by what was read.
 *
 * The page cache lets go of what it can: what is compared comes from the flash.
 *
 * Return: 0, or -1 with @error: EBADMSG where a line is missing, wrong, or more
 * than was written.
 */
int log_verify(const struct log_files *files, const struct log_lines *lines,
	       const struct append_log_params *params,
	       const struct log_written *written, uint64_t *bytes_read,
	       struct ffs_error *error);

#endif
