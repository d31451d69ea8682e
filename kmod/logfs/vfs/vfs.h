/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the VFS layer share.
 *
 * An inode is bound to its node by i_private, from iget or creation until it is evicted;
 * its number is the node's. Attributes exist twice: the VFS works with those of the
 * inode, the core writes those of the node to flash. They are handed on
 * (logfs_inode_push()) when the inode is written, and before each operation of the core
 * that may write the node. The size is the exception: the node's is what the flash has,
 * and follows that of the inode when pages are written back.
 *
 * The lock of a mount is taken inside of inode and page locks. While it is held, nothing
 * here may touch user memory (a fault takes page locks) or wait for another inode (its
 * eviction takes the lock).
 */
#ifndef LOGFS_VFS_H
#define LOGFS_VFS_H

#include <linux/fs.h>

#include "../../flashfs.h"
#include "../core/logfs.h"

static inline struct logfs_node *logfs_node_of(const struct inode *inode)
{
	return inode->i_private;
}

static inline struct logfs_device *logfs_dev_of(const struct inode *inode)
{
	return inode->i_sb->s_fs_info;
}

/* ---- space.c ---- */

/*
 * As logfs_begin_write(), and logfs_reserve() for a page of @inode: there is no room only if there
 * is none after writing back. No page may be locked.
 */
int logfs_begin(struct super_block *sb, u32 blocks);
int logfs_reserve_page(struct inode *inode);
/* Commits: what was done lasts. Nothing on a read-only mount. */
int logfs_sync(struct super_block *sb);

/* ---- inode.c ---- */

/* The inode of number @ino. ERR_PTR: -ENOMEM, -EIO, or -EUCLEAN if it is not there. */
struct inode *logfs_iget(struct super_block *sb, u64 ino);
/* Binds @inode to @node and sets it up. -EUCLEAN: what the node says is impossible. */
int logfs_inode_bind(struct inode *inode, struct logfs_node *node);
void logfs_inode_evict(struct inode *inode);
int logfs_inode_write(struct inode *inode, struct writeback_control *wbc);
/* Attributes of @inode to its node. Needs the lock. */
void logfs_inode_push(struct inode *inode);
/* Takes over what an operation changed: links and times. Needs the lock. */
void logfs_inode_pull(struct inode *inode);
/*
 * Around an operation that changes @inode: the node has the new time of change, and the
 * inode gets it if there was no error. Need the lock.
 */
void logfs_inode_change(struct inode *inode);
void logfs_inode_changed(struct inode *inode, int err);

int logfs_vfs_getattr(COMPAT_IDMAP_PARAM const struct path *path,
		      struct kstat *stat, u32 mask, unsigned int flags);
int logfs_vfs_setattr(COMPAT_IDMAP_PARAM struct dentry *dentry, struct iattr *attr);
#ifdef COMPAT_HAS_FLAGS
int logfs_vfs_get_flags(struct dentry *dentry, struct compat_flags *flags);
int logfs_vfs_set_flags(COMPAT_IDMAP_PARAM struct dentry *dentry,
			struct compat_flags *flags);
#endif

/* ---- namei.c, dir.c ---- */

extern const struct inode_operations logfs_dir_inode_operations;
extern const struct file_operations logfs_dir_operations;

/* ---- file.c ---- */

extern const struct file_operations logfs_file_operations;
extern const struct address_space_operations logfs_file_aops;
/* flashfs_zero_tail(), once in the module. */
void logfs_zero_tail(struct inode *inode, loff_t size);
/* Also for directories. */
int logfs_vfs_fsync(struct file *file, loff_t start, loff_t end, int datasync);

/* ---- kept.c: flash that was read ---- */

int logfs_kept_begin(struct super_block *sb);
/* Before logfs_unmount(); also if the other failed, or was never called. */
void logfs_kept_end(struct super_block *sb);

/* ---- seek.c ---- */

loff_t logfs_vfs_llseek(struct file *file, loff_t offset, int whence);

/* ---- proc.c: /proc/logfs/mtdN ---- */

int logfs_proc_init(void);
void logfs_proc_exit(void);
void logfs_proc_add(struct logfs_device *dev);
void logfs_proc_remove(struct logfs_device *dev);

#endif
