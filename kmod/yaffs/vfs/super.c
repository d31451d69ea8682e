// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module, the mount and the superblock.
 *
 * The file system lies on an MTD partition, which it uses directly: a mount names
 * it as mtd0, mtd:NAME or /dev/mtdblock0, and the block device is not opened. An
 * erased partition is an empty file system.
 *
 * Options describe how the flash is read and written, so they are fixed for as long
 * as it is mounted; a remount only changes between read-only and writable, and how
 * long the collector may have a call wait. Inodes
 * carry whole seconds, as the format does: what stat(2) shows is what a later mount
 * will show. Reading does not write: times of access are not kept, as in the other
 * file systems for flash.
 *
 * The background thread runs only while the file system is writable. Whoever takes
 * that away stops it first.
 *
 * Limits: no NFS export (an object id is used again and the format has no
 * generation), no quota, no ACLs, no freezing of the background thread.
 */
#define pr_fmt(fmt) "yaffs2: " fmt

#include <linux/fs_context.h>
#include <linux/fs_parser.h>
#include <linux/major.h>
#include <linux/module.h>
#include <linux/mtd/super.h>
#include <linux/seq_file.h>
#include <linux/statfs.h>

#include "../core/blocks.h"
#include "../core/mount.h"
#include "../core/request.h"
#include "../policy/segregated.h"
#include "vfs.h"

/* Bit of yaffs_auto_checkpoint: the next sync writes a checkpoint, others do not. */
#define YAFFS_CHECKPOINT_ONCE	4

/* Erases by which a block may be behind the mean before its contents move. */
#define YAFFS_WEAR_SPREAD	16

static unsigned int yaffs_auto_checkpoint = 1;
module_param(yaffs_auto_checkpoint, uint, 0644);
MODULE_PARM_DESC(yaffs_auto_checkpoint,
		 "sync writes a checkpoint: 0 never, 1 always, 4 the next one");

/* ---- options ---- */

enum yaffs_param {
	YAFFS_PARAM_INBAND_TAGS,
	YAFFS_PARAM_TAGS_ECC_ON,
	YAFFS_PARAM_TAGS_ECC_OFF,
	YAFFS_PARAM_LAZY_LOADING_ON,
	YAFFS_PARAM_LAZY_LOADING_OFF,
	YAFFS_PARAM_DISABLE_SUMMARY,
	YAFFS_PARAM_EMPTY_LOST_FOUND_ON,
	YAFFS_PARAM_EMPTY_LOST_FOUND_OFF,
	YAFFS_PARAM_NO_CACHE,
	YAFFS_PARAM_NO_CHECKPOINT_READ,
	YAFFS_PARAM_NO_CHECKPOINT_WRITE,
	YAFFS_PARAM_NO_CHECKPOINT,
	YAFFS_PARAM_LAYOUT,
	YAFFS_PARAM_WEAR,
	YAFFS_PARAM_WEAR_SPREAD,
	YAFFS_PARAM_GC,
	YAFFS_PARAM_GC_BOUND_US,
};

enum { YAFFS_WEAR_NONE, YAFFS_WEAR_POOLS, YAFFS_WEAR_STATIC };

static const struct constant_table yaffs_wear_modes[] = {
	{ "none", YAFFS_WEAR_NONE },
	{ "pools", YAFFS_WEAR_POOLS },
	{ "static", YAFFS_WEAR_STATIC },
	{}
};

static const struct constant_table yaffs_gc_modes[] = {
	{ "original", false },
	{ "predict", true },
	{}
};

static const struct constant_table yaffs_layouts[] = {
	{ "original", false },
	{ "segregated", true },
	{}
};

