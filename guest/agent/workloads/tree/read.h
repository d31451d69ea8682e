/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * read.h - reads the files of a tree, 64 KiB at a time, timed.
 */
#ifndef FFSAGENT_TREE_READ_H
#define FFSAGENT_TREE_READ_H

#include <stddef.h>
#include <sys/types.h>

#include "core/error.h"
#include "workloads/tree/run.h"
#include "workloads/tree/walk.h"

#define TREE_READ_BYTES ((size_t)64 << 10)

struct tree_reader {
	struct tree_run *run;
	unsigned char *buffer;	/* TREE_READ_BYTES */
};

int tree_reader_init(struct tree_reader *reader, struct tree_run *run,
		     struct ffs_error *error);
void tree_reader_free(struct tree_reader *reader);

/** tree_open() - open the entry for reading; -1 with errno. */
int tree_open(const struct walk *walk);

/**
 * tree_read() - the next bytes into ->buffer, at most @bytes; 0 at the end, -1
 * with errno.
 */
ssize_t tree_read(struct tree_reader *reader, int fd, size_t bytes);

#endif
