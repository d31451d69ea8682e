// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a commit may have caught between two steps. Our operations on directories are whole at
 * each commit (dir.c), but for the deletion of an inode, which comes after the last of its
 * names has gone, and may take a while. Others have more such steps: an inode without a name
 * yet, and a rename of which the old name is still there.
 */

#include <linux/err.h>

#include "data.h"
#include "recover.h"

/* A rename has made the new name; the old one goes. */
static int finish_rename(struct logfs_device *dev)
{
	const u64 dir = dev->rename_dir;
	int err;

	if (!dir)
		return 0;
	err = logfs_begin_write(dev, 0);
	if (err)
		return err;
	err = logfs_data_drop(dev, dir, dev->rename_bix);
	if (!err || err == -ENOENT) {
		dev->rename_dir = 0;
		dev->rename_bix = 0;
		dev->dirty = true;
		err = 0;
	}
	logfs_unlock(dev);
	return err;
}

static int find_victim(struct logfs_device *dev, struct logfs_node **victim)
{
	struct logfs_node *node = logfs_node_get(dev, dev->victim_ino);
	int err;

	*victim = NULL;
	if (node == ERR_PTR(-ENOENT)) {
		dev->victim_ino = 0;
		dev->dirty = true;
		return 0;
	}
	if (IS_ERR(node))
		return PTR_ERR(node);
	if (node->nlink)
		node->nlink--;
	if (!node->nlink) {
		*victim = node;
		return 0;
	}
	err = logfs_node_write(node);
	if (!err)
		dev->victim_ino = 0;
	logfs_node_put(node);
	return err;
}

static int delete_victim(struct logfs_device *dev)
{
	struct logfs_node *victim;
	int err;

	if (!dev->victim_ino)
		return 0;
	err = logfs_begin_write(dev, 0);
	if (err)
		return err;
	err = find_victim(dev, &victim);
	logfs_unlock(dev);
	if (err || !victim)
		return err;
	return logfs_node_delete(victim);
}

int logfs_recover(struct logfs_device *dev)
{
	int err = finish_rename(dev);

	return err ? err : delete_victim(dev);
}
