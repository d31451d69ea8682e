/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * files.h - the files of a database: how a transaction reaches them.
 *
 * Formats and order of calls are those of sqlite.org's documents "Database File
 * Format" and "Atomic Commit In SQLite".  No program recovers from these files,
 * so checksums and salts in them are numbers that nobody compares.
 */
#ifndef FFSAGENT_DATABASE_FILES_H
#define FFSAGENT_DATABASE_FILES_H

#include <limits.h>
#include <stdint.h>

#include "core/error.h"
#include "measure/latency.h"
#include "workloads/database/database.h"
#include "workloads/database/pages.h"

enum {
	DATABASE_OP_TRANSACTION,	/* with its checkpoint, if it has one */
	DATABASE_OP_SYNC,
	DATABASE_OP_CHECKPOINT,
	DATABASE_OPS,
};

struct database_files {
	const struct database_params *params;
	struct database_pages pages;
	char path[PATH_MAX], journal_path[PATH_MAX];
	int fd, journal_fd;
	unsigned char *buffer;	/* a page, with what is before and behind it */
	uint32_t *frames;	/* [pages]: 1 + its newest frame; 0: it has none */
	uint64_t n_frames;	/* since the log began anew */
	uint64_t checkpoints;
	uint64_t bytes_read, bytes_written;	/* of all files */
	struct latency latencies[DATABASE_OPS];
};

/** database_files_init() - names and memory; database_files_free() may follow. */
int database_files_init(struct database_files *files,
			const struct database_params *params,
			struct ffs_error *error);
void database_files_free(struct database_files *files);

/* Each returns 0, or -1 with @error. */

/** database_create() - write all pages to a new file, then sync it. */
int database_create(struct database_files *files, struct ffs_error *error);

/** database_transaction() - change the pages that were drawn, and commit. */
int database_transaction(struct database_files *files,
			 struct ffs_error *error);

/** database_close() - what the last connection does when it ends. */
int database_close(struct database_files *files, struct ffs_error *error);

/** database_verify() - compare all pages of a closed database; else EBADMSG. */
int database_verify(struct database_files *files, struct ffs_error *error);

#endif
