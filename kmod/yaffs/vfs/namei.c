// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names: what the VFS does with directories.
 *
 * The VFS holds the locks of the directories concerned, so that names do not change
 * between looking one up and acting on it; objects are found again by name in each
 * operation. A hard link is an entry of its own that stands for another object: the
 * inode is always that of the target, and only the entry is moved or removed.
 *
 * An operation is on flash when it returns, but for the times of the directory,
 * which follow later. A new object exists on flash before its inode is set up; a
 * failure then takes it away again.
 *
 * Reading a directory gives each entry a position that depends on the entry alone,
 * so that reading goes on correctly after others came or went. The lock is not held
 * while an entry is copied to the user.
 */

#include "../core/names.h"
#include "../core/request.h"
#include "vfs.h"

static struct yaffs_object *yaffs_find_entry(struct inode *dir,
					     const struct qstr *name)
{
	return yaffs_directory_find(yaffs_obj(dir), name->name, name->len);
}

/* ---- looking up ---- */

/* A dangling link stands for itself: its inode is that of a damaged object. */
static struct yaffs_object *yaffs_entry_target(struct yaffs_object *entry)
{
	struct yaffs_object *target = yaffs_object_target(entry);

	return target ? target : entry;
}

static struct dentry *yaffs_vfs_lookup(struct inode *dir, struct dentry *dentry,
				       unsigned int flags)
{
	struct yaffs_device *dev = yaffs_dev(dir);
	struct yaffs_request request;
	struct yaffs_object *entry;
	struct inode *inode = NULL;
	u32 id = 0;

	if (dentry->d_name.len > YAFFS_NAME_MAX)
		return ERR_PTR(-ENAMETOOLONG);
	yaffs_enter(dev, &request, 0);
	entry = yaffs_find_entry(dir, &dentry->d_name);
	if (!IS_ERR_OR_NULL(entry))
		id = yaffs_entry_target(entry)->id;
	yaffs_leave(dev, &request);
	if (IS_ERR(entry))
		return ERR_CAST(entry);
	if (id)
		inode = yaffs_iget(dir->i_sb, id);
	return d_splice_alias(inode, dentry);
}

/* ---- making objects ---- */

static u8 yaffs_type_of(umode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return YAFFS_TYPE_FILE;
	case S_IFDIR:
		return YAFFS_TYPE_DIRECTORY;
	case S_IFLNK:
		return YAFFS_TYPE_SYMLINK;
	default:
		return YAFFS_TYPE_SPECIAL;
	}
}

/* Makes the object of @inode, whose mode and owner are set, and binds them. */
static int yaffs_make_object(struct inode *inode, struct inode *dir,
			     const struct qstr *name, dev_t rdev,
			     const char *symlink)
{
	struct yaffs_attributes attributes = {
		.mode = inode->i_mode,
		.uid = i_uid_read(inode),
		.gid = i_gid_read(inode),
		.rdev = old_encode_dev(rdev),
	};
	struct yaffs_object *parent, *obj;
	int err;

	parent = name ? yaffs_obj(dir) : yaffs_dev(dir)->unlinked;
	obj = yaffs_create(parent, name ? name->name : NULL, name ? name->len : 0,
			   yaffs_type_of(inode->i_mode), &attributes, symlink);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	inode->i_ino = obj->id;
	err = yaffs_inode_bind(inode, obj);
	if (err)
		yaffs_unlink(obj);
	if (name)
		yaffs_inode_pull_directory(dir);
	return err;
}

/*
 * A new inode with its object; @name NULL: without a name. The inode is locked
 * (I_NEW) until d_instantiate_new() or unlock_new_inode().
 */
static struct inode *yaffs_new_inode(COMPAT_IDMAP_PARAM struct inode *dir,
				     const struct qstr *name, umode_t mode,
				     dev_t rdev, const char *symlink)
{
	struct yaffs_device *dev = yaffs_dev(dir);
	struct yaffs_request request;
	struct inode *inode;
	int err;

	if (name && name->len > YAFFS_NAME_MAX)
		return ERR_PTR(-ENAMETOOLONG);
	inode = new_inode(dir->i_sb);
	if (!inode)
		return ERR_PTR(-ENOMEM);
	inode_init_owner(COMPAT_IDMAP inode, dir, mode);
	yaffs_enter(dev, &request, 2);
	err = yaffs_make_object(inode, dir, name, rdev, symlink);
	yaffs_leave(dev, &request);
	if (!err)
		err = insert_inode_locked(inode);
	if (err) {
		iput(inode);
		return ERR_PTR(flashfs_user_error(err));
	}
	return inode;
}

static int yaffs_add(COMPAT_IDMAP_PARAM struct inode *dir,
		     struct dentry *dentry, umode_t mode, dev_t rdev,
		     const char *symlink)
{
	struct inode *inode;

	inode = yaffs_new_inode(COMPAT_IDMAP dir, &dentry->d_name, mode, rdev, symlink);
	if (IS_ERR(inode))
		return PTR_ERR(inode);
	d_instantiate_new(dentry, inode);
	return 0;
}

