// SPDX-License-Identifier: GPL-2.0-only
/*
 * Room for what is to be written, when there is little; and commits.
 *
 * A dirty page is promised the most that it can take: its own block uncompressed, and all
 * of the blocks of pointers above it. Mostly it takes a fraction. So "no room" is
 * believed only after what was promised has been written back and took what it needs.
 * That may be all the RAM that may be dirty, for which a chip needs seconds, so it is done
 * in portions: some pages of the file that is being written, then some of other files,
 * and all of it only if that gave nothing.
 *
 * Writing back all files is the flusher's: whoever asks for room holds locks of inodes, but
 * none that it needs. s_umount is only tried for, since who has it may wait for us.
 */

#include <linux/writeback.h>

#include "vfs.h"

/* Pages of a portion: written in less than a tenth of a second by most chips. */
#define PORTION_PAGES	32

/* What cannot be written is told to the file's next fsync, and to who asks for room. */
static void write_portion(struct address_space *mapping)
{
	struct writeback_control control = {
		.sync_mode = WB_SYNC_NONE,
		.nr_to_write = PORTION_PAGES,
		.range_cyclic = 1,
	};

	mapping->a_ops->writepages(mapping, &control);
}

/* At least @pages of all files, where so many are dirty. */
static bool write_back(struct super_block *sb, unsigned long pages)
{
	if (!down_read_trylock(&sb->s_umount))
		return false;
	writeback_inodes_sb_nr(sb, pages, WB_REASON_FS_FREE_SPACE);
	up_read(&sb->s_umount);
	return true;
}

int logfs_begin(struct super_block *sb, u32 blocks)
{
	int err = logfs_begin_write(sb->s_fs_info, blocks);

	if (err == -ENOSPC && write_back(sb, PORTION_PAGES))
		err = logfs_begin_write(sb->s_fs_info, blocks);
	if (err == -ENOSPC && write_back(sb, LONG_MAX))
		err = logfs_begin_write(sb->s_fs_info, blocks);
	return err;
}

int logfs_reserve_page(struct inode *inode)
{
	struct super_block *sb = inode->i_sb;
	int err = logfs_reserve(sb->s_fs_info, 1);

	if (err == -ENOSPC) {
		write_portion(inode->i_mapping);
		err = logfs_reserve(sb->s_fs_info, 1);
	}
	if (err == -ENOSPC && write_back(sb, PORTION_PAGES))
		err = logfs_reserve(sb->s_fs_info, 1);
	if (err == -ENOSPC && write_back(sb, LONG_MAX))
		err = logfs_reserve(sb->s_fs_info, 1);
	return err;
}

int logfs_sync(struct super_block *sb)
{
	struct logfs_device *dev = sb->s_fs_info;
	int err;

	if (sb_rdonly(sb))
		return 0;
	err = logfs_begin_write(dev, 0);
	if (err)
		return err;
	err = logfs_commit(dev);
	logfs_unlock(dev);
	return err;
}
