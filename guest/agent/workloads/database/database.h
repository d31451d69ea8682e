/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * database.h - the step database: what SQLite does to its files when pages of a
 * database are changed in transactions, with a rollback journal or a
 * write-ahead log.
 *
 * Phases: invalidate (with remove=1), create (the database is written and
 * synced), commit (the transactions), close (the log's last checkpoint; what is
 * left in memory goes to the flash), verify (every page is read back).
 * Everything is reserved before the first.
 */
#ifndef FFSAGENT_DATABASE_H
#define FFSAGENT_DATABASE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "core/record.h"
#include "core/content.h"
#include "flash/monitor.h"

#define DATABASE_PAGE_BYTES_MIN 512
#define DATABASE_PAGE_BYTES_MAX 65536
#define DATABASE_PAGES_DRAWN_MAX 1000

enum database_journal { DATABASE_DELETE, DATABASE_WAL };

struct database_params {
	const char *dir;
	enum database_journal journal;
	uint64_t transactions;
	uint64_t pages_per_transaction;
	uint64_t page_bytes;
	uint64_t database_bytes;
	uint64_t checkpoint_frames;	/* of DATABASE_WAL */
	struct content_choice contents;
	bool remove;		/* the file of invalid data, before the database */
	uint64_t settle_ms;	/* sleep after that */
	uint64_t seed;
	bool verify;
};

/** database_params_check() - find keys that contradict each other. */
int database_params_check(const struct database_params *params,
			  struct ffs_error *error);

/**
 * database_workload() - run it once.
 * @monitor: where to look, or NULL.
 *
 * Return: 0, or -1 with @error: ENOSPC if the partition is full, EBADMSG if a
 * page is not what was written.  What was measured before a failure is emitted
 * all the same.
 */
int database_workload(const struct database_params *params,
		      const struct flash_monitor *monitor,
		      struct record_sink *sink, struct ffs_error *error);

#endif
