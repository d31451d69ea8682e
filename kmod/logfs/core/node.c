// SPDX-License-Identifier: GPL-2.0-only
/*
 * Inodes in use. Their pointers, height, size and used bytes are words of a block (cache.c),
 * which the trees change; attributes are the VFS' to change, and go into that block when the
 * inode is written as a whole.
 *
 * A new inode gets the next number that is free after the last one given; after the highest,
 * numbers begin anew, with another generation.
 */

#include <linux/err.h>
#include <linux/stat.h>

#include "node.h"
#include "tree.h"

/**
 * struct counted - a node with what only this file knows
 * @node: itself
 * @hash: in logfs_device.nodes
 * @refs: users
 */
struct counted {
	struct logfs_node node;
	struct hlist_node hash;
	u32 refs;
};

static struct counted *find(struct logfs_device *dev, u64 ino)
{
	struct counted *c;

	hash_for_each_possible(dev->nodes, c, hash, ino)
		if (c->node.ino == ino)
			return c;
	return NULL;
}

static struct counted *make(struct logfs_device *dev, u64 ino)
{
	struct counted *c = kzalloc(sizeof(*c), GFP_NOFS);

	if (!c)
		return NULL;
	INVARIANT(!find(dev, ino), "inode %llu has two nodes", (unsigned long long)ino);
	c->node.dev = dev;
	c->node.ino = ino;
	c->refs = 1;
	hash_add(dev->nodes, &c->hash, ino);
	return c;
}

static void from_words(struct logfs_node *node, const struct logfs_inode *i)
{
	node->mode = i->mode;
	node->flags = i->flags;
	node->uid = i->uid;
	node->gid = i->gid;
	node->nlink = i->nlink;
	node->generation = i->generation;
	node->ctime_ns = i->ctime_ns;
	node->mtime_ns = i->mtime_ns;
	node->atime_ns = i->atime_ns;
	node->used_bytes = i->used_bytes;
	node->size = i->size;
	if (S_ISCHR(i->mode) || S_ISBLK(i->mode))
		node->rdev = i->pointer[0];
}

struct logfs_node *logfs_node_get(struct logfs_device *dev, u64 ino)
{
	struct counted *c = find(dev, ino);
	struct logfs_block *block;
	struct logfs_inode i;

	logfs_assert_locked(dev);
	if (c) {
		c->refs++;
		return &c->node;
	}
	block = logfs_tree_inode(dev, ino);
	if (IS_ERR(block))
		return ERR_CAST(block);
	if (logfs_inode_decode((const void *)block->words, &i))
		return ERR_PTR(-EUCLEAN);
	c = make(dev, ino);
	if (!c)
		return ERR_PTR(-ENOMEM);
	from_words(&c->node, &i);
	return &c->node;
}

void logfs_node_put(struct logfs_node *node)
{
	struct counted *c = container_of(node, struct counted, node);

	logfs_assert_locked(node->dev);
	INVARIANT(c->refs, "the node of inode %llu is put too often",
		  (unsigned long long)node->ino);
	if (--c->refs)
		return;
	hash_del(&c->hash);
	kfree(c);
}

u64 logfs_node_last_ino(const struct logfs_device *dev)
{
	return min_t(u64, LOGFS_MAX_INO,
		     logfs_last_bix(dev->super.ifile_levels - 1));
}

/* The next number that neither flash nor anybody here has. */
static int next_ino(struct logfs_device *dev, u64 *ino)
{
	const u64 last = logfs_node_last_ino(dev);
	bool wrapped = false;
	int err;

	for (*ino = dev->last_ino + 1;; ++*ino) {
		err = logfs_tree_seek(dev, LOGFS_INO_INODES, *ino, false, ino);
		if (err)
			return err;
		if (*ino <= last && !find(dev, *ino))
			return 0;
		if (*ino <= last)
			continue;
		if (wrapped)
			return -ENOSPC;
		wrapped = true;
		dev->generation++;
		*ino = LOGFS_RESERVED_INOS;
	}
}

struct logfs_node *logfs_node_new(struct logfs_device *dev,
				  const struct logfs_node *dir, u16 mode)
{
	struct counted *c;
	u64 ino;
	int err = next_ino(dev, &ino);

	logfs_assert_locked(dev);
	if (err)
		return ERR_PTR(err);
	c = make(dev, ino);
	if (!c)
		return ERR_PTR(-ENOMEM);
	dev->last_ino = ino;
	c->node.mode = mode;
	c->node.flags = dir->flags & LOGFS_FLAG_COMPRESS;
	c->node.nlink = 1;
	c->node.generation = dev->generation;
	return &c->node;
}

/* Attributes into their words; what the tree counts stays. */
static void to_words(const struct logfs_node *node, struct logfs_block *block)
{
	struct logfs_inode i = {
		.mode = node->mode,
		.height = logfs_tree_height(block),
		.flags = node->flags,
		.uid = node->uid,
		.gid = node->gid,
		.nlink = node->nlink,
		.generation = node->generation,
		.ctime_ns = node->ctime_ns,
		.mtime_ns = node->mtime_ns,
		.atime_ns = node->atime_ns,
	};
	u32 word;

	for (word = 0; word < LOGFS_WORD_USED; word++)
		block->words[word] = cpu_to_be64(logfs_inode_word(&i, word));
	if (S_ISCHR(node->mode) || S_ISBLK(node->mode))
		block->words[LOGFS_INODE_DATA] = cpu_to_be64(node->rdev);
}

int logfs_node_write(struct logfs_node *node)
{
	struct logfs_device *dev = node->dev;
	struct logfs_block *block = logfs_tree_inode(dev, node->ino);
	const u64 size = (node->ino + 1) << LOGFS_BLOCK_SHIFT;

	logfs_assert_locked(dev);
	if (block == ERR_PTR(-ENOENT)) {
		block = logfs_tree_new_block(dev, LOGFS_INO_INODES, 0,
					     node->ino);
		if (logfs_word(&dev->master, LOGFS_WORD_SIZE) < size)
			logfs_cache_set(dev, &dev->master, LOGFS_WORD_SIZE,
					size);
	}
	if (IS_ERR(block))
		return PTR_ERR(block);
	to_words(node, block);
	return logfs_tree_write(dev, block);
}

void logfs_node_refresh(struct logfs_node *node)
{
	struct logfs_block *block = logfs_tree_inode(node->dev, node->ino);

	if (IS_ERR(block))
		return;
	node->used_bytes = logfs_word(block, LOGFS_WORD_USED);
	node->size = logfs_word(block, LOGFS_WORD_SIZE);
}

int logfs_node_set_size(struct logfs_node *node, u64 size)
{
	struct logfs_block *block = logfs_tree_inode(node->dev, node->ino);

	if (IS_ERR(block))
		return PTR_ERR(block);
	logfs_cache_set(node->dev, block, LOGFS_WORD_SIZE, size);
	logfs_node_refresh(node);
	return 0;
}

int logfs_node_extend(struct logfs_node *node, u64 size)
{
	if (size > node->size)
		return logfs_node_set_size(node, size);
	logfs_node_refresh(node);
	return 0;
}
