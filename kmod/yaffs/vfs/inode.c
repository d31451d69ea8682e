// SPDX-License-Identifier: GPL-2.0-only
/*
 * Inodes: how they come from objects, and how their attributes get back.
 *
 * The object in memory is complete without an inode; an inode is the VFS's handle
 * of it. Changes by the VFS go to the object at once. To flash they go with the
 * header: immediately for chmod, chown and utimes, and when the file is closed,
 * synced or written back for the times that go with its contents.
 *
 * The type of an inode is that of the object, which is in the tags of many pages,
 * not that in the mode of one header. What is damaged fails with an error when it is
 * used, but keeps its place in the directory so that it can be removed: an inode
 * without other operations stands for it. A directory whose header is lost still has
 * its contents, which do not depend on it; it appears as one that only root may
 * enter.
 *
 * st_blocks counts pages on flash, with the header's. It lags behind by what is in
 * the short-op cache.
 */
#define pr_fmt(fmt) "yaffs2: " fmt

#include <linux/writeback.h>

#include "../core/contents.h"
#include "../core/names.h"
#include "../core/pages.h"
#include "../core/request.h"
#include "vfs.h"

/* ---- damaged objects ---- */

static int yaffs_damage(struct inode *inode)
{
	struct yaffs_device *dev = yaffs_dev(inode);
	int err;

	yaffs_lock(dev);
	err = yaffs_object_load(yaffs_obj(inode));
	yaffs_unlock(dev);
	return err ? flashfs_user_error(err) : -EUCLEAN;
}

static int yaffs_damaged_getattr(COMPAT_IDMAP_PARAM const struct path *path,
				 struct kstat *stat, u32 mask, unsigned int flags)
{
	return yaffs_damage(d_inode(path->dentry));
}

static int yaffs_damaged_setattr(COMPAT_IDMAP_PARAM struct dentry *dentry,
				 struct iattr *attr)
{
	return yaffs_damage(d_inode(dentry));
}

static int yaffs_damaged_open(struct inode *inode, struct file *file)
{
	return yaffs_damage(inode);
}

static const struct inode_operations yaffs_damaged_inode_operations = {
	.getattr = yaffs_damaged_getattr,
	.setattr = yaffs_damaged_setattr,
	.listxattr = yaffs_vfs_listxattr,
};

static const struct file_operations yaffs_damaged_operations = {
	.open = yaffs_damaged_open,
};

/* ---- from object to inode ---- */

/* A time that no clock shows is damage; it is shown as the last one possible. */
static struct timespec64 yaffs_time(u64 seconds)
{
	return (struct timespec64){ .tv_sec = min_t(u64, seconds, TIME64_MAX) };
}

static void yaffs_inode_pull(struct inode *inode)
{
	const struct yaffs_object *obj = yaffs_obj(inode);

	inode->i_mode = (inode->i_mode & S_IFMT) | (obj->mode & S_IALLUGO);
	i_uid_write(inode, obj->uid);
	i_gid_write(inode, obj->gid);
	compat_set_atime(inode, yaffs_time(obj->atime_s));
	compat_set_mtime(inode, yaffs_time(obj->mtime_s));
	compat_set_ctime(inode, yaffs_time(obj->ctime_s));
}

void yaffs_inode_pull_links(struct inode *inode)
{
	const struct yaffs_object *obj = yaffs_obj(inode);
	bool gone = obj->unlinked || obj->deleted;

	set_nlink(inode, gone ? 0 : yaffs_object_nlink(obj));
	compat_set_ctime(inode, yaffs_time(obj->ctime_s));
}

void yaffs_inode_pull_directory(struct inode *dir)
{
	const struct yaffs_object *obj = yaffs_obj(dir);

	compat_set_mtime(dir, yaffs_time(obj->mtime_s));
	yaffs_inode_pull_links(dir);
}

static const struct inode_operations yaffs_symlink_inode_operations = {
	.get_link = simple_get_link,
	.getattr = yaffs_vfs_getattr,
	.setattr = yaffs_vfs_setattr,
	.update_time = yaffs_vfs_update_time,
	.listxattr = yaffs_vfs_listxattr,
};