static int yaffs_vfs_create(COMPAT_IDMAP_PARAM struct inode *dir,
			    struct dentry *dentry, COMPAT_CREATE_PARAM)
{
	return yaffs_add(COMPAT_IDMAP dir, dentry, mode, 0, NULL);
}

static compat_made yaffs_vfs_mkdir(COMPAT_IDMAP_PARAM struct inode *dir,
				   struct dentry *dentry, umode_t mode)
{
	int err = yaffs_add(COMPAT_IDMAP dir, dentry, mode | S_IFDIR, 0, NULL);

	return compat_made_or(err);
}

static int yaffs_vfs_symlink(COMPAT_IDMAP_PARAM struct inode *dir,
			     struct dentry *dentry, const char *target)
{
	if (strlen(target) > YAFFS_SYMLINK_MAX)
		return -ENAMETOOLONG;
	return yaffs_add(COMPAT_IDMAP dir, dentry, S_IFLNK | 0777, 0, target);
}

/* The format has room for eight bits each of major and minor. */
static int yaffs_vfs_mknod(COMPAT_IDMAP_PARAM struct inode *dir,
			   struct dentry *dentry, umode_t mode, dev_t rdev)
{
	if ((S_ISCHR(mode) || S_ISBLK(mode)) && !old_valid_dev(rdev))
		return -EINVAL;
	return yaffs_add(COMPAT_IDMAP dir, dentry, mode, rdev, NULL);
}

/* d_tmpfile() wants to take the last link away itself. */
static int yaffs_vfs_tmpfile(COMPAT_IDMAP_PARAM struct inode *dir,
			     struct compat_unnamed *unnamed, umode_t mode)
{
	struct inode *inode;

	inode = yaffs_new_inode(COMPAT_IDMAP dir, NULL, mode, 0, NULL);
	if (IS_ERR(inode))
		return compat_finish_unnamed(unnamed, PTR_ERR(inode));
	set_nlink(inode, 1);
	d_tmpfile(unnamed, inode);
	unlock_new_inode(inode);
	return compat_finish_unnamed(unnamed, 0);
}

/* ---- adding, moving and removing names ---- */

static int yaffs_vfs_link(struct dentry *old_dentry, struct inode *dir,
			  struct dentry *dentry)
{
	struct inode *inode = d_inode(old_dentry);
	struct yaffs_device *dev = yaffs_dev(dir);
	struct yaffs_request request;
	struct yaffs_object *obj = yaffs_obj(inode);
	int err = -EUCLEAN;

	if (dentry->d_name.len > YAFFS_NAME_MAX)
		return -ENAMETOOLONG;
	yaffs_enter(dev, &request, 2);
	if (!obj->damaged) {
		yaffs_inode_changed(inode);
		err = yaffs_link(obj, yaffs_obj(dir), dentry->d_name.name,
				 dentry->d_name.len);
	}
	yaffs_inode_pull_links(inode);
	yaffs_inode_pull_directory(dir);
	yaffs_leave(dev, &request);
	if (err)
		return flashfs_user_error(err);
	yaffs_inode_mark_dirty(inode);
	ihold(inode);
	d_instantiate(dentry, inode);
	return 0;
}

/* What keeps a name gets a new time of change; what loses its last needs none. */
static int yaffs_vfs_unlink(struct inode *dir, struct dentry *dentry)
{
	struct yaffs_device *dev = yaffs_dev(dir);
	struct yaffs_request request;
	struct inode *inode = d_inode(dentry);
	struct yaffs_object *entry;
	int err = -ENOENT;

	yaffs_enter(dev, &request, 2);
	entry = yaffs_find_entry(dir, &dentry->d_name);
	if (!IS_ERR_OR_NULL(entry)) {
		if (!S_ISDIR(inode->i_mode) && inode->i_nlink > 1)
			yaffs_inode_changed(inode);
		err = yaffs_unlink(entry);
	}
	yaffs_inode_pull_links(inode);
	yaffs_inode_pull_directory(dir);
	yaffs_leave(dev, &request);
	if (err)
		return flashfs_user_error(err);
	if (inode->i_nlink)
		yaffs_inode_mark_dirty(inode);
	else
		compat_set_ctime(inode, compat_ctime(dir));
	return 0;
}

