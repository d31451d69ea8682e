// SPDX-License-Identifier: GPL-2.0-only
/*
 * The trees: from a block to the pointer that leads to it, and what happens to the blocks
 * above when it changes.
 *
 * All is one tree in the end. A file's blocks are below its inode, inodes are blocks of the
 * inode file, and the inode of that is in memory. To change a pointer is to change a word of
 * the block above, which is an alias of that block and no more (cache.c). The block above is
 * written at once in two cases only, both rare: it is new, or it has become full or is no
 * longer full. For the bit that says so is in the pointer to it, and who looks for the next
 * hole goes by these bits. A block without any pointer left is given up.
 *
 * Trees grow at the root: a block of one more level is put above. They never shrink, but to
 * nothing.
 */

#include <linux/err.h>
#include <linux/stat.h>

#include "area.h"
#include "flash.h"
#include "tree.h"

#define HEIGHT_SHIFT	40
#define HEIGHT_MASK	(0xffULL << HEIGHT_SHIFT)

static u32 most_levels(const struct logfs_device *dev, u64 ino)
{
	return ino == LOGFS_INO_INODES ? dev->super.ifile_levels - 1 :
					 dev->super.iblock_levels;
}

static void set_height(struct logfs_device *dev, struct logfs_block *inode,
		       u64 height)
{
	const u64 word = logfs_word(inode, LOGFS_WORD_MODE);

	logfs_cache_set(dev, inode, LOGFS_WORD_MODE,
			(word & ~HEIGHT_MASK) | height << HEIGHT_SHIFT);
}

bool logfs_tree_has(const struct logfs_block *inode)
{
	const u16 mode = logfs_word(inode, LOGFS_WORD_MODE) >> 48;

	return !S_ISCHR(mode) && !S_ISBLK(mode);
}

struct logfs_block *logfs_tree_inode(struct logfs_device *dev, u64 ino)
{
	if (ino == LOGFS_INO_INODES)
		return &dev->master;
	return logfs_tree_block(dev, LOGFS_INO_INODES, 0, ino);
}

int logfs_tree_pointer(struct logfs_device *dev, u64 ino, u32 level, u64 bix,
		       u64 *pointer)
{
	struct logfs_block *block = logfs_tree_inode(dev, ino);
	u32 height;

	*pointer = 0;
	if (IS_ERR(block))
		return PTR_ERR(block);
	if (!logfs_tree_has(block))
		return 0;
	if (!level && bix < LOGFS_DIRECT_POINTERS) {
		*pointer = logfs_word(block, logfs_inode_child(bix));
		return 0;
	}
	height = logfs_tree_height(block);
	if (!height || level > height || bix > logfs_last_bix(height))
		return 0;
	if (level == height) {
		*pointer = logfs_word(block, LOGFS_WORD_ROOT);
		return 0;
	}
	block = logfs_tree_block(dev, ino, level + 1,
				 logfs_block_start(level + 1, bix));
	if (IS_ERR(block))
		return PTR_ERR(block) == -ENOENT ? 0 : PTR_ERR(block);
	*pointer = logfs_word(block, logfs_slot(level + 1, bix));
	return 0;
}

static bool is_small(u64 ino, u32 level)
{
	return ino == LOGFS_INO_INODES && !level;
}

static u8 type_of(u64 ino, u32 level)
{
	return is_small(ino, level) ? LOGFS_OBJECT_INODE : LOGFS_OBJECT_BLOCK;
}

/* What flash says of an inode is not to lead us out of its tree. */
static bool is_sound(const struct logfs_device *dev, u64 ino, u32 level,
		     u64 bix, const __be64 *words)
{
	struct logfs_inode inode;

	if (ino != LOGFS_INO_INODES || level)
		return true;
	return !logfs_inode_decode((const void *)words, &inode) &&
	       inode.height <= most_levels(dev, bix);
}

static bool is_block(const struct logfs_object *o, u64 ino, u32 level, u64 bix)
{
	return o->ino == ino && o->bix == bix &&
	       o->type == type_of(ino, level) && !o->compression;
}

static int load(struct logfs_device *dev, u64 ino, u32 level, u64 bix,
		u64 place, __be64 *words)
{
	struct logfs_object o;
	int err = logfs_object_read(dev, place,
				    is_small(ino, level) ?
					logfs_flash_read_kept :
					logfs_flash_read,
				    &o, dev->object);

	if (err)
		return err;
	if (!is_block(&o, ino, level, bix))
		return -EUCLEAN;
	memcpy(words, dev->object, o.stored_bytes);
	return is_sound(dev, ino, level, bix, words) ? 0 : -EUCLEAN;
}

static __be64 *new_words(u64 ino, u32 level)
{
	return kcalloc(logfs_cache_words(ino, level), sizeof(__be64),
		       LOGFS_GFP);
}

