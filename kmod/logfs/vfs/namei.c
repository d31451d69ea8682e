// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names: what the VFS does with directories.
 *
 * The VFS holds the locks of the directories concerned, so that names do not change
 * between looking one up and acting on it. An operation is in memory and in the log when
 * it returns; the next commit makes it last. On a mount, or in a directory, that is to be
 * synchronous that is at once.
 *
 * A new inode exists in the core before that of the VFS is set up.
 *
 * Limits: no files without a name (O_TMPFILE): the format remembers one inode that is to
 * be deleted, not many.
 */

#include <linux/slab.h>

#include "vfs.h"

/* Blocks that an operation may write: inode, dentry, and one that moves or is split off. */
#define LOGFS_BLOCKS_OF_NAME	3

/* ---- what operations have in common ---- */

/* Takes the lock, and has the core know the directory as the VFS does. */
static int logfs_begin_in(struct inode *dir, u32 blocks)
{
	int err = logfs_begin(dir->i_sb, blocks);

	if (!err)
		logfs_inode_push(dir);
	return err;
}

/* Ends what changed @dir, and gives the lock back. */
static int logfs_end_in(struct inode *dir, int err)
{
	logfs_inode_pull(dir);
	logfs_unlock(logfs_dev_of(dir));
	if (!err && IS_DIRSYNC(dir))
		err = logfs_sync(dir->i_sb);
	return flashfs_user_error(err);
}

/* ---- looking up ---- */

static struct dentry *logfs_vfs_lookup(struct inode *dir, struct dentry *dentry,
				       unsigned int flags)
{
	struct logfs_found *found;
	struct inode *inode = NULL;
	int err;

	if (dentry->d_name.len > LOGFS_NAME_MAX)
		return ERR_PTR(-ENAMETOOLONG);
	found = kmalloc(sizeof(*found), GFP_KERNEL);
	if (!found)
		return ERR_PTR(-ENOMEM);
	logfs_lock(logfs_dev_of(dir));
	err = logfs_dir_find(logfs_node_of(dir), dentry->d_name.name,
			     dentry->d_name.len, found);
	logfs_unlock(logfs_dev_of(dir));
	if (!err)
		inode = logfs_iget(dir->i_sb, found->ino);
	else if (err != -ENOENT)
		inode = ERR_PTR(flashfs_user_error(err));
	kfree(found);
	return d_splice_alias(inode, dentry);
}

/* ---- making objects ---- */

/* The node of @inode, whose mode and owner are set, with a name in @dir. */
static struct logfs_node *logfs_make_node(struct inode *inode, struct inode *dir,
					  const struct qstr *name, dev_t rdev,
					  const char *target)
{
	struct logfs_node *node;
	int err;

	node = logfs_node_new(logfs_dev_of(dir), logfs_node_of(dir), inode->i_mode);
	if (IS_ERR(node))
		return node;
	inode->i_private = node;
	logfs_inode_push(inode);
	inode->i_private = NULL;
	if (S_ISCHR(inode->i_mode) || S_ISBLK(inode->i_mode))
		node->rdev = new_encode_dev(rdev);
	err = logfs_create(logfs_node_of(dir), name->name, name->len, node, target);
	if (!err)
		return node;
	logfs_node_put(node);
	return ERR_PTR(err);
}

static int logfs_make_inode(struct inode *inode, struct inode *dir,
			    const struct qstr *name, dev_t rdev, const char *target)
{
	struct timespec64 now = current_time(inode);
	struct logfs_node *node;
	int err;

	compat_set_atime(inode, now);
	compat_set_mtime(inode, now);
	compat_set_ctime(inode, now);
	err = logfs_begin_in(dir, LOGFS_BLOCKS_OF_NAME);
	if (err)
		return flashfs_user_error(err);
	node = logfs_make_node(inode, dir, name, rdev, target);
	err = IS_ERR(node) ? PTR_ERR(node) : logfs_inode_bind(inode, node);
	return logfs_end_in(dir, err);
}

static int logfs_add(COMPAT_IDMAP_PARAM struct inode *dir,
		     struct dentry *dentry, umode_t mode, dev_t rdev,
		     const char *target)
{
	struct inode *inode;
	int err;

	if (dentry->d_name.len > LOGFS_NAME_MAX)
		return -ENAMETOOLONG;
	inode = new_inode(dir->i_sb);
	if (!inode)
		return -ENOMEM;
	inode_init_owner(COMPAT_IDMAP inode, dir, mode);
	err = logfs_make_inode(inode, dir, &dentry->d_name, rdev, target);
	if (!err)
		err = insert_inode_locked(inode);
	if (err) {
		iput(inode);
		return err;
	}
	d_instantiate_new(dentry, inode);
	return 0;
}

static int logfs_vfs_create(COMPAT_IDMAP_PARAM struct inode *dir,
			    struct dentry *dentry, COMPAT_CREATE_PARAM)
{
	return logfs_add(COMPAT_IDMAP dir, dentry, mode, 0, NULL);
}

static compat_made logfs_vfs_mkdir(COMPAT_IDMAP_PARAM struct inode *dir,
				   struct dentry *dentry, umode_t mode)
{
	int err = logfs_add(COMPAT_IDMAP dir, dentry, mode | S_IFDIR, 0, NULL);

	return compat_made_or(err);
}

