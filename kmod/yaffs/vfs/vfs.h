/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the VFS layer share.
 *
 * An inode is bound to its object by i_private; the object outlives it, because
 * yaffs_object_hold() is called when the inode is set up and
 * yaffs_object_release() when it is evicted. The inode number is the object id.
 * Attributes exist twice: the VFS works with those of the inode, the layers below
 * write those of the object to flash.
 *
 * yaffs_device.lock is taken inside of inode and page locks. While it is held,
 * nothing here may touch user memory (a fault takes page locks) or wait for another
 * inode (its eviction takes the lock).
 */
#ifndef YAFFS_VFS_H
#define YAFFS_VFS_H

#include <linux/fs.h>

#include "../core/objects.h"
#include "../../flashfs.h"

static inline struct yaffs_object *yaffs_obj(const struct inode *inode)
{
	return inode->i_private;
}

static inline struct yaffs_device *yaffs_dev(const struct inode *inode)
{
	return inode->i_sb->s_fs_info;
}

/* ---- inode.c ---- */

/* The inode of object @id. ERR_PTR: -ENOMEM, -EIO, or -ESTALE if it is not there. */
struct inode *yaffs_iget(struct super_block *sb, u32 id);
/*
 * Binds @inode to @obj and sets it up. Needs the lock. Damaged objects make an
 * inode, too. Returns 0, -ENOMEM, or -EIO if the driver failed.
 */
int yaffs_inode_bind(struct inode *inode, struct yaffs_object *obj);
void yaffs_inode_evict(struct inode *inode);
void yaffs_inode_free(struct inode *inode);
int yaffs_inode_write(struct inode *inode, struct writeback_control *wbc);
/*
 * Sets the time of change of inode and object to now. Needs the lock, and comes
 * before the operation that changes the object: what it writes has the time in it.
 */
void yaffs_inode_changed(struct inode *inode);
/* Lets the VFS write the inode later if the object's header is still to be written. */
void yaffs_inode_mark_dirty(struct inode *inode);
/*
 * Takes over the object's link count and time of change: what a later mount would
 * show, to the second. Needs the lock.
 */
void yaffs_inode_pull_links(struct inode *inode);
/* Takes over what an operation changed of a directory. Needs the lock. */
void yaffs_inode_pull_directory(struct inode *dir);

int yaffs_vfs_getattr(COMPAT_IDMAP_PARAM const struct path *path,
		      struct kstat *stat, u32 mask, unsigned int flags);
int yaffs_vfs_setattr(COMPAT_IDMAP_PARAM struct dentry *dentry, struct iattr *attr);
int yaffs_vfs_update_time(struct inode *inode, COMPAT_TIME_PARAM COMPAT_WHICH_PARAM);

/* ---- namei.c ---- */

extern const struct inode_operations yaffs_dir_inode_operations;
extern const struct file_operations yaffs_dir_operations;

/* ---- file.c ---- */

extern const struct file_operations yaffs_file_operations;
extern const struct address_space_operations yaffs_file_aops;
/* flashfs_zero_tail(), once in the module. */
void yaffs_zero_tail(struct inode *inode, loff_t size);
/* Also for directories. */
int yaffs_vfs_fsync(struct file *file, loff_t start, loff_t end, int datasync);

/* ---- xattr.c ---- */

extern const struct xattr_handler *yaffs_xattr_handlers[];
ssize_t yaffs_vfs_listxattr(struct dentry *dentry, char *list, size_t size);

/* ---- background.c: takes dev->lock itself ---- */

int yaffs_background_start(struct yaffs_device *dev);
void yaffs_background_stop(struct yaffs_device *dev);
void yaffs_background_wake(struct yaffs_device *dev);

/* ---- proc.c: /proc/yaffs2/mtdN ---- */

int yaffs_proc_init(void);
void yaffs_proc_exit(void);
void yaffs_proc_add(struct yaffs_device *dev);
void yaffs_proc_remove(struct yaffs_device *dev);

#endif