static int load_block(struct logfs_device *dev, u64 ino, u32 level, u64 bix,
		      u64 pointer)
{
	__be64 *words = new_words(ino, level);
	int err = load(dev, ino, level, bix, logfs_pointer_place(pointer),
		       words);

	if (err) {
		kfree(words);
		pr_err_ratelimited("logfs: %s: block %llu of level %u of inode %llu cannot be read at %llu (%d)\n",
				   dev->mtd->name, bix, level, ino,
				   logfs_pointer_place(pointer), err);
		return err;
	}
	logfs_cache_fill(dev, logfs_cache_add(dev, ino, level, bix), words);
	return 0;
}

struct logfs_block *logfs_tree_block(struct logfs_device *dev, u64 ino,
				     u32 level, u64 bix)
{
	struct logfs_block *block = logfs_cache_find(dev, ino, level, bix);
	u64 pointer;
	int err;

	logfs_assert_locked(dev);
	if (block && block->words) {
		logfs_cache_touch(dev, block);
		return block;
	}
	/* Inodes are many, and one by one: their pointers do not displace all others. */
	err = is_small(ino, level) ?
	      logfs_tree_peek(dev, ino, level, bix, &pointer) :
	      logfs_tree_pointer(dev, ino, level, bix, &pointer);
	if (!err && !pointer)
		err = -ENOENT;
	if (!err)
		err = load_block(dev, ino, level, bix, pointer);
	if (err)
		return ERR_PTR(err);
	return logfs_cache_find(dev, ino, level, bix);
}

/* A pointer of the block at @place, of which nothing else is read but its header. */
static int read_slot(struct logfs_device *dev, u64 ino, u32 level, u64 bix,
		     u64 place, u64 *pointer)
{
	struct logfs_object_header_media m;
	struct logfs_object o;
	__be64 word;
	int err = logfs_object_header(dev, place, logfs_flash_read_kept, &m, &o);

	if (err)
		return err == -ENODATA ? -EUCLEAN : err;
	if (!is_block(&o, ino, level, logfs_block_start(level, bix)))
		return -EUCLEAN;
	err = logfs_flash_read_kept(dev, place + sizeof(m) + sizeof(word) *
				    logfs_slot(level, bix), &word,
				    sizeof(word));
	*pointer = be64_to_cpu(word);
	return err;
}

int logfs_tree_peek(struct logfs_device *dev, u64 ino, u32 level, u64 bix,
		    u64 *pointer)
{
	const u64 start = logfs_block_start(level + 1, bix);
	struct logfs_block *block = logfs_tree_inode(dev, ino);
	u64 above;
	int err;

	if (IS_ERR(block))
		return PTR_ERR(block);
	if ((!level && bix < LOGFS_DIRECT_POINTERS) ||
	    level + 1 >= logfs_tree_height(block))
		return logfs_tree_pointer(dev, ino, level, bix, pointer);
	block = logfs_cache_find(dev, ino, level + 1, start);
	if (block && block->words)
		return logfs_tree_pointer(dev, ino, level, bix, pointer);
	if (block && logfs_cache_alias(block, logfs_slot(level + 1, bix),
				       pointer))
		return 0;
	err = logfs_tree_peek(dev, ino, level + 1, start, &above);
	if (!err && above)
		return read_slot(dev, ino, level + 1, bix,
				 logfs_pointer_place(above), pointer);
	*pointer = 0;
	return err;
}

/* In memory only. Changes noted of an older one of that place are none of this. */
struct logfs_block *logfs_tree_new_block(struct logfs_device *dev, u64 ino,
					 u32 level, u64 bix)
{
	struct logfs_block *block = logfs_cache_find(dev, ino, level, bix);

	if (block)
		logfs_cache_forget(dev, block);
	block = logfs_cache_add(dev, ino, level, bix);
	logfs_cache_fill(dev, block, new_words(ino, level));
	return block;
}

int logfs_tree_account(struct logfs_device *dev, u64 ino, s32 bytes)
{
	struct logfs_block *inode = logfs_tree_inode(dev, ino);

	if (IS_ERR(inode))
		return PTR_ERR(inode);
	dev->used_bytes += bytes;
	logfs_cache_set(dev, inode, LOGFS_WORD_USED,
			logfs_word(inode, LOGFS_WORD_USED) + bytes);
	return 0;
}

static u32 object_bytes(u64 ino, u32 level)
{
	return LOGFS_OBJECT_HEADER_BYTES +
	       logfs_object_payload_bytes(type_of(ino, level));
}

static u64 full_bit(const struct logfs_block *block)
{
	if (!block->level ||
	    logfs_indirect_full(block->words, block->level, block->bix))
		return LOGFS_POINTER_FULL;
	return 0;
}

