// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files: their blocks, their size.
 *
 * A file is made shorter from its end on, in pieces of as many blocks as one block of pointers
 * leads to, each with a lock of its own. The size follows each piece: so a commit between two
 * of them leaves a file that is longer than it is to be, and never one with blocks behind its
 * end, which would come to light when the file grows.
 */

#include <linux/err.h>

#include "data.h"
#include "node.h"
#include "tree.h"

int logfs_block_read(struct logfs_node *node, u64 bix, void *page)
{
	int err = logfs_data_get(node->dev, node->ino, bix, LOGFS_OBJECT_BLOCK,
				 page);

	if (err != -ENOENT)
		return err;
	memset(page, 0, LOGFS_BLOCK_BYTES);
	return 0;
}

int logfs_block_write(struct logfs_node *node, u64 bix, const void *page,
		      u64 size)
{
	int err = logfs_data_put(node->dev, node->ino, bix, LOGFS_OBJECT_BLOCK,
				 page);

	return err ? err : logfs_node_extend(node, size);
}

/*
 * Gives up the last blocks from @first on that one block of pointers, or the inode, leads to; or
 * so many of them as a commit has room for. @from: the first that was; U64_MAX: there was none.
 */
static int cut(struct logfs_node *node, u64 first, u64 *from)
{
	struct logfs_device *dev = node->dev;
	u64 last, piece = 0;
	int err = logfs_tree_last(dev, node->ino, &last);

	*from = U64_MAX;
	if (err || last < first)
		return err == -ENXIO ? 0 : err;
	if (last >= LOGFS_DIRECT_POINTERS)
		piece = max_t(u64, last & ~(u64)(dev->most_dropped - 1),
			      LOGFS_DIRECT_POINTERS);
	*from = max_t(u64, first, piece);
	if (piece && piece >= first &&
	    dev->most_dropped == LOGFS_BLOCK_POINTERS)
		return logfs_data_drop_all(dev, node->ino,
					   logfs_block_start(1, last));
	while (!err && last >= *from) {
		err = logfs_data_drop(dev, node->ino, last);
		if (!last--)
			break;
	}
	return err;
}

/* What is behind the end is zero, if the file grows again. */
static int clear_tail(struct logfs_node *node, u64 size)
{
	const u32 within = size & (LOGFS_BLOCK_BYTES - 1);
	const u64 bix = size >> LOGFS_BLOCK_SHIFT;
	u64 pointer;
	u8 *page;
	int err;

	if (!within)
		return 0;
	err = logfs_tree_pointer(node->dev, node->ino, 0, bix, &pointer);
	if (err || !pointer)
		return err;
	page = kmalloc(LOGFS_BLOCK_BYTES, LOGFS_GFP);
	err = logfs_block_read(node, bix, page);
	if (!err) {
		memset(page + within, 0, LOGFS_BLOCK_BYTES - within);
		err = logfs_data_put(node->dev, node->ino, bix,
				     LOGFS_OBJECT_BLOCK, page);
	}
	kfree(page);
	return err;
}

/* A piece of truncation. @done: it was the last. */
static int shorten(struct logfs_node *node, u64 size, bool *done)
{
	const u64 first = (size + LOGFS_BLOCK_BYTES - 1) >> LOGFS_BLOCK_SHIFT;
	u64 from;
	int err = cut(node, first, &from);

	if (err)
		return err;
	*done = from == U64_MAX || from == first;
	if (!*done)
		return logfs_node_set_size(node,
					   min_t(u64, node->size,
						 from << LOGFS_BLOCK_SHIFT));
	err = clear_tail(node, size);
	return err ? err : logfs_node_set_size(node, size);
}

int logfs_truncate(struct logfs_node *node, u64 size)
{
	bool done = false;
	int err;

	if (size && logfs_height((size - 1) >> LOGFS_BLOCK_SHIFT) >
	    node->dev->super.iblock_levels)
		return -EFBIG;
	while (!done) {
		err = logfs_begin_write(node->dev, 0);
		if (err)
			return err;
		if (size >= node->size) {
			err = logfs_node_set_size(node, size);
			done = true;
		} else {
			err = shorten(node, size, &done);
		}
		logfs_unlock(node->dev);
		if (err)
			return err;
	}
	return 0;
}

int logfs_seek(struct logfs_node *node, u64 bix, bool data, u64 *found)
{
	int err = logfs_tree_seek(node->dev, node->ino, bix, data, found);

	if (!err && *found << LOGFS_BLOCK_SHIFT >= node->size)
		return -ENXIO;
	return err;
}

/* Blocks first, then the inode. */
static int delete_piece(struct logfs_node *node, bool *done)
{
	struct logfs_device *dev = node->dev;
	struct logfs_block *block = logfs_tree_inode(dev, node->ino);
	int err = 0;

	*done = true;
	if (block == ERR_PTR(-ENOENT))
		return 0;
	if (IS_ERR(block))
		return PTR_ERR(block);
	if (!dev->victim_ino)
		dev->victim_ino = node->ino;
	if (logfs_tree_has(block))
		err = shorten(node, 0, done);
	if (err || !*done)
		return err;
	block = logfs_tree_inode(dev, node->ino);
	if (IS_ERR(block))
		return PTR_ERR(block);
	err = logfs_tree_give_up(dev, block);
	if (!err && dev->victim_ino == node->ino)
		dev->victim_ino = 0;
	return err;
}

int logfs_node_delete(struct logfs_node *node)
{
	struct logfs_device *dev = node->dev;
	bool done = false;
	int err = 0;

	while (!done && !err) {
		err = logfs_begin_write(dev, 0);
		if (err)
			break;
		err = delete_piece(node, &done);
		if (done || err)
			logfs_node_put(node);
		logfs_unlock(dev);
		if (done || err)
			return err;
	}
	logfs_lock(dev);
	logfs_node_put(node);
	logfs_unlock(dev);
	return err;
}