static const struct fs_parameter_spec yaffs_parameters[] = {
	fsparam_flag("inband-tags", YAFFS_PARAM_INBAND_TAGS),
	fsparam_flag("tags-ecc-on", YAFFS_PARAM_TAGS_ECC_ON),
	fsparam_flag("tags-ecc-off", YAFFS_PARAM_TAGS_ECC_OFF),
	fsparam_flag("lazy-loading-on", YAFFS_PARAM_LAZY_LOADING_ON),
	fsparam_flag("lazy-loading-off", YAFFS_PARAM_LAZY_LOADING_OFF),
	fsparam_flag("disable-summary", YAFFS_PARAM_DISABLE_SUMMARY),
	fsparam_flag("empty-lost-and-found-on", YAFFS_PARAM_EMPTY_LOST_FOUND_ON),
	fsparam_flag("empty-lost-and-found-off", YAFFS_PARAM_EMPTY_LOST_FOUND_OFF),
	fsparam_flag("no-cache", YAFFS_PARAM_NO_CACHE),
	fsparam_flag("no-checkpoint-read", YAFFS_PARAM_NO_CHECKPOINT_READ),
	fsparam_flag("no-checkpoint-write", YAFFS_PARAM_NO_CHECKPOINT_WRITE),
	fsparam_flag("no-checkpoint", YAFFS_PARAM_NO_CHECKPOINT),
	fsparam_enum("layout", YAFFS_PARAM_LAYOUT, yaffs_layouts),
	fsparam_enum("wear", YAFFS_PARAM_WEAR, yaffs_wear_modes),
	fsparam_u32("wear_spread", YAFFS_PARAM_WEAR_SPREAD),
	fsparam_enum("gc", YAFFS_PARAM_GC, yaffs_gc_modes),
	fsparam_u32("gc_bound_us", YAFFS_PARAM_GC_BOUND_US),
	{}
};

static const struct yaffs_options yaffs_default_options = {
	.policy = &yaffs_policy_original,
	.tags_ecc = true,
	.lazy_loading = true,
	.summary = true,
	.cache = true,
	.checkpoint_read = true,
	.checkpoint_write = true,
};

/* A value where a flag has none, and unknown names, fs_parse() refuses. */
static int yaffs_parse_param(struct fs_context *fc, struct fs_parameter *param)
{
	struct yaffs_options *options = fc->fs_private;
	struct fs_parse_result result;
	int key = fs_parse(fc, yaffs_parameters, param, &result);

	if (key < 0)
		return key;
	switch ((enum yaffs_param)key) {
	case YAFFS_PARAM_INBAND_TAGS:
		options->inband_tags = true;
		break;
	case YAFFS_PARAM_TAGS_ECC_ON:
	case YAFFS_PARAM_TAGS_ECC_OFF:
		options->tags_ecc = key == YAFFS_PARAM_TAGS_ECC_ON;
		break;
	case YAFFS_PARAM_LAZY_LOADING_ON:
	case YAFFS_PARAM_LAZY_LOADING_OFF:
		options->lazy_loading = key == YAFFS_PARAM_LAZY_LOADING_ON;
		break;
	case YAFFS_PARAM_DISABLE_SUMMARY:
		options->summary = false;
		break;
	case YAFFS_PARAM_EMPTY_LOST_FOUND_ON:
	case YAFFS_PARAM_EMPTY_LOST_FOUND_OFF:
		options->empty_lost_found =
			key == YAFFS_PARAM_EMPTY_LOST_FOUND_ON;
		break;
	case YAFFS_PARAM_NO_CACHE:
		options->cache = false;
		break;
	case YAFFS_PARAM_NO_CHECKPOINT_READ:
		options->checkpoint_read = false;
		break;
	case YAFFS_PARAM_NO_CHECKPOINT_WRITE:
		options->checkpoint_write = false;
		break;
	case YAFFS_PARAM_NO_CHECKPOINT:
		options->checkpoint_read = false;
		options->checkpoint_write = false;
		break;
	case YAFFS_PARAM_LAYOUT:
		options->segregated = result.uint_32;
		options->policy = options->segregated ?
			&yaffs_policy_segregated : &yaffs_policy_original;
		break;
	case YAFFS_PARAM_WEAR:
		options->wear = result.uint_32 != YAFFS_WEAR_NONE;
		options->wear_spread = result.uint_32 == YAFFS_WEAR_STATIC ?
				       YAFFS_WEAR_SPREAD : 0;
		break;
	case YAFFS_PARAM_WEAR_SPREAD:
		if (!result.uint_32 || !options->wear_spread)
			return invalfc(fc, "wear_spread is a number from 1, behind wear=static");
		options->wear_spread = result.uint_32;
		break;
	case YAFFS_PARAM_GC:
		options->predict = result.uint_32;
		break;
	case YAFFS_PARAM_GC_BOUND_US:
		options->gc_bound_us = result.uint_32;
		break;
	}
	return 0;
}

