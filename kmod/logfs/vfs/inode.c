// SPDX-License-Identifier: GPL-2.0-only
/*
 * Inodes: how they come from nodes, and how their attributes get back.
 *
 * Changes by the VFS make the inode dirty. They go to the node, and with it to the log,
 * when the inode is written back, or earlier when an operation of the core writes the
 * node; to flash they go with the next commit.
 *
 * The size of a directory is that of one block: what the format calls so is the highest
 * place in the hash that was ever used, which may be terabytes.
 *
 * Memory reclaim evicts inodes, which takes the lock. Whoever holds the lock allocates
 * without recursion into file systems, so that it never waits for such an eviction.
 *
 * Limits: an inode that cannot be read makes its name useless, and nothing but fsck
 * removes it. st_blocks is what is stored: it lags behind by dirty pages.
 */

#include <linux/math64.h>
#include <linux/pagemap.h>
#include <linux/writeback.h>

#include "vfs.h"

/* ---- from node to inode ---- */

static struct timespec64 logfs_time(u64 ns)
{
	struct timespec64 time;
	u32 rest;

	time.tv_sec = div_u64_rem(ns, NSEC_PER_SEC, &rest);
	time.tv_nsec = rest;
	return time;
}

void logfs_inode_pull(struct inode *inode)
{
	const struct logfs_node *node = logfs_node_of(inode);

	set_nlink(inode, node->nlink);
	compat_set_atime(inode, logfs_time(node->atime_ns));
	compat_set_mtime(inode, logfs_time(node->mtime_ns));
	compat_set_ctime(inode, logfs_time(node->ctime_ns));
}

static const struct inode_operations logfs_file_inode_operations = {
	.getattr = logfs_vfs_getattr,
	.setattr = logfs_vfs_setattr,
	COMPAT_FLAGS_OPERATIONS(logfs_vfs_get_flags, logfs_vfs_set_flags)
};

static const struct inode_operations logfs_symlink_inode_operations = {
	.get_link = page_get_link,
	.getattr = logfs_vfs_getattr,
	.setattr = logfs_vfs_setattr,
};

static const struct inode_operations logfs_special_inode_operations = {
	.getattr = logfs_vfs_getattr,
	.setattr = logfs_vfs_setattr,
};

/* Operations by the type. */
static int logfs_set_type(struct inode *inode, const struct logfs_node *node)
{
	switch (inode->i_mode & S_IFMT) {
	case S_IFREG:
		inode->i_op = &logfs_file_inode_operations;
		inode->i_fop = &logfs_file_operations;
		inode->i_mapping->a_ops = &logfs_file_aops;
		i_size_write(inode, node->size);
		return node->size > LOGFS_MAX_FILE_BYTES ? -EUCLEAN : 0;
	case S_IFDIR:
		inode->i_op = &logfs_dir_inode_operations;
		inode->i_fop = &logfs_dir_operations;
		i_size_write(inode, LOGFS_BLOCK_BYTES);
		return 0;
	case S_IFLNK:
		inode->i_op = &logfs_symlink_inode_operations;
		inode->i_mapping->a_ops = &logfs_file_aops;
		inode_nohighmem(inode);
		i_size_write(inode, node->size);
		return node->size && node->size < LOGFS_BLOCK_BYTES ? 0 : -EUCLEAN;
	case S_IFCHR:
	case S_IFBLK:
	case S_IFIFO:
	case S_IFSOCK:
		inode->i_op = &logfs_special_inode_operations;
		init_special_inode(inode, inode->i_mode, new_decode_dev(node->rdev));
		return 0;
	default:
		return -EUCLEAN;
	}
}

int logfs_inode_bind(struct inode *inode, struct logfs_node *node)
{
	int err;

	inode->i_ino = node->ino;
	inode->i_mode = node->mode;
	inode->i_generation = node->generation;
	i_uid_write(inode, node->uid);
	i_gid_write(inode, node->gid);
	err = node->nlink ? logfs_set_type(inode, node) : -EUCLEAN;
	if (err)
		return err;
	inode->i_private = node;
	logfs_inode_pull(inode);
	return 0;
}

static int logfs_inode_load(struct inode *inode, u64 ino)
{
	struct logfs_device *dev = logfs_dev_of(inode);
	struct logfs_node *node;
	int err;

	logfs_lock(dev);
	node = logfs_node_get(dev, ino);
	err = IS_ERR(node) ? PTR_ERR(node) : logfs_inode_bind(inode, node);
	if (err && !IS_ERR(node))
		logfs_node_put(node);
	logfs_unlock(dev);
	return err == -ENOENT ? -EUCLEAN : err;
}

struct inode *logfs_iget(struct super_block *sb, u64 ino)
{
	struct inode *inode;
	int err;

	if (ino < LOGFS_RESERVED_INOS && ino != LOGFS_INO_ROOT)
		return ERR_PTR(-EUCLEAN);
	inode = iget_locked(sb, ino);
	if (!inode)
		return ERR_PTR(-ENOMEM);
	if (!compat_is_new(inode))
		return inode;
	err = logfs_inode_load(inode, ino);
	if (err) {
		iget_failed(inode);
		return ERR_PTR(flashfs_user_error(err));
	}
	unlock_new_inode(inode);
	return inode;
}

/* ---- from inode to node, and to the log ---- */

static u64 logfs_ns(struct timespec64 time)
{
	return (u64)time.tv_sec * NSEC_PER_SEC + time.tv_nsec;
}

