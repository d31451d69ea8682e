// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading a directory.
 *
 * An entry keeps its block as long as it exists, since the hash of its name says where it
 * is. So the block's index is its position for readdir: reading goes on correctly after
 * other entries came or went, and after a mount. The lock is not held while an entry is
 * copied to the user.
 */

#include <linux/slab.h>

#include "vfs.h"

static int logfs_next_entry(struct inode *dir, u64 bix, struct logfs_found *found)
{
	int err;

	logfs_lock(logfs_dev_of(dir));
	err = logfs_dir_next(logfs_node_of(dir), bix, found);
	logfs_unlock(logfs_dev_of(dir));
	return err;
}

static int logfs_iterate(struct file *file, struct dir_context *ctx)
{
	struct inode *dir = file_inode(file);
	struct logfs_found *found;
	int err = 0;

	if (!dir_emit_dots(file, ctx))
		return 0;
	found = kmalloc(sizeof(*found), GFP_KERNEL);
	if (!found)
		return -ENOMEM;
	for (;;) {
		err = logfs_next_entry(dir, ctx->pos - FLASHFS_FIRST_POSITION, found);
		if (err)
			break;
		ctx->pos = FLASHFS_FIRST_POSITION + found->bix;
		if (!dir_emit(ctx, found->name, found->len, found->ino, found->type))
			break;
		ctx->pos++;
	}
	kfree(found);
	return err == -ENOENT ? 0 : flashfs_user_error(err);
}

const struct file_operations logfs_dir_operations = {
	.llseek = flashfs_dir_llseek,
	.read = generic_read_dir,
	.iterate_shared = logfs_iterate,
	.fsync = logfs_vfs_fsync,
	COMPAT_LEASE_OPERATION
};
