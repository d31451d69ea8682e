/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * shape.h - what is in a generated tree: pure decisions, no I/O.
 *
 * Four distributions make the shape: files per directory, directories per
 * directory, size of a file, depth.  Every directory and every file has a key
 * that comes from the seed and its place only, and draws from a generator of
 * its own that begins at that key.  So no part of the tree depends on the order
 * in which it is looked at: it can be counted before it is made, and checked
 * without remembering anything.
 *
 * The directory of the tree is level 0.  A directory of level L has files,
 * and if L is below the depth, sub-directories.  The depth is drawn once for
 * the tree and anew for each sub-directory of level 0, so branches differ.
 *
 * Limits: 5,000,000 entries, 8,192 levels.  Deeper than some 600 levels a path
 * is longer than Linux takes in one piece (4,095 bytes): such a tree is reached
 * level by level.
 */
#ifndef FFSAGENT_TREE_SHAPE_H
#define FFSAGENT_TREE_SHAPE_H

#include <stdint.h>

#include "core/error.h"
#include "workloads/tree/distribution.h"

#define TREE_ENTRIES_MAX 5000000u
#define TREE_DEPTH_MAX 8192u
/* Room for any name, with its NUL. */
#define TREE_NAME_BYTES 24

struct tree_shape {
	struct distribution files, directories, size, depth;
	uint64_t seed;
};

/* One directory of the tree. */
struct shape_directory {
	uint64_t key;
	uint64_t files, directories;
	uint64_t level, depth;
};

struct shape_file {
	uint64_t key;		/* of its contents */
	uint64_t bytes;
};

struct shape_counts {
	uint64_t directories, files;	/* directories: with level 0 */
	uint64_t bytes;
	uint64_t depth;			/* deepest level */
	uint64_t largest_directory;	/* entries */
};

void shape_root(const struct tree_shape *shape, struct shape_directory *root);

/** shape_child() - the sub-directory of that number, from 1 on. */
void shape_child(const struct tree_shape *shape,
		 const struct shape_directory *parent, uint64_t number,
		 struct shape_directory *child);

/** shape_file_at() - the file of that number, from 1 on. */
void shape_file_at(const struct tree_shape *shape,
		   const struct shape_directory *parent, uint64_t number,
		   struct shape_file *file);

/**
 * shape_count() - go through the whole shape.
 *
 * Return: 0, or -1 with @error: EINVAL if there are too many entries,
 * ENAMETOOLONG if it is too deep, ENOMEM.
 */
int shape_count(const struct tree_shape *shape, struct shape_counts *counts,
		struct ffs_error *error);

/* file00001, dir001; the digits grow as needed. */
void shape_file_name(char name[TREE_NAME_BYTES], uint64_t number);
void shape_directory_name(char name[TREE_NAME_BYTES], uint64_t number);

/** shape_file_number() - the number of a name, or 0 if it is none. */
uint64_t shape_file_number(const char *name);
uint64_t shape_directory_number(const char *name);

#endif
