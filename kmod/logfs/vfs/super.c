// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module, the mount and the superblock.
 *
 * The file system lies on an MTD partition, which it uses directly: a mount names it as
 * mtd0, mtd:NAME or /dev/mtdblock0, and the block device is not opened. An erased
 * partition is an empty file system; a writable mount formats it.
 *
 * Whether data are compressed is a flag of each inode, which it has from its directory.
 * The option "compress" sets that of the root, as chattr(1) would.
 *
 * Reading does not write: times of access are not kept, as in the other file systems
 * for flash.
 *
 * Limits: a block of the format is a page of the page cache, so kernels with larger
 * pages cannot mount. No NFS export, no quota, no ACLs, no extended attributes.
 */
#define pr_fmt(fmt) "logfs: " fmt

#include <linux/fs_context.h>
#include <linux/fs_parser.h>
#include <linux/module.h>
#include <linux/mtd/super.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/statfs.h>

#include "vfs.h"

/* ---- options ---- */

enum logfs_param { LOGFS_PARAM_COMPRESS };

/* Of a mount under way; afterwards the flag of the root is all that is left of it. */
struct logfs_options {
	bool compress;
};

static const struct fs_parameter_spec logfs_parameters[] = {
	fsparam_flag("compress", LOGFS_PARAM_COMPRESS),
	{}
};

/* A value where a flag has none, and unknown names, fs_parse() refuses. */
static int logfs_parse_param(struct fs_context *fc, struct fs_parameter *param)
{
	struct logfs_options *options = fc->fs_private;
	struct fs_parse_result result;
	int key = fs_parse(fc, logfs_parameters, param, &result);

	if (key < 0)
		return key;
	options->compress = true;
	return 0;
}

static int logfs_show_options(struct seq_file *seq, struct dentry *root)
{
	if (READ_ONCE(logfs_node_of(d_inode(root))->flags) & LOGFS_FLAG_COMPRESS)
		seq_puts(seq, ",compress");
	return 0;
}

static int logfs_apply_options(struct inode *root, const struct logfs_options *options)
{
	struct logfs_node *node = logfs_node_of(root);
	int err;

	if (!options->compress || node->flags & LOGFS_FLAG_COMPRESS)
		return 0;
	err = logfs_begin_write(node->dev, 0);
	if (err)
		return err;
	node->flags |= LOGFS_FLAG_COMPRESS;
	err = logfs_node_write(node);
	logfs_unlock(node->dev);
	return err;
}

/* ---- the superblock's operations ---- */

static int logfs_sync_fs(struct super_block *sb, int wait)
{
	return wait ? flashfs_user_error(logfs_sync(sb)) : 0;
}

static void logfs_put_super(struct super_block *sb)
{
	struct logfs_device *dev = sb->s_fs_info;
	int err = logfs_sync_fs(sb, 1);

	if (!err && !sb_rdonly(sb))
		err = flashfs_user_error(logfs_make_read_only(dev));
	logfs_proc_remove(dev);
	if (err)
		pr_err("%s: changes were lost at unmount: error %d\n",
		       logfs_mtd(dev)->name, err);
	logfs_kept_end(sb);
	logfs_unmount(dev);
	sb->s_fs_info = NULL;
}

static int logfs_statfs(struct dentry *dentry, struct kstatfs *stat)
{
	struct super_block *sb = dentry->d_sb;
	struct logfs_device *dev = sb->s_fs_info;
	struct logfs_space space;

	logfs_lock(dev);
	logfs_space(dev, &space);
	logfs_unlock(dev);
	stat->f_type = LOGFS_STATFS_MAGIC;
	stat->f_bsize = LOGFS_BLOCK_BYTES;
	stat->f_namelen = LOGFS_NAME_MAX;
	stat->f_fsid = u64_to_fsid(huge_encode_dev(sb->s_dev));
	stat->f_blocks = space.blocks;
	stat->f_bfree = space.free;
	stat->f_bavail = space.free;
	stat->f_files = space.inodes;
	stat->f_ffree = space.free_inodes;
	return 0;
}

static const struct super_operations logfs_super_operations = {
	.write_inode = logfs_inode_write,
	.evict_inode = logfs_inode_evict,
	.put_super = logfs_put_super,
	.sync_fs = logfs_sync_fs,
	.statfs = logfs_statfs,
	.show_options = logfs_show_options,
};

/* ---- mount ---- */

static void logfs_describe_super(struct super_block *sb)
{
	sb->s_magic = LOGFS_STATFS_MAGIC;
	sb->s_op = &logfs_super_operations;
	sb->s_blocksize = LOGFS_BLOCK_BYTES;
	sb->s_blocksize_bits = LOGFS_BLOCK_SHIFT;
	sb->s_maxbytes = min_t(u64, LOGFS_MAX_FILE_BYTES, MAX_LFS_FILESIZE);
	/* Times are 64 bits of nanoseconds, none before 1970. */
	sb->s_time_gran = 1;
	sb->s_time_min = 0;
	sb->s_time_max = div_u64(U64_MAX, NSEC_PER_SEC) - 1;
	/* NOSEC: there are no security attributes to look for at each write. */
	sb->s_flags |= SB_NOATIME | SB_NOSEC;
}

