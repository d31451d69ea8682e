/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * use.h - whether a recovered file system can be used.
 *
 * It takes a file and syncs it, is filled if that is wanted until it says that
 * it is full, and gives everything back.  What was there before is not touched.
 */
#ifndef FFSCRASH_USE_H
#define FFSCRASH_USE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/calls.h"
#include "core/error.h"

/**
 * struct use - what it is used with
 * @has_fill: the file that fills it is there; on a full one it cannot be made
 */
struct use {
	struct calls calls;
	bool has_fill;
	unsigned char *data;	/* no compressor shortens it */
};

int use_reserve(struct use *use, struct ffs_error *error);
void use_free(struct use *use);

/**
 * use_filesystem() - use the file system whose root is @root.
 * @full: until it is full.
 * @errnum: of what failed.
 *
 * Return: NULL if all is well; "full" with 0 if it said before that it has no
 * room, and had none; or the step that failed: "write", "fill" (0: it was never
 * full), "fill-sync", "delete", "sync".
 */
const char *use_filesystem(struct use *use, const char *root, bool full,
			   int *errnum);

/**
 * use_room() - how much goes into one file, which is deleted again.
 * @root: the open root of the file system.
 *
 * Return: NULL, or the step that failed, as above, with @errnum.
 */
const char *use_room(struct use *use, int root, uint64_t *bytes, int *errnum);

#endif