/* Of files and special files. */
static const struct inode_operations yaffs_inode_operations = {
	.getattr = yaffs_vfs_getattr,
	.setattr = yaffs_vfs_setattr,
	.update_time = yaffs_vfs_update_time,
	.listxattr = yaffs_vfs_listxattr,
};

static void yaffs_set_file(struct inode *inode, const struct yaffs_object *obj)
{
	inode->i_mode = S_IFREG;
	inode->i_op = &yaffs_inode_operations;
	inode->i_fop = &yaffs_file_operations;
	inode->i_mapping->a_ops = &yaffs_file_aops;
	i_size_write(inode, obj->file.size);
}

static void yaffs_set_directory(struct inode *inode)
{
	inode->i_mode = S_IFDIR;
	inode->i_op = &yaffs_dir_inode_operations;
	inode->i_fop = &yaffs_dir_operations;
	i_size_write(inode, yaffs_dev(inode)->chunk_bytes);
}

/*
 * The target is copied: path walks under RCU may look at it when the object has
 * been freed already. yaffs_inode_free() is called when they are over.
 */
static int yaffs_set_symlink(struct inode *inode, const struct yaffs_object *obj)
{
	char *target;

	if (!obj->symlink)
		return -EUCLEAN;
	target = kstrdup(obj->symlink, GFP_NOFS);
	if (!target)
		return -ENOMEM;
	inode->i_mode = S_IFLNK;
	inode->i_op = &yaffs_symlink_inode_operations;
	inode->i_link = target;
	i_size_write(inode, strlen(target));
	return 0;
}

static int yaffs_set_special(struct inode *inode, const struct yaffs_object *obj)
{
	umode_t type = obj->mode & S_IFMT;

	if (!S_ISCHR(type) && !S_ISBLK(type) && !S_ISFIFO(type) && !S_ISSOCK(type))
		return -EUCLEAN;
	inode->i_op = &yaffs_inode_operations;
	init_special_inode(inode, type, old_decode_dev(obj->rdev));
	return 0;
}

/* Type, size and operations. -EUCLEAN: what the header says is impossible. */
static int yaffs_set_type(struct inode *inode, const struct yaffs_object *obj)
{
	switch (obj->type) {
	case YAFFS_TYPE_FILE:
		yaffs_set_file(inode, obj);
		return 0;
	case YAFFS_TYPE_DIRECTORY:
		yaffs_set_directory(inode);
		return 0;
	case YAFFS_TYPE_SYMLINK:
		return yaffs_set_symlink(inode, obj);
	case YAFFS_TYPE_SPECIAL:
		return yaffs_set_special(inode, obj);
	default:
		/* A hard link without target. */
		return -EUCLEAN;
	}
}

/* A link without target is sound itself, and can be moved. */
static void yaffs_set_damaged(struct inode *inode, struct yaffs_object *obj)
{
	obj->damaged |= obj->type != YAFFS_TYPE_HARDLINK;
	pr_warn_ratelimited("%s: object %u is damaged\n", obj->dev->mtd->name,
			    obj->id);
	if (obj->type == YAFFS_TYPE_DIRECTORY) {
		yaffs_set_directory(inode);
		inode->i_mode |= 0700;
	} else {
		inode->i_mode = S_IFREG;
		inode->i_op = &yaffs_damaged_inode_operations;
		inode->i_fop = &yaffs_damaged_operations;
	}
}

int yaffs_inode_bind(struct inode *inode, struct yaffs_object *obj)
{
	int err = yaffs_object_load(obj);

	if (!err)
		err = yaffs_set_type(inode, obj);
	if (err && err != -EUCLEAN && !obj->damaged)
		return err;
	inode->i_private = obj;
	yaffs_object_hold(obj);
	if (err)
		yaffs_set_damaged(inode, obj);
	else
		yaffs_inode_pull(inode);
	yaffs_inode_pull_links(inode);
	return 0;
}

/*
 * The id, not the object, says what is wanted: while this waits for an inode that
 * is just going, the lock cannot be held and the object could go, too.
 */
struct inode *yaffs_iget(struct super_block *sb, u32 id)
{
	struct yaffs_device *dev = sb->s_fs_info;
	struct inode *inode = iget_locked(sb, id);
	struct yaffs_object *obj;
	int err;