static int yaffs_show_options(struct seq_file *seq, struct dentry *root)
{
	const struct yaffs_options *options = &yaffs_dev(d_inode(root))->options;

	if (options->inband_tags)
		seq_puts(seq, ",inband-tags");
	if (!options->tags_ecc)
		seq_puts(seq, ",tags-ecc-off");
	if (!options->lazy_loading)
		seq_puts(seq, ",lazy-loading-off");
	if (!options->summary)
		seq_puts(seq, ",disable-summary");
	if (options->empty_lost_found)
		seq_puts(seq, ",empty-lost-and-found-on");
	if (!options->cache)
		seq_puts(seq, ",no-cache");
	if (!options->checkpoint_read && !options->checkpoint_write)
		seq_puts(seq, ",no-checkpoint");
	else if (!options->checkpoint_read)
		seq_puts(seq, ",no-checkpoint-read");
	else if (!options->checkpoint_write)
		seq_puts(seq, ",no-checkpoint-write");
	if (options->segregated)
		seq_puts(seq, ",layout=segregated");
	if (options->wear_spread)
		seq_printf(seq, ",wear=static,wear_spread=%u",
			   options->wear_spread);
	else if (options->wear)
		seq_puts(seq, ",wear=pools");
	if (options->predict)
		seq_puts(seq, ",gc=predict");
	if (options->gc_bound_us)
		seq_printf(seq, ",gc_bound_us=%u", options->gc_bound_us);
	return 0;
}

/* ---- the superblock's operations ---- */

static int yaffs_sync_fs(struct super_block *sb, int wait)
{
	struct yaffs_device *dev = sb->s_fs_info;
	unsigned int mode = READ_ONCE(yaffs_auto_checkpoint);
	int err;

	if (!wait)
		return 0;
	if (mode & YAFFS_CHECKPOINT_ONCE)
		WRITE_ONCE(yaffs_auto_checkpoint, mode & ~YAFFS_CHECKPOINT_ONCE);
	yaffs_lock(dev);
	err = yaffs_device_sync(dev, mode >= 1);
	yaffs_unlock(dev);
	return flashfs_user_error(err);
}

static void yaffs_put_super(struct super_block *sb)
{
	struct yaffs_device *dev = sb->s_fs_info;
	int err;

	yaffs_background_stop(dev);
	yaffs_proc_remove(dev);
	yaffs_lock(dev);
	err = yaffs_device_set_read_only(dev, true);
	yaffs_unlock(dev);
	if (err)
		pr_err("%s: changes were lost at unmount: error %d\n",
		       dev->mtd->name, err);
	yaffs_device_destroy(dev);
	sb->s_fs_info = NULL;
}

static u32 yaffs_usable_blocks(const struct yaffs_device *dev)
{
	u32 block, usable = 0;

	for (block = 1; block <= dev->n_blocks; block++)
		usable += dev->blocks[block].state != YAFFS_BLOCK_DEAD;
	return usable;
}

static int yaffs_statfs(struct dentry *dentry, struct kstatfs *stat)
{
	struct super_block *sb = dentry->d_sb;
	struct yaffs_device *dev = sb->s_fs_info;

	stat->f_type = YAFFS_MAGIC;
	stat->f_bsize = dev->chunk_bytes;
	stat->f_namelen = YAFFS_NAME_MAX;
	stat->f_fsid = u64_to_fsid(huge_encode_dev(sb->s_dev));
	stat->f_files = YAFFS_MAX_OBJECT_ID;
	yaffs_lock(dev);
	stat->f_blocks = (u64)yaffs_usable_blocks(dev) * dev->pages_per_block;
	stat->f_bfree = yaffs_free_chunks(dev);
	stat->f_bavail = stat->f_bfree;
	stat->f_ffree = YAFFS_MAX_OBJECT_ID - dev->n_objects;
	yaffs_unlock(dev);
	return 0;
}

