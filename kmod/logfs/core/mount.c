// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mounting: the superblock, the last commit, and the root directory. What is read does not grow
 * with the device. Segments are looked at when the first operation needs one (gc.c).
 */

#include <linux/err.h>

#include "area.h"
#include "flash.h"
#include "cache.h"
#include "data.h"
#include "gc.h"
#include "journal.h"
#include "node.h"
#include "recover.h"
#include "tree.h"

static int make_lists(struct logfs_device *dev)
{
	int err = logfs_list_make(&dev->free, LOGFS_FREE_LIST);
	u32 i;

	if (!err)
		err = logfs_list_make(&dev->worn, LOGFS_OTHER_LIST);
	for (i = 0; i < LOGFS_GC_LEVELS && !err; i++)
		err = logfs_list_make(&dev->by_distance[i], LOGFS_OTHER_LIST);
	return err;
}

static int make_buffers(struct logfs_device *dev)
{
	const u32 payload_bytes = dev->unit_bytes + LOGFS_BLOCK_BYTES;
	bool all = true;
	u32 i;

	for (i = 0; i < LOGFS_READ_PAGES; i++) {
		dev->pages[i].place = U64_MAX;
		dev->pages[i].bytes = kmalloc(dev->page_bytes, GFP_KERNEL);
		all = all && dev->pages[i].bytes;
	}
	for (i = 0; i < LOGFS_GC_LEVELS; i++) {
		if (!logfs_has_level(&dev->super, i))
			continue;
		dev->open[i].unit = kzalloc(dev->unit_bytes, GFP_KERNEL);
		all = all && dev->open[i].unit;
	}
	dev->journal.unit = kzalloc(dev->unit_bytes, GFP_KERNEL);
	dev->journal.payload = kzalloc(payload_bytes, GFP_KERNEL);
	dev->packed = kmalloc(payload_bytes, GFP_KERNEL);
	dev->object = kmalloc(LOGFS_BLOCK_BYTES, GFP_KERNEL);
	dev->master.words = kcalloc(LOGFS_INODE_WORDS, sizeof(__be64),
				    GFP_KERNEL);
	if (!all || !dev->journal.unit || !dev->journal.payload ||
	    !dev->packed || !dev->object || !dev->master.words)
		return -ENOMEM;
	return make_lists(dev);
}

static void free_buffers(struct logfs_device *dev)
{
	u32 i;

	for (i = 0; i < LOGFS_READ_PAGES; i++)
		kfree(dev->pages[i].bytes);
	for (i = 0; i < LOGFS_GC_LEVELS; i++) {
		kfree(dev->open[i].unit);
		kfree(dev->by_distance[i].at);
	}
	kfree(dev->free.at);
	kfree(dev->worn.at);
	kfree(dev->journal.unit);
	kfree(dev->journal.payload);
	kfree(dev->packed);
	kfree(dev->object);
	kfree(dev->master.words);
	logfs_pack_forget(dev);
}

static struct logfs_device *make_device(struct mtd_info *mtd)
{
	struct logfs_device *dev = kzalloc(sizeof(*dev), GFP_KERNEL);

	if (!dev)
		return NULL;
	dev->mtd = mtd;
	if (INVARIANTS)
		dev->is_private = true;
	mutex_init(&dev->lock);
	INIT_LIST_HEAD(&dev->left);
	INIT_LIST_HEAD(&dev->lru);
	INIT_LIST_HEAD(&dev->touched);
	INIT_LIST_HEAD(&dev->master.lru);
	dev->master.ino = LOGFS_INO_INODES;
	dev->master.bix = LOGFS_INO_INODES;
	hash_init(dev->blocks);
	hash_init(dev->nodes);
	xa_init(&dev->changed);
	xa_init(&dev->stuck);
	xa_init(&dev->scrub);
	return dev;
}

void logfs_unmount(struct logfs_device *dev)
{
	struct logfs_left *left, *next;

	INVARIANT(hash_empty(dev->nodes), "an inode is in use while it is unmounted");
	if (INVARIANTS)
		dev->is_private = true;
	list_for_each_entry_safe(left, next, &dev->left, list)
		logfs_area_free_left(left);
	logfs_cache_free(dev);
	logfs_changed_clear(dev);
	xa_destroy(&dev->changed);
	xa_destroy(&dev->stuck);
	xa_destroy(&dev->scrub);
	free_buffers(dev);
	mutex_destroy(&dev->lock);
	kfree(dev);
}

