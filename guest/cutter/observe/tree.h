/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tree.h - the names of a tree, with what lstat says about each; for observe.c.
 */
#ifndef FFSCRASH_TREE_H
#define FFSCRASH_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "core/calls.h"
#include "core/error.h"

struct entry {
	size_t offset;		/* of the path in ->names */
	const char *path;	/* once all names are known: with the root's */
	const char *name;	/* without it; "." is the root */
	struct stat stat;
	int errnum;		/* of listing it, or of lstat if it is lost */
	char *listing;		/* of a directory, what was read of it */
	size_t listed;		/* bytes of it */
	bool late;		/* there is more */
	unsigned char type;	/* DT_* as the directory says */
	bool lost;		/* lstat refuses it */
};

struct tree {
	struct calls calls;
	struct entry *entries;	/* unsorted; the root first */
	size_t n, room;
	char *names;
	size_t names_used, names_room;
	const struct entry **sorted;	/* [n], by path */
	size_t sorted_room;
	char *listing;		/* room for some directories */
	size_t prefix;		/* bytes of a path before the name */
	bool failed;		/* no memory, or too many names */
};

int tree_reserve(struct tree *tree, struct ffs_error *error);
void tree_free(struct tree *tree);

/**
 * tree_read() - all names below the directory @root.
 *
 * ->failed says that there are more; the root then has the error.
 */
void tree_read(struct tree *tree, const char *root);

#endif
