/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tree.h - directories within each other, and empty files in them, as entries: under
 * a name in a directory is a node.
 *
 * A node that two entries lead to is there twice, as a file system can leave a
 * directory after a rename that was cut.
 */
#ifndef FFSCRASH_TREE_H
#define FFSCRASH_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TREE_NODES 48
#define TREE_DIRECTORY_NAMES 5
#define TREE_NAMES 7
#define TREE_DEPTH 4	/* of what calls make */
#define TREE_PATH_BYTES 32
#define TREE_ROOT 0	/* and as a child: no node */

struct tree {
	uint8_t child[TREE_NODES][TREE_NAMES];
};

/* What is under a name from now on; TREE_ROOT: nothing. */
struct tree_entry {
	uint8_t parent, name, child;
};

/* The directories of a tree, each with what leads to it; the root is the first. */
struct tree_directories {
	size_t n;
	struct tree_entry entry[TREE_NODES];
	uint8_t depth[TREE_NODES];
};

/** tree_name() - the text of a name: the first of them are of directories. */
const char *tree_name(uint8_t name);

/** tree_find_name() - TREE_NAMES if it is none. */
uint8_t tree_find_name(const char *text);

static inline bool tree_is_file_name(uint8_t name)
{
	return name >= TREE_DIRECTORY_NAMES;
}

void tree_put(struct tree *tree, const struct tree_entry *entry);

/** tree_list() - the directories that the root leads to; each may be there once. */
void tree_list(const struct tree *tree, struct tree_directories *list);

/** tree_is_within() - whether @node is @top or below it. */
bool tree_is_within(const struct tree *tree, uint8_t top, uint8_t node);

/** tree_height() - 1 for a directory without any in it. */
unsigned int tree_height(const struct tree *tree, uint8_t node);

/** tree_path() - of the entry @name in the directory @parent. */
void tree_path(const struct tree *tree, uint8_t parent, uint8_t name,
	       char path[TREE_PATH_BYTES]);

/** tree_is_empty() - whether there is nothing under this node. */
bool tree_is_empty(const struct tree *tree, uint8_t node);

/**
 * tree_differs() - whether @one and @other have different names anywhere.
 * @path: of the first that only one of them has, if so; only @one's: @in_one.
 */
bool tree_differs(const struct tree *one, const struct tree *other,
		  char path[TREE_PATH_BYTES], bool *in_one);

#endif
