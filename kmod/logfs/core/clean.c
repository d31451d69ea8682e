// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cleaning a segment: what is valid in it is written again, to the area of its level.
 *
 * Nothing in a segment says what is valid. An object is if its tree points to it, so its
 * header is read, and then the pointer is looked up. Blocks of data and dentries are copied as
 * they are, with the CRC that they have: so damage that nobody has noticed stays what it is,
 * and is noticed by who reads it. Blocks of words are written from memory, with their aliases.
 *
 * Behind a header that is damaged the next one is searched for, at every byte: whatever looks
 * like one is valid only if the tree points to it. What is damaged and valid stays where it is,
 * and its segment is not cleaned any more.
 */

#include <linux/err.h>

#include "area.h"
#include "flash.h"
#include "gc.h"
#include "journal.h"
#include "segments.h"
#include "tree.h"

static int copy(struct logfs_device *dev, u64 place,
		const struct logfs_object_header_media *m,
		const struct logfs_object *o)
{
	const s32 bytes = sizeof(*m) + o->stored_bytes;
	u64 to;
	int err = logfs_flash_read(dev, place + sizeof(*m), dev->object,
				   o->stored_bytes);

	if (err && err != -EBADMSG)
		return err;
	err = logfs_area_append(dev, 0, m, dev->object, o->stored_bytes, &to);
	if (err)
		return err;
	logfs_book(dev, place, -bytes);
	dev->stats.gc_bytes += bytes;
	return logfs_tree_set(dev, o->ino, 0, o->bix, to | LOGFS_POINTER_FULL);
}

static int move(struct logfs_device *dev, u32 gc_level, u64 place,
		const struct logfs_object_header_media *m,
		const struct logfs_object *o)
{
	const bool is_inodes = gc_level >= LOGFS_FILE_LEVELS;
	const u32 level = gc_level - (is_inodes ? LOGFS_FILE_LEVELS : 0);
	struct logfs_block *block;
	u64 pointer;
	int err;

	if (logfs_gc_level(o->ino, level) != gc_level ||
	    !logfs_block_possible(o->ino, level, o->bix))
		return 0;
	err = logfs_tree_pointer(dev, o->ino, level, o->bix, &pointer);
	if (err)
		return err == -ENOENT ? 0 : err;
	if (logfs_pointer_place(pointer) != place)
		return 0;
	dev->stats.gc_objects++;
	if (!level && !is_inodes)
		return copy(dev, place, m, o);
	block = logfs_tree_block(dev, o->ino, level, o->bix);
	if (IS_ERR(block))
		return PTR_ERR(block);
	dev->stats.gc_bytes += sizeof(*m) + o->stored_bytes;
	return logfs_tree_write(dev, block);
}

/* An object cannot be moved, for now or ever; others can. */
static int give_up(struct logfs_device *dev, u32 segno, u32 at, int err)
{
	if (!dev->writable || err == -ENOMEM)
		return err;
	if (!xa_load(&dev->stuck, segno))
		pr_warn("logfs: %s: segment %u cannot be cleaned, for what is at %u of it is damaged (%d)\n",
			dev->mtd->name, segno, at, err);
	xa_store(&dev->stuck, segno, xa_mk_value(1), LOGFS_GFP);
	return 0;
}

/* Where the first header behind @at may be; @end if there is none. */
static u32 find_header(struct logfs_device *dev, u64 base, u32 at, u32 end)
{
	const u32 header = sizeof(struct logfs_object_header_media);
	struct logfs_object o;
	u32 i, n;
	int err;

	for (at++; at + header <= end; at += n - header + 1) {
		n = min_t(u32, LOGFS_BLOCK_BYTES, end - at);
		err = logfs_flash_read(dev, base + at, dev->object, n);
		if (err && err != -EBADMSG)
			return end;
		for (i = 0; i + header <= n; i++)
			if (!logfs_object_decode((void *)(dev->object + i), &o))
				return at + i;
	}
	return end;
}

int logfs_clean(struct logfs_device *dev, u32 segno, u32 level, u32 from,
		u32 end, bool may_commit)
{
	const u64 base = logfs_segment_place(dev, segno);
	u32 at = sizeof(struct logfs_segment_header_media), next;
	struct logfs_object_header_media m;
	struct logfs_object o;
	s64 valid;
	int err;

	for (; at < end; at = next) {
		err = logfs_segment_valid(dev, segno, &valid);
		if (err || !valid)
			return err;
		err = logfs_object_header(dev, base + at, logfs_flash_read,
					  &m, &o);
		next = err ? find_header(dev, base, at, end) :
		       at + sizeof(m) + o.stored_bytes;
		if (!err && next > from)
			err = move(dev, level, base + at, &m, &o);
		if (err)
			err = give_up(dev, segno, at, err);
		if (!err)
			err = logfs_relieve(dev, may_commit);
		if (err)
			return err;
		logfs_cache_shrink(dev);
	}
	return 0;
}