int logfs_tree_write(struct logfs_device *dev, struct logfs_block *block)
{
	const s32 bytes = object_bytes(block->ino, block->level);
	const struct logfs_object o = {
		.type = type_of(block->ino, block->level),
		.stored_bytes = bytes - LOGFS_OBJECT_HEADER_BYTES,
		.ino = block->ino,
		.bix = block->bix,
	};
	u64 old, place;
	int err = logfs_tree_pointer(dev, block->ino, block->level, block->bix,
				     &old);

	if (err)
		return err;
	INVARIANT(block->words, "block %llu of level %u of inode %llu is written without words",
		  (unsigned long long)block->bix, block->level,
		  (unsigned long long)block->ino);
	err = logfs_area_write(dev, logfs_gc_level(block->ino, block->level),
			       &o, block->words, &place);
	if (err)
		return err;
	logfs_cache_written(dev, block);
	if (old)
		logfs_book(dev, logfs_pointer_place(old), -bytes);
	else
		err = logfs_tree_account(dev, block->ino, bytes);
	if (err)
		return err;
	return logfs_tree_set(dev, block->ino, block->level, block->bix,
			      place | full_bit(block));
}

int logfs_tree_give_up(struct logfs_device *dev, struct logfs_block *block)
{
	const s32 bytes = object_bytes(block->ino, block->level);
	const u64 ino = block->ino, bix = block->bix;
	const u32 level = block->level;
	u64 old;
	int err = logfs_tree_pointer(dev, ino, level, bix, &old);

	if (err)
		return err;
	logfs_cache_forget(dev, block);
	if (!old)
		return 0;
	logfs_book(dev, logfs_pointer_place(old), -bytes);
	err = logfs_tree_account(dev, ino, -bytes);
	return err ? err : logfs_tree_set(dev, ino, level, bix, 0);
}

static int grow(struct logfs_device *dev, struct logfs_block *inode, u64 ino,
		u64 bix)
{
	u32 height = logfs_tree_height(inode);
	struct logfs_block *block;
	u64 root;
	int err = 0;

	if (logfs_height(bix) > most_levels(dev, ino))
		return -EFBIG;
	while (!err && (!height || bix > logfs_last_bix(height))) {
		root = logfs_word(inode, LOGFS_WORD_ROOT);
		set_height(dev, inode, ++height);
		if (!root)
			continue;
		logfs_cache_set(dev, inode, LOGFS_WORD_ROOT, 0);
		block = logfs_tree_new_block(dev, ino, height, 0);
		block->words[0] = cpu_to_be64(root);
		err = logfs_tree_write(dev, block);
	}
	return err;
}

static int set_slot(struct logfs_device *dev, u64 ino, u32 level, u64 bix,
		    u64 pointer)
{
	const u64 start = logfs_block_start(level, bix);
	const u32 slot = logfs_slot(level, bix);
	struct logfs_block *block = logfs_tree_block(dev, ino, level, start);
	bool changes;
	u64 was_full = 0;

	if (block == ERR_PTR(-ENOENT)) {
		if (!pointer)
			return 0;
		block = logfs_tree_new_block(dev, ino, level, start);
		block->words[slot] = cpu_to_be64(pointer);
		return logfs_tree_write(dev, block);
	}
	if (IS_ERR(block))
		return PTR_ERR(block);
	changes = logfs_pointer_full(level, logfs_word(block, slot)) !=
		  logfs_pointer_full(level, pointer);
	if (changes)
		was_full = full_bit(block);
	logfs_cache_set(dev, block, slot, pointer);
	if (!pointer && logfs_indirect_empty(block->words))
		return logfs_tree_give_up(dev, block);
	if (changes && was_full != full_bit(block))
		return logfs_tree_write(dev, block);
	return 0;
}

int logfs_tree_set(struct logfs_device *dev, u64 ino, u32 level, u64 bix,
		   u64 pointer)
{
	struct logfs_block *inode = logfs_tree_inode(dev, ino);
	u32 height;
	int err;

	if (IS_ERR(inode))
		return PTR_ERR(inode);
	if (!level && bix < LOGFS_DIRECT_POINTERS) {
		logfs_cache_set(dev, inode, logfs_inode_child(bix), pointer);
		return 0;
	}
	if (pointer) {
		err = grow(dev, inode, ino, bix);
		if (err)
			return err;
	}
	height = logfs_tree_height(inode);
	if (level < height)
		return set_slot(dev, ino, level + 1, bix, pointer);
	if (level > height)
		return pointer ? -EUCLEAN : 0;
	logfs_cache_set(dev, inode, LOGFS_WORD_ROOT, pointer);
	if (!pointer)
		set_height(dev, inode, 0);
	return 0;
}