void logfs_inode_push(struct inode *inode)
{
	struct logfs_node *node = logfs_node_of(inode);

	node->mode = inode->i_mode;
	node->uid = i_uid_read(inode);
	node->gid = i_gid_read(inode);
	node->atime_ns = logfs_ns(compat_atime(inode));
	node->mtime_ns = logfs_ns(compat_mtime(inode));
	node->ctime_ns = logfs_ns(compat_ctime(inode));
}

void logfs_inode_change(struct inode *inode)
{
	logfs_inode_push(inode);
	logfs_node_of(inode)->ctime_ns = logfs_ns(current_time(inode));
}

void logfs_inode_changed(struct inode *inode, int err)
{
	if (err)
		logfs_inode_push(inode);
	logfs_inode_pull(inode);
}

/* Nothing of a file without a name needs to be on flash. */
int logfs_inode_write(struct inode *inode, struct writeback_control *wbc)
{
	struct logfs_device *dev = logfs_dev_of(inode);
	int err;

	if (!inode->i_nlink)
		return 0;
	err = logfs_begin_write(dev, 0);
	if (err)
		return flashfs_user_error(err);
	logfs_inode_push(inode);
	err = logfs_node_write(logfs_node_of(inode));
	logfs_unlock(dev);
	return flashfs_user_error(err);
}

/* An inode that could not be set up has no node. */
void logfs_inode_evict(struct inode *inode)
{
	struct logfs_device *dev = logfs_dev_of(inode);
	struct logfs_node *node = logfs_node_of(inode);
	int err = 0;

	truncate_inode_pages_final(&inode->i_data);
	clear_inode(inode);
	if (!node)
		return;
	inode->i_private = NULL;
	if (inode->i_nlink) {
		logfs_lock(dev);
		logfs_node_put(node);
		logfs_unlock(dev);
	} else {
		err = logfs_node_delete(node);
	}
	if (err)
		pr_err_ratelimited("logfs: %s: inode %lu without a name stays: error %d\n",
				   logfs_mtd(dev)->name, (unsigned long)inode->i_ino, err);
}

/* ---- attributes ---- */

/* Without the lock: the count is a snapshot in any case. */
int logfs_vfs_getattr(COMPAT_IDMAP_PARAM const struct path *path,
		      struct kstat *stat, u32 mask, unsigned int flags)
{
	struct inode *inode = d_inode(path->dentry);
	const struct logfs_node *node = logfs_node_of(inode);

	if (node->flags & LOGFS_FLAG_COMPRESS)
		stat->attributes |= STATX_ATTR_COMPRESSED;
	stat->attributes_mask |= STATX_ATTR_COMPRESSED;
	generic_fillattr(COMPAT_IDMAP COMPAT_FILL_MASK inode, stat);
	stat->blocks = (READ_ONCE(node->used_bytes) + 511) >> 9;
	return 0;
}

/*
 * When a file grows, the flash is first: an error leaves what was. When it shrinks, the
 * pages are: they could be written back behind the new end. What an error then leaves of
 * it on flash comes to light again.
 */
static int logfs_resize(struct inode *inode, loff_t size)
{
	struct logfs_node *node = logfs_node_of(inode);
	loff_t old = i_size_read(inode);
	int err;

	if (size > old)
		logfs_zero_tail(inode, old);
	else
		truncate_setsize(inode, size);
	err = logfs_truncate(node, size);
	if (size > old && !err)
		truncate_setsize(inode, size);
	else if (err && node->size > i_size_read(inode))
		i_size_write(inode, node->size);
	return flashfs_user_error(err);
}

int logfs_vfs_setattr(COMPAT_IDMAP_PARAM struct dentry *dentry, struct iattr *attr)
{
	struct inode *inode = d_inode(dentry);
	int err;

	err = setattr_prepare(COMPAT_IDMAP dentry, attr);
	if (err)
		return err;
	if (attr->ia_valid & ATTR_SIZE) {
		if (attr->ia_size != i_size_read(inode))
			attr->ia_valid |= ATTR_MTIME | ATTR_CTIME;
		err = logfs_resize(inode, attr->ia_size);
		if (err)
			return err;
	}
	setattr_copy(COMPAT_IDMAP inode, attr);
	mark_inode_dirty(inode);
	return 0;
}

#ifdef COMPAT_HAS_FLAGS
int logfs_vfs_get_flags(struct dentry *dentry, struct compat_flags *flags)
{
	const struct logfs_node *node = logfs_node_of(d_inode(dentry));
	bool compress = READ_ONCE(node->flags) & LOGFS_FLAG_COMPRESS;

	fileattr_fill_flags(flags, compress ? FS_COMPR_FL : 0);
	return 0;
}

/* Of blocks that are written later: those that are there stay as they are stored. */
int logfs_vfs_set_flags(COMPAT_IDMAP_PARAM struct dentry *dentry,
			struct compat_flags *flags)
{
	struct inode *inode = d_inode(dentry);
	struct logfs_node *node = logfs_node_of(inode);

	if (fileattr_has_fsx(flags) || flags->flags & ~FS_COMPR_FL)
		return -EOPNOTSUPP;
	logfs_lock(logfs_dev_of(inode));
	node->flags &= ~LOGFS_FLAG_COMPRESS;
	if (flags->flags & FS_COMPR_FL)
		node->flags |= LOGFS_FLAG_COMPRESS;
	compat_set_ctime(inode, current_time(inode));
	logfs_unlock(logfs_dev_of(inode));
	mark_inode_dirty(inode);
	return 0;
}
#endif