static struct logfs_left *next_left(struct logfs_device *dev)
{
	struct logfs_left *left;

	list_for_each_entry(left, &dev->left, list)
		if (!left->is_empty)
			return left;
	return NULL;
}

/*
 * What is left of one that is bad is marked so when the commit is on flash; of another, that
 * was not programmed to its end, nothing need be remembered once its objects have left memory.
 */
static void emptied(struct logfs_device *dev, struct logfs_left *left)
{
	s64 valid;

	if (left->is_bad &&
	    !logfs_segment_valid(dev, left->open.segno, &valid) && !valid) {
		left->is_empty = true;
		logfs_changed(dev, left->open.segno)->is_bad = true;
		logfs_flash_note_bad(dev);
		return;
	}
	list_del(&left->list);
	logfs_touch(dev, left->open.segno);
	logfs_area_free_left(left);
}

int logfs_evacuate(struct logfs_device *dev)
{
	struct logfs_left *left;
	int err;

	while ((left = next_left(dev))) {
		err = logfs_clean(dev, left->open.segno, left->level,
				  left->is_bad ? 0 : left->open.programmed,
				  left->open.used, false);
		if (err)
			return err;
		emptied(dev, left);
	}
	return 0;
}

void logfs_evacuated(struct logfs_device *dev)
{
	struct logfs_left *left, *next;

	list_for_each_entry_safe(left, next, &dev->left, list) {
		if (!left->is_empty)
			continue;
		logfs_flash_mark_bad(dev, left->open.segno);
		list_del(&left->list);
		logfs_area_free_left(left);
	}
}

/* A block with more aliases is itself not longer than these, in each commit until it is written. */
#define MUCH_CHANGED	(LOGFS_BLOCK_BYTES / (u32)sizeof(struct logfs_alias_media))

static int write_most_changed(struct logfs_device *dev)
{
	struct logfs_block *block = logfs_cache_most_changed(dev);
	struct logfs_block *loaded;
	int err;

	if (!block)
		return 0;
	loaded = logfs_tree_block(dev, block->ino, block->level, block->bix);
	if (loaded == ERR_PTR(-ENOENT)) {
		logfs_cache_forget(dev, block);
		return 0;
	}
	if (IS_ERR(loaded))
		return PTR_ERR(loaded);
	dev->stats.forced_blocks++;
	err = logfs_tree_write(dev, loaded);
	logfs_cache_shrink(dev);
	return err;
}

int logfs_relieve(struct logfs_device *dev, bool may_commit)
{
	int err = 0;

	while (!err && dev->n_aliases + dev->n_changed > dev->most_aliases) {
		if (dev->n_changed > dev->most_aliases / 2 && may_commit) {
			err = logfs_commit(dev);
			continue;
		}
		if (!dev->n_aliases)
			return 0;
		err = write_most_changed(dev);
	}
	return err;
}

/*
 * What keeps commits short, and the next mount, which reads the last one. Not when segments are
 * short: a commit may be what cleaning waits for.
 */
static bool is_much_changed(struct logfs_device *dev)
{
	return dev->n_aliases > MUCH_CHANGED &&
	       dev->free.n > logfs_total_levels(&dev->super) &&
	       logfs_cache_most_changed(dev)->n_changes > MUCH_CHANGED;
}

int logfs_commit(struct logfs_device *dev)
{
	int err = 0;

	logfs_assert_locked(dev);
	if (!dev->writable)
		return dev->failed ? -EROFS : 0;
	while (!err && dev->dirty && is_much_changed(dev))
		err = write_most_changed(dev);
	if (!err)
		err = logfs_evacuate(dev);
	if (err)
		return err;
	if (!dev->dirty)
		return 0;
	err = logfs_journal_commit(dev);
	if (!err)
		logfs_evacuated(dev);
	return err;
}

int logfs_commit_short(struct logfs_device *dev)
{
	int err = logfs_commit(dev);

	if (err || !is_much_changed(dev))
		return err;
	dev->dirty = true;
	return logfs_commit(dev);
}
