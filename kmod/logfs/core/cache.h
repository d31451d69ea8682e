/* SPDX-License-Identifier: GPL-2.0-only */
/* Blocks of words, and what was changed in them: cache.c. */
#ifndef LOGFS_CACHE_H
#define LOGFS_CACHE_H

#include "device.h"

/* NULL: it is not here. */
struct logfs_block *logfs_cache_find(struct logfs_device *dev, u64 ino,
				     u32 level, u64 bix);
/* The same, made without words if it is not here. */
struct logfs_block *logfs_cache_add(struct logfs_device *dev, u64 ino,
				    u32 level, u64 bix);
/* How many words such a block has. */
u32 logfs_cache_words(u64 ino, u32 level);
/* Gives a block words, as they are on flash; changes are merged. */
void logfs_cache_fill(struct logfs_device *dev, struct logfs_block *block,
		      __be64 *words);
void logfs_cache_touch(struct logfs_device *dev, struct logfs_block *block);
/* Sets a word of a block, which may be without words. */
void logfs_cache_set(struct logfs_device *dev, struct logfs_block *block,
		     u32 child, u64 value);
/* *@value is that of an alias; false: there is none for the word. */
bool logfs_cache_alias(const struct logfs_block *block, u32 child, u64 *value);
/* It was written as it is. */
void logfs_cache_written(struct logfs_device *dev, struct logfs_block *block);
/* There is no such block any more. */
void logfs_cache_forget(struct logfs_device *dev, struct logfs_block *block);
/* Words beyond the limit are given up. Nobody may use a block meanwhile. */
void logfs_cache_shrink(struct logfs_device *dev);
void logfs_cache_free(struct logfs_device *dev);
/* The block with the most changes; NULL: there are none. */
struct logfs_block *logfs_cache_most_changed(struct logfs_device *dev);

static inline u64 logfs_word(const struct logfs_block *block, u32 child)
{
	return be64_to_cpu(block->words[child]);
}

#endif
