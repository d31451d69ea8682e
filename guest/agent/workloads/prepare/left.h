/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * left.h - the files that a step prepare has left, as the step after it finds
 * them: the valid data stays, the invalid data is removed right before the
 * first request.
 *
 * The order is find, know, invalidate.  What costs time that belongs to no
 * request (looking at the files of a file system that was just mounted) is done
 * before the phase in which the file is removed.
 */
#ifndef FFSAGENT_LEFT_H
#define FFSAGENT_LEFT_H

#include <limits.h>
#include <stdbool.h>

#include "core/error.h"
#include "measure/phase.h"

#define PHASE_NAME_INVALIDATE "invalidate"

struct left_files {
	bool remove;		/* the file of invalid data is to go */
	int valid_fd;		/* of the file of valid data, or -1 */
	char valid_path[PATH_MAX], invalid_path[PATH_MAX];
};

/**
 * left_find() - where the files are.
 * @remove: there must be a file of invalid data.
 *
 * left_release() may follow whether or not it succeeds.
 */
int left_find(struct left_files *files, const char *dir, bool remove,
	      struct ffs_error *error);

/** left_know() - make the file system know the files. */
int left_know(struct left_files *files, struct ffs_error *error);

/** left_invalidate() - the phase of that name; without @remove it is empty. */
int left_invalidate(const struct left_files *files, struct phase *phase,
		    const struct phase_site *site, struct ffs_error *error);

void left_release(struct left_files *files);

#endif
