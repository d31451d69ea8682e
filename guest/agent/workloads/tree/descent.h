/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * descent.h - a chain of open directories, from the root of a tree down.
 *
 * A name is looked up in the directory that holds it, so no path is ever longer
 * than one name, whatever the depth.  At most DESCENT_OPEN directories are held
 * open; on the way back up, one that had to be closed is reached through "..".
 *
 * Limit: nobody else may move directories of the tree meanwhile.
 */
#ifndef FFSAGENT_TREE_DESCENT_H
#define FFSAGENT_TREE_DESCENT_H

#include <stddef.h>

#include "core/error.h"

#define DESCENT_OPEN 200

struct descent {
	int *fds;	/* by level; -1: closed for the time being */
	size_t n, room;
	size_t first_open;
};

/**
 * descent_reserve() - allocate the memory for so many levels.
 * @descent: all zero.
 */
int descent_reserve(struct descent *descent, size_t levels,
		    struct ffs_error *error);

/**
 * descent_enter() - open a directory and go into it.
 * @path: of the root, if none is open; else a name in the directory that was
 * opened last.  A symbolic link is followed for the root only.
 *
 * Return: 0, or -1 with errno.
 */
int descent_enter(struct descent *descent, const char *path);

/** descent_leave() - close the last one. Return: 0, or -1 with errno. */
int descent_leave(struct descent *descent);

/** descent_fd() - of the directory that was opened last. */
static inline int descent_fd(const struct descent *descent)
{
	return descent->fds[descent->n - 1];
}

/** descent_free() - close all; may be called twice. */
void descent_free(struct descent *descent);

#endif
