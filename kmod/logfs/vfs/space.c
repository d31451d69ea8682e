// SPDX-License-Identifier: GPL-2.0-only
/*
 * Room for what is to be written, when there is little; and commits.
 *
 * A dirty page is promised the most that it can take: its own block uncompressed, and all
 * of the blocks of pointers above it. Mostly it takes a fraction. So "no room" is
 * believed only after what was promised has been written back and took what it needs.
 *
 * Writing back is the flusher's: whoever asks for room holds locks of inodes, but none
 * that it needs. s_umount is only tried for, since who has it may wait for us.
 */

#include <linux/writeback.h>

#include "vfs.h"

static bool logfs_write_back(struct super_block *sb)
{
	if (!down_read_trylock(&sb->s_umount))
		return false;
	writeback_inodes_sb(sb, WB_REASON_FS_FREE_SPACE);
	up_read(&sb->s_umount);
	return true;
}

int logfs_begin(struct super_block *sb, u32 blocks)
{
	int err = logfs_enter(sb->s_fs_info, blocks);

	if (err == -ENOSPC && logfs_write_back(sb))
		err = logfs_enter(sb->s_fs_info, blocks);
	return err;
}

int logfs_reserve_pages(struct super_block *sb, u32 pages)
{
	int err = logfs_reserve(sb->s_fs_info, pages);

	if (err == -ENOSPC && logfs_write_back(sb))
		err = logfs_reserve(sb->s_fs_info, pages);
	return err;
}

int logfs_make_last(struct super_block *sb)
{
	struct logfs_device *dev = sb->s_fs_info;
	int err;

	if (sb_rdonly(sb))
		return 0;
	err = logfs_enter(dev, 0);
	if (err)
		return err;
	err = logfs_commit(dev);
	logfs_leave(dev);
	return err;
}