static const struct super_operations yaffs_super_operations = {
	.free_inode = yaffs_inode_free,
	.write_inode = yaffs_inode_write,
	.evict_inode = yaffs_inode_evict,
	.put_super = yaffs_put_super,
	.sync_fs = yaffs_sync_fs,
	.statfs = yaffs_statfs,
	.show_options = yaffs_show_options,
};

/* ---- mount ---- */

static const struct yaffs_events yaffs_events = {
	.changed = yaffs_checkpoint_invalidate,
	.wants_collection = yaffs_background_wake,
};

static void yaffs_describe_super(struct super_block *sb,
				 const struct yaffs_device *dev)
{
	sb->s_magic = YAFFS_MAGIC;
	sb->s_op = &yaffs_super_operations;
	sb->s_xattr = yaffs_xattr_handlers;
	sb->s_blocksize = PAGE_SIZE;
	sb->s_blocksize_bits = PAGE_SHIFT;
	sb->s_maxbytes = min_t(u64, dev->max_file_bytes, MAX_LFS_FILESIZE);
	/*
	 * A time whose high word is 0xffffffff would be read as one of 32 bits:
	 * that word is only that of times before 1970.
	 */
	sb->s_time_gran = NSEC_PER_SEC;
	sb->s_time_min = 0;
	sb->s_time_max = TIME64_MAX;
	/* NOSEC: security attributes are looked for once, not at each write. */
	sb->s_flags |= SB_NOATIME | SB_NOSEC;
}

static void yaffs_report_mount(const struct yaffs_device *dev)
{
	static const char * const how[] = {
		[YAFFS_BY_NOTHING] = "nothing",
		[YAFFS_BY_SCAN] = "scan",
		[YAFFS_BY_CHECKPOINT] = "checkpoint",
	};

	pr_info("%s: mounted%s by %s: %u blocks of %u pages, %u objects\n",
		dev->mtd->name, dev->read_only ? " read-only" : "",
		how[dev->mounted_by], dev->n_blocks, dev->pages_per_block,
		dev->n_objects);
}

/*
 * put_super is not called before there is a root, so the root is made last and all
 * failures are undone here.
 */
static int yaffs_fill_super(struct super_block *sb, struct fs_context *fc)
{
	bool read_only = sb_rdonly(sb);
	struct yaffs_device *dev;
	struct inode *root;
	int err;

	if (!read_only && !(sb->s_mtd->flags & MTD_WRITEABLE)) {
		errorfc(fc, "%s is read-only: mount it with -o ro",
			sb->s_mtd->name);
		return -EROFS;
	}
	dev = yaffs_device_create(sb->s_mtd, fc->fs_private, &yaffs_events);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	sb->s_fs_info = dev;
	yaffs_describe_super(sb, dev);
	yaffs_lock(dev);
	err = yaffs_device_mount(dev, read_only);
	yaffs_unlock(dev);
	if (err)
		goto out_destroy;

	root = yaffs_iget(sb, YAFFS_ID_ROOT);
	if (IS_ERR(root)) {
		err = PTR_ERR(root);
		goto out_destroy;
	}
	err = read_only ? 0 : yaffs_background_start(dev);
	if (err) {
		iput(root);
		goto out_destroy;
	}
	sb->s_root = d_make_root(root);
	if (!sb->s_root) {
		err = -ENOMEM;
		goto out_background;
	}
	yaffs_proc_add(dev);
	yaffs_report_mount(dev);
	return 0;

out_background:
	yaffs_background_stop(dev);
out_destroy:
	yaffs_device_destroy(dev);
	sb->s_fs_info = NULL;
	return flashfs_user_error(err);
}

static int yaffs_get_tree(struct fs_context *fc)
{
	return get_tree_mtd(fc, yaffs_fill_super);
}

/* ---- remount ---- */

static int yaffs_make_read_only(struct yaffs_device *dev)
{
	int err, restart_err;

	yaffs_background_stop(dev);
	yaffs_lock(dev);
	err = yaffs_device_set_read_only(dev, true);
	yaffs_unlock(dev);
	if (!err)
		return 0;
	restart_err = yaffs_background_start(dev);
	if (restart_err)
		pr_err("%s: no background thread: error %d\n",
		       dev->mtd->name, restart_err);
	return err;
}

