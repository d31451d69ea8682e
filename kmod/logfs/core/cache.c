// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocks of words: blocks of pointers, inodes, and blocks of the segment file.
 *
 * A tree without places of its own would have to be rewritten up to the root whenever a block
 * is written. Instead the changed pointer of the parent is noted (an alias), here and in the
 * journal of each commit, and the parent stays as it is on flash until it has too many of
 * them. So for each block there is what was changed since it was written, and, as long as
 * memory allows, all its words with the changes in them.
 *
 * Words are given up between operations only (logfs_cache_shrink()), the least used first: so
 * within an operation a block that was found stays, unless the operation forgets it.
 *
 * The inode of the inode file is not here: the journal has all of it in each commit.
 */

#include <linux/moduleparam.h>

#include "cache.h"

static unsigned int logfs_cached_blocks = 64;
module_param(logfs_cached_blocks, uint, 0644);
MODULE_PARM_DESC(logfs_cached_blocks,
		 "blocks of pointers and inodes kept in memory for each mount (64)");

static void account(struct logfs_device *dev, long bytes)
{
	dev->tree_bytes += bytes;
	dev->tree_bytes_most = max_t(u32, dev->tree_bytes_most, dev->tree_bytes);
}

static long words_bytes(const struct logfs_block *block)
{
	return logfs_cache_words(block->ino, block->level) * sizeof(__be64);
}

u32 logfs_cache_words(u64 ino, u32 level)
{
	return ino == LOGFS_INO_INODES && !level ? LOGFS_INODE_WORDS :
						   LOGFS_BLOCK_POINTERS;
}

struct logfs_block *logfs_cache_find(struct logfs_device *dev, u64 ino,
				     u32 level, u64 bix)
{
	struct logfs_block *block;

	hash_for_each_possible(dev->blocks, block, hash,
			       logfs_block_key(ino, level, bix))
		if (block->ino == ino && block->level == level &&
		    block->bix == bix)
			return block;
	return NULL;
}

struct logfs_block *logfs_cache_add(struct logfs_device *dev, u64 ino,
				    u32 level, u64 bix)
{
	struct logfs_block *block = logfs_cache_find(dev, ino, level, bix);

	if (block)
		return block;
	block = kzalloc(sizeof(*block), LOGFS_GFP);
	account(dev, sizeof(*block));
	block->ino = ino;
	block->level = level;
	block->bix = bix;
	INIT_LIST_HEAD(&block->lru);
	hash_add(dev->blocks, &block->hash, logfs_block_key(ino, level, bix));
	return block;
}

void logfs_cache_fill(struct logfs_device *dev, struct logfs_block *block,
		      __be64 *words)
{
	u32 i;

	for (i = 0; i < block->n_changes; i++)
		words[block->changes[i].child] = block->changes[i].value;
	INVARIANT(!block->words, "a block is filled that has words");
	block->words = words;
	list_add(&block->lru, &dev->lru);
	account(dev, words_bytes(block));
	dev->n_words++;
	dev->n_words_most = max_t(u32, dev->n_words_most, dev->n_words);
}

void logfs_cache_touch(struct logfs_device *dev, struct logfs_block *block)
{
	list_move(&block->lru, &dev->lru);
}

/* Where @child is among the changes, or would be. */
static u32 find_change(const struct logfs_block *block, u32 child)
{
	u32 low = 0, high = block->n_changes, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (block->changes[middle].child < child)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool logfs_cache_alias(const struct logfs_block *block, u32 child, u64 *value)
{
	const u32 i = find_change(block, child);

	if (i == block->n_changes || block->changes[i].child != child)
		return false;
	*value = be64_to_cpu(block->changes[i].value);
	return true;
}

static void make_room(struct logfs_device *dev, struct logfs_block *block)
{
	struct logfs_change *more;
	const u32 room = block->n_room ? 2 * block->n_room : 4;

	if (block->n_changes < block->n_room)
		return;
	more = kcalloc(room, sizeof(*more), LOGFS_GFP);
	if (block->n_changes)
		memcpy(more, block->changes, block->n_changes * sizeof(*more));
	kfree(block->changes);
	account(dev, (room - block->n_room) * sizeof(*more));
	block->changes = more;
	block->n_room = room;
}

static void note_change(struct logfs_device *dev, struct logfs_block *block,
			u32 child, __be64 value)
{
	u32 i = find_change(block, child);

	if (i == block->n_changes || block->changes[i].child != child) {
		make_room(dev, block);
		memmove(&block->changes[i + 1], &block->changes[i],
			(block->n_changes - i) * sizeof(*block->changes));
		block->n_changes++;
		dev->n_aliases++;
		dev->n_aliases_most = max_t(u32, dev->n_aliases_most,
					    dev->n_aliases);
	}
	block->changes[i].child = child;
	block->changes[i].value = value;
	INVARIANT((!i || block->changes[i - 1].child < child) &&
		  (i + 1 == block->n_changes || block->changes[i + 1].child > child),
		  "word %u has an alias out of order", child);
}

void logfs_cache_set(struct logfs_device *dev, struct logfs_block *block,
		     u32 child, u64 value)
{
	logfs_assert_locked(dev);
	INVARIANT(child < logfs_cache_words(block->ino, block->level),
		  "word %u of a block of level %u", child, block->level);
	dev->dirty = true;
	if (block->words) {
		if (logfs_word(block, child) == value)
			return;
		block->words[child] = cpu_to_be64(value);
	}
	if (block != &dev->master)
		note_change(dev, block, child, cpu_to_be64(value));
}

static void forget_changes(struct logfs_device *dev, struct logfs_block *block)
{
	INVARIANT(dev->n_aliases >= block->n_changes, "%u aliases, %u are forgotten",
		  dev->n_aliases, block->n_changes);
	dev->n_aliases -= block->n_changes;
	account(dev, -(long)(block->n_room * sizeof(*block->changes)));
	kfree(block->changes);
	block->changes = NULL;
	block->n_changes = 0;
	block->n_room = 0;
}

void logfs_cache_written(struct logfs_device *dev, struct logfs_block *block)
{
	forget_changes(dev, block);
}

static void give_up_words(struct logfs_device *dev, struct logfs_block *block)
{
	if (!block->words)
		return;
	kfree(block->words);
	account(dev, -words_bytes(block));
	block->words = NULL;
	list_del_init(&block->lru);
	INVARIANT(dev->n_words, "words are given up that were not counted");
	dev->n_words--;
}

void logfs_cache_forget(struct logfs_device *dev, struct logfs_block *block)
{
	forget_changes(dev, block);
	give_up_words(dev, block);
	hash_del(&block->hash);
	account(dev, -(long)sizeof(*block));
	kfree(block);
}

void logfs_cache_shrink(struct logfs_device *dev)
{
	struct logfs_block *block;

	while (dev->n_words > max_t(u32, logfs_cached_blocks, 8)) {
		block = list_last_entry(&dev->lru, struct logfs_block, lru);
		if (block->n_changes)
			give_up_words(dev, block);
		else
			logfs_cache_forget(dev, block);
	}
}

void logfs_cache_free(struct logfs_device *dev)
{
	struct logfs_block *block;
	struct hlist_node *next;
	int bucket;

	hash_for_each_safe(dev->blocks, bucket, next, block, hash)
		logfs_cache_forget(dev, block);
}

struct logfs_block *logfs_cache_most_changed(struct logfs_device *dev)
{
	struct logfs_block *block, *most = NULL;
	int bucket;

	hash_for_each(dev->blocks, bucket, block, hash)
		if (block->n_changes > (most ? most->n_changes : 0))
			most = block;
	return most;
}
