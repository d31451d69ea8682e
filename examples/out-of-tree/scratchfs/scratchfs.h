/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * scratchfs: a scratch area on flash, and an example of a file system that
 * ffslab builds from a user's directory.
 *
 * Names and inodes live in memory, the contents of files on the flash. Nothing
 * of it outlives a mount: every mount begins with an empty file system. So it
 * is small, and yet one whose reads, programs and erases can be measured.
 *
 * super.c mounts it, inode.c has its files and directories, space.c hands out
 * the flash.
 */
#ifndef SCRATCHFS_H
#define SCRATCHFS_H

#include <linux/fs.h>
#include <linux/mtd/mtd.h>
#include <linux/mutex.h>
#include <linux/xarray.h>

/**
 * struct scratchfs_space - the flash, in slots of one page of memory each
 * @mtd: the device
 * @lock: held while slots are handed out, dropped or counted
 * @live: per erase block, slots with live contents; SCRATCHFS_BAD: unusable
 * @blocks: erase blocks of the device
 * @slots_per_block: slots in one of them
 * @current_block: where slots are handed out
 * @next_slot: the next one there; @slots_per_block: the block is full
 *
 * A slot is written once. Blocks are erased when they are used again.
 */
struct scratchfs_space {
	struct mtd_info *mtd;
	struct mutex lock;	/* protects all that follows */
	u16 *live;
	u32 blocks;
	u32 slots_per_block;
	u32 current_block;
	u32 next_slot;
};

#define SCRATCHFS_BAD U16_MAX

/**
 * struct scratchfs_inode - a file or directory
 * @slots: for each page of a file, by its index, the slot that has it, as an
 *	XArray value; none: the page is a hole
 * @vfs: what the VFS knows of it
 */
struct scratchfs_inode {
	struct xarray slots;
	struct inode vfs;
};

static inline struct scratchfs_inode *scratchfs_i(struct inode *inode)
{
	return container_of(inode, struct scratchfs_inode, vfs);
}

static inline struct scratchfs_space *scratchfs_space(struct super_block *sb)
{
	return sb->s_fs_info;
}

int scratchfs_space_init(struct scratchfs_space *space, struct mtd_info *mtd);
void scratchfs_space_exit(struct scratchfs_space *space);
int scratchfs_read(struct scratchfs_space *space, u32 slot, void *data);
int scratchfs_write(struct scratchfs_space *space, const void *data, u32 *slot);
void scratchfs_drop(struct scratchfs_space *space, u32 slot);
void scratchfs_count(struct scratchfs_space *space, u64 *total, u64 *free,
		     u64 *available);

struct inode *scratchfs_new_inode(struct super_block *sb, struct inode *dir,
				  umode_t mode);
void scratchfs_drop_pages(struct inode *inode, pgoff_t from);

#endif