static int logfs_vfs_symlink(COMPAT_IDMAP_PARAM struct inode *dir,
			     struct dentry *dentry, const char *target)
{
	if (strlen(target) >= LOGFS_BLOCK_BYTES)
		return -ENAMETOOLONG;
	return logfs_add(COMPAT_IDMAP dir, dentry, S_IFLNK | 0777, 0, target);
}

static int logfs_vfs_mknod(COMPAT_IDMAP_PARAM struct inode *dir,
			   struct dentry *dentry, umode_t mode, dev_t rdev)
{
	return logfs_add(COMPAT_IDMAP dir, dentry, mode, rdev, NULL);
}

/* ---- adding, moving and removing names ---- */

static int logfs_vfs_link(struct dentry *old_dentry, struct inode *dir,
			  struct dentry *dentry)
{
	struct inode *inode = d_inode(old_dentry);
	int err;

	if (dentry->d_name.len > LOGFS_NAME_MAX)
		return -ENAMETOOLONG;
	err = logfs_begin_in(dir, LOGFS_BLOCKS_OF_NAME);
	if (err)
		return flashfs_user_error(err);
	logfs_inode_change(inode);
	err = logfs_link(logfs_node_of(dir), dentry->d_name.name,
			 dentry->d_name.len, logfs_node_of(inode));
	logfs_inode_changed(inode, err);
	err = logfs_end_in(dir, err);
	if (err)
		return err;
	ihold(inode);
	d_instantiate(dentry, inode);
	return 0;
}

static int logfs_vfs_unlink(struct inode *dir, struct dentry *dentry)
{
	struct inode *inode = d_inode(dentry);
	int err;

	err = logfs_begin_in(dir, 0);
	if (err)
		return flashfs_user_error(err);
	logfs_inode_change(inode);
	err = logfs_unlink(logfs_node_of(dir), dentry->d_name.name,
			   dentry->d_name.len, logfs_node_of(inode));
	logfs_inode_changed(inode, err);
	return logfs_end_in(dir, err);
}

static int logfs_move(struct inode *old_dir, const struct qstr *old,
		      struct inode *new_dir, struct dentry *new_dentry,
		      struct inode *inode)
{
	struct inode *replaced = d_inode(new_dentry);
	const struct qstr *new = &new_dentry->d_name;
	int err;

	if (replaced)
		logfs_inode_change(replaced);
	logfs_inode_change(inode);
	err = logfs_rename(logfs_node_of(old_dir), old->name, old->len,
			   logfs_node_of(new_dir), new->name, new->len,
			   logfs_node_of(inode),
			   replaced ? logfs_node_of(replaced) : NULL);
	if (replaced)
		logfs_inode_changed(replaced, err);
	logfs_inode_changed(inode, err);
	return err;
}

/* The core sets no times, for it is not told the inodes. */
static void logfs_swapped(struct inode *inode, bool is_dir)
{
	struct timespec64 now = current_time(inode);

	if (is_dir)
		compat_set_mtime(inode, now);
	compat_set_ctime(inode, now);
	logfs_inode_push(inode);
	mark_inode_dirty(inode);
}

static int logfs_swap(struct inode *old_dir, const struct qstr *old,
		      struct inode *new_dir, struct dentry *new_dentry,
		      struct inode *inode)
{
	const struct qstr *new = &new_dentry->d_name;
	int err;

	err = logfs_exchange(logfs_node_of(old_dir), old->name, old->len,
			     logfs_node_of(new_dir), new->name, new->len);
	if (err)
		return err;
	logfs_swapped(old_dir, true);
	logfs_swapped(new_dir, true);
	logfs_swapped(inode, false);
	logfs_swapped(d_inode(new_dentry), false);
	return 0;
}

static int logfs_vfs_rename(COMPAT_IDMAP_PARAM struct inode *old_dir,
			    struct dentry *old_dentry,
			    struct inode *new_dir, struct dentry *new_dentry,
			    unsigned int flags)
{
	struct inode *inode = d_inode(old_dentry);
	const struct qstr *old = &old_dentry->d_name;
	int err;

	if (flags & ~(RENAME_NOREPLACE | RENAME_EXCHANGE))
		return -EINVAL;
	if (new_dentry->d_name.len > LOGFS_NAME_MAX)
		return -ENAMETOOLONG;
	err = logfs_begin_in(old_dir, LOGFS_BLOCKS_OF_NAME);
	if (err)
		return flashfs_user_error(err);
	logfs_inode_push(new_dir);
	if (flags & RENAME_EXCHANGE)
		err = logfs_swap(old_dir, old, new_dir, new_dentry, inode);
	else
		err = logfs_move(old_dir, old, new_dir, new_dentry, inode);
	logfs_inode_pull(new_dir);
	return logfs_end_in(old_dir, err);
}

const struct inode_operations logfs_dir_inode_operations = {
	.lookup = logfs_vfs_lookup,
	.create = logfs_vfs_create,
	.link = logfs_vfs_link,
	.unlink = logfs_vfs_unlink,
	.symlink = logfs_vfs_symlink,
	.mkdir = logfs_vfs_mkdir,
	.rmdir = logfs_vfs_unlink,
	.mknod = logfs_vfs_mknod,
	.rename = logfs_vfs_rename,
	.getattr = logfs_vfs_getattr,
	.setattr = logfs_vfs_setattr,
	COMPAT_FLAGS_OPERATIONS(logfs_vfs_get_flags, logfs_vfs_set_flags)
};
