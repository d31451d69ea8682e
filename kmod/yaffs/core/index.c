// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file's index: from chunk id to chunk, a radix tree in memory only. Leaves hold 16
 * chunk numbers, inner nodes 8 children, 64 bytes each: four bytes of memory for each
 * page of a file that is written from the beginning, little for a sparse one. Depth
 * is at most 9, for the largest chunk id.
 *
 * Leaves are also the unit in which the checkpoint stores indices.
 */

#include <linux/slab.h>

#include "../../compat.h"
#include "device.h"
#include "index.h"

#define LEAF_SHIFT	4
#define INNER_SHIFT	3
#define INNER_CHILDREN	8

struct yaffs_node {
	union {
		struct yaffs_node *child[INNER_CHILDREN];
		u32 chunk[YAFFS_LEAF_ENTRIES];
	};
};

static_assert(YAFFS_LEAF_ENTRIES == 1 << LEAF_SHIFT, "leaf");
static_assert(INNER_CHILDREN == 1 << INNER_SHIFT, "inner node");

static struct kmem_cache *node_cache;

int yaffs_index_init(void)
{
	node_cache = KMEM_CACHE(yaffs_node, SLAB_RECLAIM_ACCOUNT);
	return node_cache ? 0 : -ENOMEM;
}

void yaffs_index_exit(void)
{
	kmem_cache_destroy(node_cache);
}

static struct yaffs_node *new_node(void)
{
	return kmem_cache_zalloc(node_cache, GFP_NOFS);
}

/* Leaves below a node whose children are @level deep; 28 bits are the most. */
static bool covers(u8 levels, u32 leaf)
{
	return levels * INNER_SHIFT >= 28 - LEAF_SHIFT ||
	       !(leaf >> (levels * INNER_SHIFT));
}

static u32 slot_of(u32 leaf, u8 level)
{
	return (leaf >> ((level - 1) * INNER_SHIFT)) & (INNER_CHILDREN - 1);
}

static struct yaffs_node *find_leaf(const struct yaffs_index *index, u32 leaf)
{
	struct yaffs_node *node = index->root;
	u8 level;

	if (!covers(index->levels, leaf))
		return NULL;
	for (level = index->levels; node && level; level--)
		node = node->child[slot_of(leaf, level)];
	return node;
}

u32 yaffs_index_get(const struct yaffs_index *index, u32 chunk_id)
{
	struct yaffs_node *leaf = find_leaf(index, chunk_id >> LEAF_SHIFT);

	return leaf ? leaf->chunk[chunk_id & (YAFFS_LEAF_ENTRIES - 1)] : 0;
}

static int make_tall_enough(struct yaffs_index *index, u32 leaf)
{
	struct yaffs_node *node;

	while (!covers(index->levels, leaf)) {
		if (index->root) {
			node = new_node();
			if (!node)
				return -ENOMEM;
			node->child[0] = index->root;
			index->root = node;
		}
		index->levels++;
	}
	return 0;
}

int yaffs_index_prepare(struct yaffs_device *dev, struct yaffs_index *index,
			u32 chunk_id)
{
	u32 leaf = chunk_id >> LEAF_SHIFT;
	struct yaffs_node **node = &index->root;
	u8 level;
	int err;

	err = make_tall_enough(index, leaf);
	if (err)
		return err;
	for (level = index->levels;; level--) {
		if (!*node) {
			*node = new_node();
			if (!*node)
				return -ENOMEM;
			if (!level)
				dev->n_leaves++;
		}
		if (!level)
			return 0;
		node = &(*node)->child[slot_of(leaf, level)];
	}
}

u32 yaffs_index_set(struct yaffs_index *index, u32 chunk_id, u32 chunk)
{
	struct yaffs_node *leaf = find_leaf(index, chunk_id >> LEAF_SHIFT);
	u32 *entry, old;

	if (!leaf)
		return 0;
	entry = &leaf->chunk[chunk_id & (YAFFS_LEAF_ENTRIES - 1)];
	old = *entry;
	*entry = chunk;
	return old;
}

/* The largest used id in @node that is not above @limit; 0: none. */
static u32 last_in(const struct yaffs_node *node, u8 level, u32 first, u32 limit)
{
	u32 shift = LEAF_SHIFT + (level ? (level - 1) * INNER_SHIFT : 0);
	u32 found;
	int i;

	if (!level) {
		i = min_t(u32, limit - first, YAFFS_LEAF_ENTRIES - 1);
		for (; i >= 0; i--)
			if (node->chunk[i])
				return first + i;
		return 0;
	}
	i = min_t(u32, (limit - first) >> shift, INNER_CHILDREN - 1);
	for (; i >= 0; i--) {
		if (!node->child[i])
			continue;
		found = last_in(node->child[i], level - 1,
				first + ((u32)i << shift), limit);
		if (found)
			return found;
	}
	return 0;
}

u32 yaffs_index_previous(const struct yaffs_index *index, u32 chunk_id)
{
	if (!index->root)
		return 0;
	return last_in(index->root, index->levels, 0, chunk_id);
}

static int visit_leaves(const struct yaffs_node *node, u8 level, u32 first,
			int (*visit)(void *context, u32 first_id,
				     const u32 *chunks), void *context)
{
	u32 shift = LEAF_SHIFT + (level ? (level - 1) * INNER_SHIFT : 0);
	int i, ret = 0;

	if (!level)
		return visit(context, first, node->chunk);
	for (i = 0; i < INNER_CHILDREN && !ret; i++)
		if (node->child[i])
			ret = visit_leaves(node->child[i], level - 1,
					   first + ((u32)i << shift), visit,
					   context);
	return ret;
}

int yaffs_index_leaves(const struct yaffs_index *index,
		       int (*visit)(void *context, u32 first_id,
				    const u32 *chunks), void *context)
{
	if (!index->root)
		return 0;
	return visit_leaves(index->root, index->levels, 0, visit, context);
}

static void free_node(struct yaffs_device *dev, struct yaffs_node *node,
		      u8 level)
{
	int i;

	if (!level)
		dev->n_leaves--;
	for (i = 0; level && i < INNER_CHILDREN; i++)
		if (node->child[i])
			free_node(dev, node->child[i], level - 1);
	kmem_cache_free(node_cache, node);
}

int yaffs_index_take_leaf(struct yaffs_device *dev, struct yaffs_index *index,
			  void **leaf)
{
	*leaf = index->root;
	if (!*leaf || index->levels) {
		yaffs_index_free(dev, index);
		return -ENODATA;
	}
	dev->n_leaves--;
	index->root = NULL;
	return 0;
}

void yaffs_index_free_leaves(void **leaves, u32 n)
{
	compat_free_bulk(node_cache, n, leaves);
}

void yaffs_index_free(struct yaffs_device *dev, struct yaffs_index *index)
{
	if (index->root)
		free_node(dev, index->root, index->levels);
	memset(index, 0, sizeof(*index));
}