static int yaffs_vfs_rename(COMPAT_IDMAP_PARAM struct inode *old_dir,
			    struct dentry *old_dentry,
			    struct inode *new_dir, struct dentry *new_dentry,
			    unsigned int flags)
{
	struct inode *inode = d_inode(old_dentry), *replaced = d_inode(new_dentry);
	const struct qstr *name = &new_dentry->d_name;
	struct yaffs_device *dev = yaffs_dev(old_dir);
	struct yaffs_request request;
	struct yaffs_object *entry, *victim;
	int err = -ENOENT;

	if (flags & ~RENAME_NOREPLACE)
		return -EINVAL;
	if (name->len > YAFFS_NAME_MAX)
		return -ENAMETOOLONG;
	yaffs_enter(dev, &request, 3);
	entry = yaffs_find_entry(old_dir, &old_dentry->d_name);
	victim = replaced ? yaffs_find_entry(new_dir, name) : NULL;
	if (IS_ERR(entry) || IS_ERR(victim)) {
		err = -ENOMEM;
	} else if (victim && S_ISDIR(replaced->i_mode) &&
		   !yaffs_directory_is_empty(yaffs_obj(replaced))) {
		err = -ENOTEMPTY;
	} else if (entry) {
		yaffs_inode_changed(inode);
		err = yaffs_rename(entry, yaffs_obj(new_dir), name->name,
				   name->len, victim);
	}
	if (replaced)
		yaffs_inode_pull_links(replaced);
	yaffs_inode_pull_links(inode);
	yaffs_inode_pull_directory(old_dir);
	yaffs_inode_pull_directory(new_dir);
	yaffs_leave(dev, &request);
	if (err)
		return flashfs_user_error(err);
	yaffs_inode_mark_dirty(inode);
	if (replaced && replaced->i_nlink)
		yaffs_inode_mark_dirty(replaced);
	else if (replaced)
		compat_set_ctime(replaced, compat_ctime(new_dir));
	return 0;
}

/* ---- reading a directory ---- */

struct yaffs_entry {
	u64 position;
	u32 ino;
	u32 name_bytes;
	unsigned int type;
	char name[YAFFS_NAME_MAX];
};

static unsigned int yaffs_entry_type(const struct yaffs_object *target)
{
	switch (target->type) {
	case YAFFS_TYPE_FILE:
		return target->damaged ? DT_UNKNOWN : DT_REG;
	case YAFFS_TYPE_DIRECTORY:
		return DT_DIR;
	case YAFFS_TYPE_SYMLINK:
		return target->damaged ? DT_UNKNOWN : DT_LNK;
	case YAFFS_TYPE_SPECIAL:
		return target->loaded && !target->damaged ?
			fs_umode_to_dtype(target->mode) : DT_UNKNOWN;
	default:
		return DT_UNKNOWN;
	}
}

/* The first entry at or behind @position; false at the end. */
static bool yaffs_next_entry(struct inode *dir, u64 position,
			     struct yaffs_entry *entry)
{
	struct yaffs_device *dev = yaffs_dev(dir);
	struct yaffs_object *child, *target;

	yaffs_lock(dev);
	yaffs_directory_load(yaffs_obj(dir));
	child = yaffs_directory_at(yaffs_obj(dir), position);
	if (child) {
		target = yaffs_entry_target(child);
		entry->position = yaffs_directory_position(child);
		entry->ino = target->id;
		entry->type = yaffs_entry_type(target);
		entry->name_bytes = strnlen(child->name, YAFFS_NAME_MAX);
		memcpy(entry->name, child->name, entry->name_bytes);
	}
	yaffs_unlock(dev);
	return child;
}

static int yaffs_iterate(struct file *file, struct dir_context *ctx)
{
	struct inode *dir = file_inode(file);
	struct yaffs_entry entry;

	if (!dir_emit_dots(file, ctx))
		return 0;
	while (yaffs_next_entry(dir, ctx->pos - FLASHFS_FIRST_POSITION, &entry)) {
		ctx->pos = FLASHFS_FIRST_POSITION + entry.position;
		if (!dir_emit(ctx, entry.name, entry.name_bytes, entry.ino, entry.type))
			break;
		ctx->pos++;
	}
	return 0;
}

const struct inode_operations yaffs_dir_inode_operations = {
	.lookup = yaffs_vfs_lookup,
	.create = yaffs_vfs_create,
	.link = yaffs_vfs_link,
	.unlink = yaffs_vfs_unlink,
	.symlink = yaffs_vfs_symlink,
	.mkdir = yaffs_vfs_mkdir,
	.rmdir = yaffs_vfs_unlink,
	.mknod = yaffs_vfs_mknod,
	.rename = yaffs_vfs_rename,
	.tmpfile = yaffs_vfs_tmpfile,
	.getattr = yaffs_vfs_getattr,
	.setattr = yaffs_vfs_setattr,
	.update_time = yaffs_vfs_update_time,
	.listxattr = yaffs_vfs_listxattr,
};

const struct file_operations yaffs_dir_operations = {
	.llseek = flashfs_dir_llseek,
	.read = generic_read_dir,
	.iterate_shared = yaffs_iterate,
	.fsync = yaffs_vfs_fsync,
	COMPAT_LEASE_OPERATION
};
