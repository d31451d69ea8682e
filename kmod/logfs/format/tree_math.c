// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a block is in the tree of its file. The first sixteen blocks are pointed to by the
 * inode itself. All others are below one root, of a height that the inode says: nine bits
 * of the index choose the pointer on each level. Blocks 0 to 15 have slots there as well,
 * which are never used.
 */

#include "codec.h"

/* A key: inode 30 bits, level 3, block 31. */
#define KEY_BIX_BITS	31
#define KEY_LEVEL_BITS	3
#define KEY_INO_SHIFT	(KEY_BIX_BITS + KEY_LEVEL_BITS)

static u64 span(u32 level)
{
	return 1ULL << level * LOGFS_INDEX_BITS;
}

u64 logfs_block_start(u32 level, u64 bix)
{
	return bix & ~(span(level) - 1);
}

u32 logfs_slot(u32 level, u64 bix)
{
	return bix >> (level - 1) * LOGFS_INDEX_BITS &
	       (LOGFS_BLOCK_POINTERS - 1);
}

u32 logfs_inode_child(u64 bix)
{
	return LOGFS_INODE_DATA +
	       (u32)min_t(u64, bix, LOGFS_DIRECT_POINTERS);
}

u32 logfs_height(u64 bix)
{
	u32 height = 0;

	while (bix > logfs_last_bix(height))
		height++;
	return height;
}

u64 logfs_last_bix(u32 height)
{
	return height ? span(height) - 1 : LOGFS_DIRECT_POINTERS - 1;
}

u32 logfs_gc_level(u64 ino, u32 level)
{
	return ino == LOGFS_INO_INODES ? level + LOGFS_FILE_LEVELS : level;
}

bool logfs_block_possible(u64 ino, u32 level, u64 bix)
{
	return ino && ino <= LOGFS_MAX_INO && level <= LOGFS_MAX_LEVEL &&
	       bix < LOGFS_MAX_BLOCKS && bix == logfs_block_start(level, bix);
}

u64 logfs_block_key(u64 ino, u32 level, u64 bix)
{
	return ino << KEY_INO_SHIFT | (u64)level << KEY_BIX_BITS | bix;
}

void logfs_block_of_key(u64 key, u64 *ino, u32 *level, u64 *bix)
{
	*ino = key >> KEY_INO_SHIFT;
	*level = key >> KEY_BIX_BITS & ((1U << KEY_LEVEL_BITS) - 1);
	*bix = key & (LOGFS_MAX_BLOCKS - 1);
}

/* Who made a pointer to level 0 may have left the bit out: it leads to something, or not. */
bool logfs_pointer_full(u32 level, u64 pointer)
{
	return level == 1 ? pointer : pointer & LOGFS_POINTER_FULL;
}

/* The slots of the direct blocks have no say. */
bool logfs_indirect_full(const __be64 words[LOGFS_BLOCK_POINTERS], u32 level,
			 u64 bix)
{
	u32 i = level == 1 && bix < LOGFS_BLOCK_POINTERS ?
		LOGFS_DIRECT_POINTERS : 0;

	for (; i < LOGFS_BLOCK_POINTERS; i++)
		if (!logfs_pointer_full(level, be64_to_cpu(words[i])))
			return false;
	return true;
}

bool logfs_indirect_empty(const __be64 words[LOGFS_BLOCK_POINTERS])
{
	u32 i;

	for (i = 0; i < LOGFS_BLOCK_POINTERS; i++)
		if (words[i])
			return false;
	return true;
}