	if (!inode)
		return ERR_PTR(-ENOMEM);
	if (!compat_is_new(inode))
		return inode;
	yaffs_lock(dev);
	obj = yaffs_object_find(dev, id);
	err = obj ? yaffs_inode_bind(inode, obj) : -ESTALE;
	yaffs_unlock(dev);
	if (err) {
		iget_failed(inode);
		return ERR_PTR(flashfs_user_error(err));
	}
	unlock_new_inode(inode);
	return inode;
}

/* ---- from inode to object, and to flash ---- */

static void yaffs_inode_push(const struct inode *inode)
{
	struct yaffs_object *obj = yaffs_obj(inode);

	obj->mode = inode->i_mode;
	obj->uid = i_uid_read(inode);
	obj->gid = i_gid_read(inode);
	obj->atime_s = compat_atime(inode).tv_sec;
	obj->mtime_s = compat_mtime(inode).tv_sec;
	obj->ctime_s = compat_ctime(inode).tv_sec;
	obj->dirty = true;
}

/* A header must not be made up for an object whose own could not be read. */
void yaffs_inode_changed(struct inode *inode)
{
	if (yaffs_obj(inode)->damaged)
		return;
	compat_set_ctime(inode, current_time(inode));
	yaffs_inode_push(inode);
}

void yaffs_inode_mark_dirty(struct inode *inode)
{
	if (yaffs_obj(inode)->dirty)
		mark_inode_dirty_sync(inode);
}

int yaffs_vfs_update_time(struct inode *inode, COMPAT_TIME_PARAM COMPAT_WHICH_PARAM)
{
	const struct timespec64 *now = COMPAT_TIME(inode);
	struct yaffs_device *dev = yaffs_dev(inode);

	yaffs_lock(dev);
	if (COMPAT_IS_ATIME)
		compat_set_atime(inode, *now);
	if (COMPAT_IS_MTIME)
		compat_set_mtime(inode, *now);
	if (COMPAT_IS_CTIME)
		compat_set_ctime(inode, *now);
	yaffs_inode_push(inode);
	yaffs_unlock(dev);
	mark_inode_dirty_sync(inode);
	return 0;
}

/*
 * With a bound, so that who waits for the lock waits for a page of it. What comes into the
 * cache meanwhile stays there.
 */
static int yaffs_write_in_pieces(struct inode *inode)
{
	struct yaffs_device *dev = yaffs_dev(inode);
	u32 most = YAFFS_CACHE_SLOTS + 1;
	int ret = 1;

	while (ret > 0 && most--) {
		yaffs_lock(dev);
		ret = yaffs_object_sync_page(yaffs_obj(inode));
		yaffs_unlock(dev);
		yaffs_let_others(dev);
	}
	return min(ret, 0);
}

static int yaffs_write_at_once(struct inode *inode)
{
	struct yaffs_device *dev = yaffs_dev(inode);
	int err = 0;

	yaffs_lock(dev);
	if (yaffs_obj(inode)->dirty)
		err = yaffs_object_sync(yaffs_obj(inode), false);
	yaffs_unlock(dev);
	return err;
}

/* Nothing of a file without a name needs to be on flash. */
int yaffs_inode_write(struct inode *inode, struct writeback_control *wbc)
{
	int err;

	if (!inode->i_nlink)
		return 0;
	if (wbc->sync_mode == WB_SYNC_NONE && READ_ONCE(yaffs_dev(inode)->bound.ns))
		err = yaffs_write_in_pieces(inode);
	else
		err = yaffs_write_at_once(inode);
	return flashfs_user_error(err);
}

/*
 * An inode that could not be set up has no object.
 *
 * Memory reclaim evicts inodes while the lock's holder may be waiting for that very
 * memory. So the lock is taken only for objects without a name, which reclaim does not
 * meet: their inodes go with their last user.
 */
void yaffs_inode_evict(struct inode *inode)
{
	struct yaffs_device *dev = yaffs_dev(inode);
	struct yaffs_object *obj = yaffs_obj(inode);
	struct yaffs_request request;

	truncate_inode_pages_final(&inode->i_data);
	clear_inode(inode);
	if (!obj)
		return;
	if (yaffs_object_stays(obj)) {
		yaffs_object_release(obj);
	} else {
		yaffs_enter(dev, &request, 1);
		yaffs_object_release(obj);
		yaffs_leave(dev, &request);
	}
	inode->i_private = NULL;
}