static struct logfs_device *logfs_open_flash(struct super_block *sb,
					     struct fs_context *fc)
{
	struct mtd_info *mtd = sb->s_mtd;

	if (PAGE_SIZE != LOGFS_BLOCK_BYTES) {
		errorfc(fc, "%s: pages of this kernel have %lu bytes, blocks of LogFS 4096",
			mtd->name, PAGE_SIZE);
		return ERR_PTR(-EINVAL);
	}
	if (!sb_rdonly(sb) && !(mtd->flags & MTD_WRITEABLE)) {
		errorfc(fc, "%s is read-only: mount it with -o ro", mtd->name);
		return ERR_PTR(-EROFS);
	}
	return logfs_mount(mtd, !sb_rdonly(sb));
}

/*
 * put_super is not called before there is a root, so the root is made last and all
 * failures are undone here.
 */
static int logfs_fill_super(struct super_block *sb, struct fs_context *fc)
{
	struct logfs_device *dev = logfs_open_flash(sb, fc);
	struct inode *root;
	int err;

	if (IS_ERR(dev))
		return flashfs_user_error(PTR_ERR(dev));
	sb->s_fs_info = dev;
	logfs_describe_super(sb);
	err = logfs_kept_begin(sb);
	if (err)
		goto out_unmount;
	root = logfs_iget(sb, LOGFS_INO_ROOT);
	if (IS_ERR(root)) {
		err = PTR_ERR(root);
		goto out_unmount;
	}
	err = S_ISDIR(root->i_mode) ? 0 : -EUCLEAN;
	if (!err && !sb_rdonly(sb))
		err = logfs_apply_options(root, fc->fs_private);
	if (err) {
		iput(root);
		goto out_unmount;
	}
	sb->s_root = d_make_root(root);
	if (!sb->s_root) {
		err = -ENOMEM;
		goto out_unmount;
	}
	logfs_proc_add(dev);
	return 0;

out_unmount:
	logfs_kept_end(sb);
	logfs_unmount(dev);
	sb->s_fs_info = NULL;
	return flashfs_user_error(err);
}

static int logfs_get_tree(struct fs_context *fc)
{
	return get_tree_mtd(fc, logfs_fill_super);
}

/* ---- remount ---- */

static int logfs_reconfigure(struct fs_context *fc)
{
	struct super_block *sb = fc->root->d_sb;
	struct logfs_device *dev = sb->s_fs_info;
	bool read_only = fc->sb_flags & SB_RDONLY;
	int err = sync_filesystem(sb);

	if (!err && fc->sb_flags_mask & SB_RDONLY && read_only != sb_rdonly(sb)) {
		if (read_only)
			err = logfs_make_read_only(dev);
		else if (logfs_mtd(dev)->flags & MTD_WRITEABLE)
			err = logfs_make_writable(dev);
		else
			err = -EROFS;
	}
	if (!err && !read_only)
		err = logfs_apply_options(d_inode(fc->root), fc->fs_private);
	return flashfs_user_error(err);
}

/* ---- the file-system type ---- */

static void logfs_free_context(struct fs_context *fc)
{
	kfree(fc->fs_private);
}

static const struct fs_context_operations logfs_context_operations = {
	.free = logfs_free_context,
	.parse_param = logfs_parse_param,
	.get_tree = logfs_get_tree,
	.reconfigure = logfs_reconfigure,
};

static int logfs_init_context(struct fs_context *fc)
{
	struct logfs_options *options = kzalloc(sizeof(*options), GFP_KERNEL);

	if (!options)
		return -ENOMEM;
	fc->fs_private = options;
	fc->ops = &logfs_context_operations;
	return 0;
}

static struct file_system_type logfs_type = {
	.owner = THIS_MODULE,
	.name = "logfs",
	.init_fs_context = logfs_init_context,
	.parameters = logfs_parameters,
	.kill_sb = kill_mtd_super,
};
MODULE_ALIAS_FS("logfs");

static int __init logfs_init(void)
{
	int err;

	err = logfs_proc_init();
	if (err)
		return err;
	err = register_filesystem(&logfs_type);
	if (err)
		logfs_proc_exit();
	return err;
}

static void __exit logfs_exit(void)
{
	unregister_filesystem(&logfs_type);
	/* Inodes are freed after a grace period. */
	rcu_barrier();
	logfs_proc_exit();
}

module_init(logfs_init);
module_exit(logfs_exit);
MODULE_DESCRIPTION("LogFS file system for NAND flash");
MODULE_LICENSE("GPL");
