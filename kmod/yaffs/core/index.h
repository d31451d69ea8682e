/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * index.c: a file's index, from chunk id to chunk. It knows of the device only the
 * number of leaves, which it keeps there for the size of a checkpoint.
 */
#ifndef YAFFS_INDEX_H
#define YAFFS_INDEX_H

#include <linux/types.h>

struct yaffs_device;
struct yaffs_node;

struct yaffs_index {
	struct yaffs_node *root;
	u8 levels;		/* 0: root is a leaf, or NULL */
};

int yaffs_index_init(void);		/* module: slab cache */
void yaffs_index_exit(void);
u32 yaffs_index_get(const struct yaffs_index *index, u32 chunk_id);
/* Makes the nodes that yaffs_index_set() of @chunk_id needs. */
int yaffs_index_prepare(struct yaffs_device *dev, struct yaffs_index *index,
			u32 chunk_id);
/* After yaffs_index_prepare(); returns the former entry. */
u32 yaffs_index_set(struct yaffs_index *index, u32 chunk_id, u32 chunk);
/* The largest id not above @chunk_id that has a chunk; 0 if there is none. */
u32 yaffs_index_previous(const struct yaffs_index *index, u32 chunk_id);
/* Calls @visit for each leaf in order, until it returns non-zero. */
int yaffs_index_leaves(const struct yaffs_index *index,
		       int (*visit)(void *context, u32 first_id, const u32 *chunks),
		       void *context);
void yaffs_index_free(struct yaffs_device *dev, struct yaffs_index *index);
/*
 * To free many: takes the only leaf out of an index, or frees the whole index
 * (-ENODATA). Leaves are freed together.
 */
int yaffs_index_take_leaf(struct yaffs_device *dev, struct yaffs_index *index,
			  void **leaf);
void yaffs_index_free_leaves(void **leaves, u32 n);

#endif