void yaffs_inode_free(struct inode *inode)
{
	if (S_ISLNK(inode->i_mode))
		kfree(inode->i_link);
	free_inode_nonrcu(inode);
}

/* ---- attributes ---- */

/* Without the lock: the counts are a snapshot in any case. */
static u64 yaffs_blocks_512(const struct inode *inode)
{
	const struct yaffs_object *obj = yaffs_obj(inode);
	u64 chunks = READ_ONCE(obj->hdr_chunk) ? 1 : 0;

	if (obj->type == YAFFS_TYPE_FILE)
		chunks += READ_ONCE(obj->file.data_chunks);
	return (chunks * obj->dev->chunk_bytes + 511) >> 9;
}

int yaffs_vfs_getattr(COMPAT_IDMAP_PARAM const struct path *path,
		      struct kstat *stat, u32 mask, unsigned int flags)
{
	struct inode *inode = d_inode(path->dentry);

	generic_fillattr(COMPAT_IDMAP COMPAT_FILL_MASK inode, stat);
	stat->blocks = yaffs_blocks_512(inode);
	return 0;
}

/* Follows the size that the object has now, also after an error on the way. */
static void yaffs_follow_size(struct inode *inode, loff_t size)
{
	loff_t old = i_size_read(inode);

	if (size > old)
		yaffs_zero_tail(inode, old);
	if (size != old)
		truncate_setsize(inode, size);
}

/*
 * The flash is first. Pages that are dirty beyond the new end cannot extend the
 * file in between, because writing back stops at the object's size. The header that
 * resizing writes, or the next, carries the new times.
 */
static int yaffs_resize(COMPAT_IDMAP_PARAM struct inode *inode, struct iattr *attr)
{
	struct yaffs_device *dev = yaffs_dev(inode);
	struct yaffs_request request;
	struct yaffs_object *obj = yaffs_obj(inode);
	loff_t size;
	int err = 0;

	if (attr->ia_size != i_size_read(inode))
		attr->ia_valid |= ATTR_MTIME | ATTR_CTIME;
	yaffs_enter(dev, &request, 3);
	setattr_copy(COMPAT_IDMAP inode, attr);
	yaffs_inode_push(inode);
	if (attr->ia_size != obj->file.size)
		err = yaffs_file_resize(obj, attr->ia_size);
	size = obj->file.size;
	yaffs_leave(dev, &request);
	yaffs_follow_size(inode, size);
	mark_inode_dirty(inode);
	return flashfs_user_error(err);
}

/* What is not on flash did not happen: after an error all is as before. */
static int yaffs_change(COMPAT_IDMAP_PARAM struct inode *inode,
			const struct iattr *attr)
{
	struct yaffs_device *dev = yaffs_dev(inode);
	struct yaffs_request request;
	struct yaffs_object *obj = yaffs_obj(inode);
	u32 mode, uid, gid;
	u64 atime_s, mtime_s, ctime_s;
	bool dirty;
	int err;

	yaffs_enter(dev, &request, 1);
	mode = obj->mode;
	uid = obj->uid;
	gid = obj->gid;
	atime_s = obj->atime_s;
	mtime_s = obj->mtime_s;
	ctime_s = obj->ctime_s;
	dirty = obj->dirty;
	setattr_copy(COMPAT_IDMAP inode, attr);
	yaffs_inode_push(inode);
	err = yaffs_header_write(obj, NULL);
	if (err) {
		obj->mode = mode;
		obj->uid = uid;
		obj->gid = gid;
		obj->atime_s = atime_s;
		obj->mtime_s = mtime_s;
		obj->ctime_s = ctime_s;
		obj->dirty = dirty;
		yaffs_inode_pull(inode);
	}
	yaffs_leave(dev, &request);
	return flashfs_user_error(err);
}

int yaffs_vfs_setattr(COMPAT_IDMAP_PARAM struct dentry *dentry, struct iattr *attr)
{
	struct inode *inode = d_inode(dentry);
	int err;

	err = setattr_prepare(COMPAT_IDMAP dentry, attr);
	if (err)
		return err;
	if (attr->ia_valid & ATTR_SIZE)
		return yaffs_resize(COMPAT_IDMAP inode, attr);
	return yaffs_change(COMPAT_IDMAP inode, attr);
}