/* ---- what is there ---- */

static int format(struct logfs_device *dev)
{
	int err;

	pr_info("logfs: %s is erased: an empty file system is written\n",
		dev->mtd->name);
	dev->writable = true;
	err = logfs_mkfs(dev);
	if (err)
		pr_err("logfs: %s cannot be formatted (%d): look in the kernel log for what the chip says\n",
		       dev->mtd->name, err);
	return err;
}

/* There is no superblock. */
static int open_erased(struct logfs_device *dev, bool writable)
{
	int err;

	if (!logfs_mkfs_is_erased(dev)) {
		pr_err("logfs: %s: there is no LogFS here, and it is not erased: erase it to have an empty file system (flash_erase), or check it\n",
		       dev->mtd->name);
		return -EINVAL;
	}
	if (!writable) {
		pr_err("logfs: %s is erased: mount it writable once, or write an image to it (ffslab mkfs logfs)\n",
		       dev->mtd->name);
		return -EINVAL;
	}
	err = logfs_mkfs_plan(dev);
	if (!err)
		err = make_buffers(dev);
	return err ? err : format(dev);
}

static int open_existing(struct logfs_device *dev, bool writable)
{
	bool was_later;
	int err;

	if (!dev->most_aliases) {
		pr_err("logfs: %s: segments of %u bytes are too small for a journal\n",
		       dev->mtd->name, dev->segment_bytes);
		return -EINVAL;
	}
	err = make_buffers(dev);
	if (!err)
		err = logfs_replay(dev, &was_later);
	if (err == -ENODATA && !was_later && writable &&
	    logfs_mkfs_was_cut(dev))
		return format(dev);
	if (err)
		pr_err("logfs: %s: no commit in the journal can be used (%d): check the partition\n",
		       dev->mtd->name, err);
	/* Another state than that of the last commit may be looked at. */
	if (err == -ENODATA || (!err && dev->failed && writable))
		return -EUCLEAN;
	return err;
}

static int open_device(struct logfs_device *dev, bool writable)
{
	struct logfs_block *root;
	int err = logfs_super_read(dev);

	if (err == -EINVAL || err == -EUCLEAN)
		err = open_erased(dev, writable);
	else if (!err)
		err = open_existing(dev, writable);
	else
		pr_err("logfs: %s: the superblock cannot be used (%d)\n",
		       dev->mtd->name, err);
	if (err)
		return err;
	root = logfs_tree_inode(dev, LOGFS_INO_ROOT);
	if (IS_ERR(root)) {
		err = PTR_ERR(root);
		pr_err("logfs: %s: the root directory cannot be read (%d): check the partition\n",
		       dev->mtd->name, err);
		return err == -ENOENT ? -EUCLEAN : err;
	}
	return 0;
}

/* ---- what others call ---- */

/* Of a remount others look on. */
int logfs_make_writable(struct logfs_device *dev)
{
	int err;

	if (dev->writable)
		return 0;
	if (dev->failed || dev->super.read_only)
		return -EROFS;
	logfs_lock(dev);
	dev->writable = true;
	logfs_super_repair(dev);
	logfs_unlock(dev);
	err = logfs_recover(dev);
	if (err)
		dev->writable = false;
	return err;
}

int logfs_make_read_only(struct logfs_device *dev)
{
	int err = logfs_begin_write(dev, 0);

	if (err)
		return dev->writable ? err : 0;
	err = logfs_commit_short(dev);
	if (!err)
		dev->writable = false;
	logfs_unlock(dev);
	return err;
}

struct logfs_device *logfs_mount(struct mtd_info *mtd, bool writable)
{
	struct logfs_device *dev = make_device(mtd);
	int err;

	if (!dev)
		return ERR_PTR(-ENOMEM);
	err = open_device(dev, writable);
	if (INVARIANTS)
		dev->is_private = false;
	if (!err && writable)
		err = logfs_make_writable(dev);
	if (!err) {
		logfs_pack_forget(dev);
		return dev;
	}
	logfs_unmount(dev);
	return ERR_PTR(err);
}

struct mtd_info *logfs_mtd(const struct logfs_device *dev)
{
	return dev->mtd;
}
