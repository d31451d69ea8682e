/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * space.h - what the file system says of its space, and the memory it takes.
 *
 * Several flash file systems report less than they can hold (they must assume
 * incompressible data and a full journal); the difference is their reserve, and
 * the host can only see it if it is recorded at every step.
 */
#ifndef FFSAGENT_SPACE_H
#define FFSAGENT_SPACE_H

#include <stdint.h>

#include "core/error.h"
#include "core/record.h"

struct space {
	uint64_t total_bytes, free_bytes, available_bytes;
	uint64_t files, files_free;
	uint64_t page_cache_bytes, mem_free_bytes;
};

/** space_read() - statfs(2) of @path, and /proc/meminfo. */
int space_read(struct space *space, const char *path, struct ffs_error *error);

/** space_record() - emit a "space" record. */
void space_record(const struct space *space, const char *label,
		  struct record_sink *sink);

#endif
