/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * files.h - the contents of files as CRCs of their sectors; for observe.c.
 *
 * Files are read together: one queue of open, read and close for as many as
 * fit into a buffer.  Neighbouring states mostly have the same files, and to
 * compare 512 bytes with those of the last observation is much faster than
 * their CRC; so the last buffer is kept with its CRCs.
 *
 * A read that fails is made again sector by sector.
 */
#ifndef FFSCRASH_OBSERVE_FILES_H
#define FFSCRASH_OBSERVE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/calls.h"
#include "core/error.h"
#include "observe/crc32.h"
#include "observe/tree.h"
#include "text/text.h"

/* A larger file is read by itself, in pieces. */
#define FILES_BYTES ((size_t)2 << 20)
#define FILES_MAX 512
#define FILES_PATHS_BYTES ((size_t)64 << 10)

/* One file of a buffer. */
struct file_read {
	size_t entry;		/* index in the sorted tree */
	size_t path;		/* where in ->paths */
	size_t data;		/* where in ->data, a multiple of a sector */
	size_t bytes;		/* asked for: the file's size */
	int64_t result;		/* of the read, or negative errno */
};

/* What was read together. */
struct files_read {
	struct file_read files[FILES_MAX];
	size_t n;
	unsigned char *data;	/* [FILES_BYTES] */
	size_t data_used;
	uint32_t *crcs;		/* of each sector of ->data */
	char *paths;		/* [FILES_PATHS_BYTES] */
	size_t paths_used;
};

struct files {
	struct calls calls;
	struct crc32 crc32;
	struct files_read buffers[2];
	struct files_read *now, *before;
};

int files_reserve(struct files *files, struct ffs_error *error);
void files_free(struct files *files);

/**
 * files_read() - read regular files of the sorted tree, from number @from on.
 *
 * Return: up to which, not included, all are read that files_put() can be asked
 * for.
 */
size_t files_read(struct files *files, const struct tree *tree, size_t from);

/**
 * files_put() - append "ERRNO CRCS" of the regular file number @number of the
 * sorted tree, in the order of the tree.
 */
void files_put(struct files *files, const struct tree *tree, size_t number,
	       struct text *text);

#endif
