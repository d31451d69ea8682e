/* SPDX-License-Identifier: GPL-2.0-only */
/* The trees of files, and that of inodes: tree.c, walk.c. */
#ifndef LOGFS_TREE_H
#define LOGFS_TREE_H

#include "cache.h"

/* ERR_PTR: -ENOENT there is no such inode. The inode file has one, too. */
struct logfs_block *logfs_tree_inode(struct logfs_device *dev, u64 ino);
/* A block of words that does not exist yet: all are 0, and nothing points to it. */
struct logfs_block *logfs_tree_new_block(struct logfs_device *dev, u64 ino,
					 u32 level, u64 bix);
/* A block of words. ERR_PTR: -ENOENT there is none. */
struct logfs_block *logfs_tree_block(struct logfs_device *dev, u64 ino,
				     u32 level, u64 bix);
/* What leads to a block; 0: nothing. -ENOENT: no inode. */
int logfs_tree_pointer(struct logfs_device *dev, u64 ino, u32 level, u64 bix,
		       u64 *pointer);
/*
 * The same, where no neighbour of the block is likely to be asked for: of the block of pointers
 * above nothing else is read, if that is not in memory. Its CRC is not looked at, so whatever is
 * found must say itself what it is.
 */
int logfs_tree_peek(struct logfs_device *dev, u64 ino, u32 level, u64 bix,
		    u64 *pointer);
/* Lets a pointer lead to a block, or to none if it is 0. */
int logfs_tree_set(struct logfs_device *dev, u64 ino, u32 level, u64 bix,
		   u64 pointer);
/* Writes a block of words as it is now. */
int logfs_tree_write(struct logfs_device *dev, struct logfs_block *block);
/* The file has so many bytes of objects more, or less. */
int logfs_tree_account(struct logfs_device *dev, u64 ino, s32 bytes);
/* True if the inode has a tree: device nodes have a number where others have pointers. */
bool logfs_tree_has(const struct logfs_block *inode);
/* The block is no more; what it leads to was given up before. */
int logfs_tree_give_up(struct logfs_device *dev, struct logfs_block *block);

static inline u32 logfs_tree_height(const struct logfs_block *inode)
{
	return logfs_word(inode, LOGFS_WORD_MODE) >> 40 & 0xff;
}

/* ---- walk.c ---- */

/* The next block from @bix on that is there (@data), or is not. -ENXIO: none. */
int logfs_tree_seek(struct logfs_device *dev, u64 ino, u64 bix, bool data,
		    u64 *found);
/* The last block that is there. -ENXIO: none. */
int logfs_tree_last(struct logfs_device *dev, u64 ino, u64 *found);

#endif