static int yaffs_make_writable(struct yaffs_device *dev)
{
	int err;

	if (!(dev->mtd->flags & MTD_WRITEABLE))
		return -EROFS;
	yaffs_lock(dev);
	err = yaffs_device_set_read_only(dev, false);
	yaffs_unlock(dev);
	if (err)
		return err;
	err = yaffs_background_start(dev);
	if (err) {
		yaffs_lock(dev);
		yaffs_device_set_read_only(dev, true);
		yaffs_unlock(dev);
	}
	return err;
}

static bool yaffs_may_change(const struct yaffs_options *now,
			     const struct yaffs_options *wanted)
{
	struct yaffs_options same;

	memcpy(&same, now, sizeof(same));
	same.gc_bound_us = wanted->gc_bound_us;
	return !memcmp(&same, wanted, sizeof(same));
}

static int yaffs_reconfigure(struct fs_context *fc)
{
	struct super_block *sb = fc->root->d_sb;
	struct yaffs_device *dev = sb->s_fs_info;
	const struct yaffs_options *wanted = fc->fs_private;
	bool read_only = fc->sb_flags & SB_RDONLY;
	int err;

	if (!yaffs_may_change(&dev->options, wanted))
		return invalfc(fc, "a remount changes gc_bound_us alone: unmount, then mount");
	yaffs_lock(dev);
	yaffs_bound_set(dev, wanted->gc_bound_us);
	yaffs_unlock(dev);
	err = sync_filesystem(sb);
	if (!(fc->sb_flags_mask & SB_RDONLY) || read_only == sb_rdonly(sb))
		return err;
	if (!err && read_only)
		err = yaffs_make_read_only(dev);
	else if (!err)
		err = yaffs_make_writable(dev);
	return flashfs_user_error(err);
}

/* ---- the file-system type ---- */

static void yaffs_free_context(struct fs_context *fc)
{
	kfree(fc->fs_private);
}

static const struct fs_context_operations yaffs_context_operations = {
	.free = yaffs_free_context,
	.parse_param = yaffs_parse_param,
	.get_tree = yaffs_get_tree,
	.reconfigure = yaffs_reconfigure,
};

/* A remount begins with the options in use, so that only those named can differ. */
static int yaffs_init_context(struct fs_context *fc)
{
	const struct yaffs_options *initial = &yaffs_default_options;

	if (fc->purpose == FS_CONTEXT_FOR_RECONFIGURE)
		initial = &yaffs_dev(d_inode(fc->root))->options;
	fc->fs_private = kmemdup(initial, sizeof(*initial), GFP_KERNEL);
	if (!fc->fs_private)
		return -ENOMEM;
	fc->ops = &yaffs_context_operations;
	return 0;
}

static struct file_system_type yaffs_type = {
	.owner = THIS_MODULE,
	.name = "yaffs2",
	.init_fs_context = yaffs_init_context,
	.parameters = yaffs_parameters,
	.kill_sb = kill_mtd_super,
};
MODULE_ALIAS_FS("yaffs2");

static int __init yaffs_init(void)
{
	int err;

	err = yaffs_index_init();
	if (err)
		return err;
	err = yaffs_objects_init();
	if (err)
		goto out_index;
	err = yaffs_proc_init();
	if (err)
		goto out_objects;
	err = register_filesystem(&yaffs_type);
	if (err)
		goto out_proc;
	return 0;

out_proc:
	yaffs_proc_exit();
out_objects:
	yaffs_objects_exit();
out_index:
	yaffs_index_exit();
	return err;
}

static void __exit yaffs_exit(void)
{
	unregister_filesystem(&yaffs_type);
	/* Inodes are freed by yaffs_inode_free() after a grace period. */
	rcu_barrier();
	yaffs_proc_exit();
	yaffs_objects_exit();
	yaffs_index_exit();
}

module_init(yaffs_init);
module_exit(yaffs_exit);
MODULE_DESCRIPTION("YAFFS2 file system for NAND flash");
MODULE_LICENSE("GPL");
