// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a file has data, and where holes.
 *
 * The tree knows what is on flash; dirty pages are not in it. So these are written back
 * first: who asks for holes is about to copy the file.
 *
 * Holes are whole blocks that were never written. Zeros that were are data.
 */

#include <linux/pagemap.h>

#include "vfs.h"

/* @offset is in the file; what follows the last data is one hole up to the end. */
static loff_t logfs_find(struct inode *inode, loff_t offset, bool data)
{
	loff_t size = i_size_read(inode);
	u64 found;
	int err;

	logfs_lock(logfs_dev_of(inode));
	err = logfs_seek(logfs_node_of(inode), offset >> LOGFS_BLOCK_SHIFT, data,
			 &found);
	logfs_unlock(logfs_dev_of(inode));
	if (err == -ENXIO && !data)
		return size;
	if (err)
		return flashfs_user_error(err);
	offset = max_t(loff_t, offset, found << LOGFS_BLOCK_SHIFT);
	if (offset < size)
		return offset;
	return data ? -ENXIO : size;
}

static loff_t logfs_seek_file(struct file *file, loff_t offset, bool data)
{
	struct inode *inode = file_inode(file);
	loff_t found;

	inode_lock(inode);
	found = filemap_write_and_wait(inode->i_mapping);
	if (!found && (offset < 0 || offset >= i_size_read(inode)))
		found = -ENXIO;
	if (!found)
		found = logfs_find(inode, offset, data);
	if (found >= 0)
		found = vfs_setpos(file, found, inode->i_sb->s_maxbytes);
	inode_unlock(inode);
	return found;
}

loff_t logfs_vfs_llseek(struct file *file, loff_t offset, int whence)
{
	if (whence == SEEK_DATA || whence == SEEK_HOLE)
		return logfs_seek_file(file, offset, whence == SEEK_DATA);
	return generic_file_llseek(file, offset, whence);
}
