/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * model.h - what a file system must contain, as plain data structures.
 *
 * A node is an inode; an entry is a name of it in a directory.  Contents are
 * kept byte for byte, in pages; a page that was never written, or was cut off,
 * is a hole and reads as zeros.  Nothing here makes a system call.
 */
#ifndef RANDOM_MODEL_H
#define RANDOM_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#define PAGE 4096u
#define DEPTH_MAX 7

struct node;

/* An instant between two readings of the clock, in ns since 1970. */
struct time_range {
	int64_t low;
	int64_t high;
};

struct xattr {
	struct xattr *next;
	size_t bytes;
	unsigned char *value;
	char name[];
};

struct entry {
	struct entry *next;	/* in the directory */
	struct node *dir;
	struct node *node;
	size_t slot;		/* in the model's table */
	bool seen;		/* by the comparison under way */
	char *name;
};

struct node {
	unsigned int id;
	mode_t mode;		/* with the type */
	uid_t uid;
	gid_t gid;
	unsigned int links;	/* names; of a directory: 2 + sub-directories */
	unsigned int handles;	/* open descriptors */
	dev_t rdev;
	struct time_range mtime;
	struct time_range ctime;
	bool ctime_loose;	/* may yet fall back to an earlier one */
	struct xattr *xattrs;
	size_t xattr_bytes;
	ino_t ino;		/* as seen last; 0: not yet seen */
	bool compared;		/* by the comparison under way */

	uint64_t size;		/* of a file or a symbolic link's target */
	unsigned char **page;	/* of a file */
	size_t slots;
	size_t pages;		/* that are no hole */
	char *target;		/* of a symbolic link */

	struct entry *entries;	/* of a directory */
	size_t entry_count;
	struct entry *self;	/* a directory's only name; NULL: the root */
};

struct model {
	struct node *root;
	struct entry **entry;	/* every name but the root */
	size_t entries;
	size_t entries_room;
	size_t nodes;
	uint64_t bytes;		/* of all pages that are no hole */
	unsigned int next_id;
};

void model_init(struct model *model);

/** node_new() - a node without a name; contents and attributes are zero. */
struct node *node_new(struct model *model, mode_t mode);

/** node_drop() - frees @node if it has neither name nor open descriptor. */
void node_drop(struct model *model, struct node *node);

/** entry_find() - the entry @name of @dir, or NULL. */
struct entry *entry_find(const struct node *dir, const char *name);

/** entry_add() - a new name; counts the links of node and directory. */
struct entry *entry_add(struct model *model, struct node *dir,
			const char *name, struct node *node);

/** entry_remove() - the reverse; the node stays, even without a name. */
void entry_remove(struct model *model, struct entry *entry);

/** entry_move() - rename() onto a name that does not exist. */
void entry_move(struct entry *entry, struct node *dir, const char *name);

/** entry_swap() - renameat2() with RENAME_EXCHANGE. */
void entry_swap(struct entry *a, struct entry *b);

/** is_inside() - whether @dir is @ancestor or below it. */
bool is_inside(const struct node *dir, const struct node *ancestor);

/** node_depth() - steps from the root; node_height(): to the lowest below. */
unsigned int node_depth(const struct node *dir);
unsigned int node_height(const struct node *node);

/* Contents of a regular file. */
void content_write(struct model *model, struct node *file, uint64_t offset,
		   const unsigned char *data, size_t bytes);
void content_truncate(struct model *model, struct node *file, uint64_t size);
void content_read(const struct node *file, uint64_t offset, unsigned char *data,
		  size_t bytes);

/** content_hole() - bytes of the hole at @offset, 0 if there is data. */
uint64_t content_hole(const struct node *file, uint64_t offset);

struct xattr *xattr_find(const struct node *node, const char *name);
void xattr_set(struct node *node, const char *name, const unsigned char *value,
	       size_t bytes);
void xattr_remove(struct node *node, const char *name);

/** allocate() - zeroed memory, or the end of the program. */
void *allocate(size_t bytes);

#endif
