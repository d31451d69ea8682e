// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mounting: an MTD device by name or number, as JFFS2 takes it (mtd:NAME). The
 * device need not be erased. There are no mount options.
 */
#include <linux/fs_context.h>
#include <linux/module.h>
#include <linux/mtd/super.h>
#include <linux/slab.h>
#include <linux/statfs.h>

#include "scratchfs.h"

#define SCRATCHFS_MAGIC 0x53435246

static struct kmem_cache *inode_cache;

static struct inode *alloc_inode(struct super_block *sb)
{
	struct scratchfs_inode *file;

	file = alloc_inode_sb(sb, inode_cache, GFP_KERNEL);
	if (!file)
		return NULL;
	xa_init(&file->slots);
	return &file->vfs;
}

static void free_inode(struct inode *inode)
{
	kmem_cache_free(inode_cache, scratchfs_i(inode));
}

static void evict_inode(struct inode *inode)
{
	truncate_inode_pages_final(&inode->i_data);
	clear_inode(inode);
	scratchfs_drop_pages(inode, 0);
}

static int statfs(struct dentry *dentry, struct kstatfs *buf)
{
	u64 total, free, available;

	scratchfs_count(scratchfs_space(dentry->d_sb), &total, &free,
			&available);
	buf->f_type = SCRATCHFS_MAGIC;
	buf->f_bsize = PAGE_SIZE;
	buf->f_blocks = total;
	buf->f_bfree = free;
	buf->f_bavail = available;
	buf->f_namelen = NAME_MAX;
	return 0;
}

static void put_super(struct super_block *sb)
{
	scratchfs_space_exit(scratchfs_space(sb));
}

static const struct super_operations scratchfs_super = {
	.alloc_inode = alloc_inode,
	.free_inode = free_inode,
	.evict_inode = evict_inode,
	.drop_inode = generic_delete_inode,
	.statfs = statfs,
	.put_super = put_super,
};

static int fill_super(struct super_block *sb, struct fs_context *context)
{
	struct inode *root;
	int err;

	err = scratchfs_space_init(scratchfs_space(sb), sb->s_mtd);
	if (err) {
		errorf(context, "scratchfs: device %s cannot be used: %pe",
		       sb->s_mtd->name, ERR_PTR(err));
		return err;
	}
	sb->s_magic = SCRATCHFS_MAGIC;
	sb->s_op = &scratchfs_super;
	sb->s_maxbytes = MAX_LFS_FILESIZE;
	sb->s_blocksize = PAGE_SIZE;
	sb->s_blocksize_bits = PAGE_SHIFT;
	sb->s_time_gran = 1;
	root = scratchfs_new_inode(sb, NULL, S_IFDIR | 0755);
	sb->s_root = d_make_root(root);
	if (sb->s_root)
		return 0;
	scratchfs_space_exit(scratchfs_space(sb));
	return -ENOMEM;
}

static int get_tree(struct fs_context *context)
{
	return get_tree_mtd(context, fill_super);
}

/* A mount that succeeds has taken s_fs_info over. */
static void free_context(struct fs_context *context)
{
	kfree(context->s_fs_info);
}

static const struct fs_context_operations context_operations = {
	.get_tree = get_tree,
	.free = free_context,
};

static int init_context(struct fs_context *context)
{
	struct scratchfs_space *space;

	space = kzalloc(sizeof(*space), GFP_KERNEL);
	if (!space)
		return -ENOMEM;
	context->s_fs_info = space;
	context->ops = &context_operations;
	return 0;
}

static void kill_super(struct super_block *sb)
{
	if (sb->s_root)
		d_genocide(sb->s_root);
	kill_mtd_super(sb);
	kfree(sb->s_fs_info);
}

static struct file_system_type scratchfs_type = {
	.owner = THIS_MODULE,
	.name = "scratchfs",
	.init_fs_context = init_context,
	.kill_sb = kill_super,
};

static void init_once(void *file)
{
	inode_init_once(&((struct scratchfs_inode *)file)->vfs);
}

static int __init scratchfs_init(void)
{
	int err;

	inode_cache = kmem_cache_create("scratchfs_inode",
					sizeof(struct scratchfs_inode), 0,
					SLAB_RECLAIM_ACCOUNT | SLAB_ACCOUNT,
					init_once);
	if (!inode_cache)
		return -ENOMEM;
	err = register_filesystem(&scratchfs_type);
	if (err)
		kmem_cache_destroy(inode_cache);
	return err;
}
module_init(scratchfs_init);

static void __exit scratchfs_exit(void)
{
	unregister_filesystem(&scratchfs_type);
	/* Inodes are freed after a grace period of RCU. */
	rcu_barrier();
	kmem_cache_destroy(inode_cache);
}
module_exit(scratchfs_exit);

MODULE_DESCRIPTION("A scratch area on flash, an example for ffslab");
MODULE_LICENSE("GPL");
MODULE_ALIAS_FS("scratchfs");
