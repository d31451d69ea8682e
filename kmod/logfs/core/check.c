// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is true of whole structures after each operation, whatever is on flash: counts are those
 * of what they count, lists are sorted and apart, what is open is nowhere else. What is true at
 * one place alone is said there.
 *
 * Flash may be damaged, so nothing here compares it with memory: of the segment file only what
 * this mount has read and changed itself is looked at, and nothing is read for a check. A tree is
 * not walked, either: that an object is booked when it is written or given up shows in the sum,
 * which goes along with the bytes in use.
 *
 * After an error that leaves no way to write, what was under way is half done, and stays so.
 */

#include "area.h"
#include "cache.h"
#include "check.h"
#include "segments.h"

INVARIANT_SWITCH(logfs_checks);

/* ---- areas ---- */

static void check_open(const struct logfs_device *dev, const struct logfs_open *open)
{
	INVARIANT(open->segno < dev->super.n_segments && open->unit,
		  "area in segment %u", open->segno);
	INVARIANT(open->used >= sizeof(struct logfs_segment_header_media) &&
		  open->used <= dev->segment_bytes,
		  "segment %u: %u bytes are used", open->segno, open->used);
	INVARIANT(!(open->programmed & (dev->unit_bytes - 1)),
		  "segment %u: %u bytes are programmed", open->segno, open->programmed);
}

/* How many areas have the segment. */
static u32 areas_with(const struct logfs_device *dev, u32 segno)
{
	const struct logfs_left *left;
	u32 level, n = 0;

	for (level = 0; level < LOGFS_GC_LEVELS; level++)
		n += dev->open[level].segno == segno;
	list_for_each_entry(left, &dev->left, list)
		n += left->open.segno == segno;
	return n;
}

static void check_areas(const struct logfs_device *dev)
{
	const struct logfs_open *open;
	const struct logfs_left *left;
	u32 level;

	for (level = 0; level < LOGFS_GC_LEVELS; level++) {
		open = &dev->open[level];
		if (!open->segno)
			continue;
		check_open(dev, open);
		INVARIANT(open->used - open->programmed < dev->unit_bytes,
			  "segment %u: %u bytes are used, %u programmed",
			  open->segno, open->used, open->programmed);
		INVARIANT(areas_with(dev, open->segno) == 1,
			  "segment %u is open twice", open->segno);
	}
	list_for_each_entry(left, &dev->left, list) {
		check_open(dev, &left->open);
		INVARIANT(left->is_bad || left->open.used > left->open.programmed,
			  "segment %u was left, and all is programmed",
			  left->open.segno);
		INVARIANT(areas_with(dev, left->open.segno) == 1,
			  "segment %u was left, and is open", left->open.segno);
	}
}

/* ---- lists of candidates ---- */

/* As a commit has it, if that is in memory: nothing is read. */
static bool entry_in_memory(struct logfs_device *dev, u32 segno,
			    struct logfs_segment_entry *e)
{
	const struct logfs_block *block =
		logfs_cache_find(dev, LOGFS_INO_SEGMENTS, 0,
				 segno / LOGFS_BLOCK_POINTERS);

	return block && block->words &&
	       !logfs_segment_entry_decode(logfs_word(block, segno %
						      LOGFS_BLOCK_POINTERS), e);
}

/* @seen: a bit for each segment that is in one of the lists that are to be apart. */
static void check_list(const struct logfs_device *dev, const struct logfs_list *list,
		       bool by_valid, u8 *seen)
{
	const struct logfs_candidate *c, *before;
	u32 i;

	INVARIANT(list->n <= list->room, "%u candidates, room for %u",
		  list->n, list->room);
	for (i = 0; i < list->n; i++) {
		c = &list->at[i];
		INVARIANT(c->segno < dev->super.n_segments,
			  "candidate %u: no such segment", c->segno);
		INVARIANT(!areas_with(dev, c->segno),
			  "candidate %u is an open segment", c->segno);
		INVARIANT(!(seen[c->segno / 8] & 1 << c->segno % 8),
			  "candidate %u is listed twice", c->segno);
		seen[c->segno / 8] |= 1 << c->segno % 8;
		before = i ? c - 1 : c;
		INVARIANT(by_valid ? before->valid_bytes <= c->valid_bytes :
				     before->ec <= c->ec,
			  "candidates %u and %u are out of order",
			  before->segno, c->segno);
	}
}

static void check_free(struct logfs_device *dev)
{
	const struct logfs_changed *changed;
	struct logfs_segment_entry e;
	u32 i, segno;

	for (i = 0; i < dev->free.n; i++) {
		segno = dev->free.at[i].segno;
		changed = xa_load(&dev->changed, segno);
		INVARIANT(!logfs_has_super(&dev->super, segno),
			  "free segment %u has a superblock", segno);
		INVARIANT(!changed || (!changed->is_opened && !changed->is_bad &&
				       changed->valid_bytes <= 0),
			  "free segment %u: something was written to it", segno);
		INVARIANT(!entry_in_memory(dev, segno, &e) ||
			  (e.state == LOGFS_SEGMENT_NORMAL && !e.valid_bytes),
			  "free segment %u: state %u, %u bytes are valid",
			  segno, e.state, e.valid_bytes);
	}
}

/* What has become free may still be a candidate for cleaning: that ends when its turn comes. */
static void check_lists(struct logfs_device *dev)
{
	const u32 bytes = dev->super.n_segments / 8 + 1;
	u8 *seen = kzalloc(bytes, LOGFS_GFP);
	u32 i;

	check_list(dev, &dev->free, false, seen);
	memset(seen, 0, bytes);
	check_list(dev, &dev->worn, false, seen);
	for (i = 0; i < LOGFS_GC_LEVELS; i++)
		check_list(dev, &dev->by_distance[i], true, seen);
	kfree(seen);
	check_free(dev);
}

/* ---- what has become of segments ---- */

/* It was looked at since it changed last, so whether it will be free is known. */
static void check_soon_free(struct logfs_device *dev, const struct logfs_changed *changed)
{
	struct logfs_segment_entry e;

	if (!entry_in_memory(dev, changed->segno, &e))
		return;
	INVARIANT(changed->is_soon_free ==
		  (e.state == LOGFS_SEGMENT_NORMAL && !changed->is_bad &&
		   e.valid_bytes + changed->valid_bytes <= 0 &&
		   !logfs_has_super(&dev->super, changed->segno) &&
		   !areas_with(dev, changed->segno)),
		  "segment %u: %u and %lld bytes are valid, soon free: %u",
		  changed->segno, e.valid_bytes, (long long)changed->valid_bytes,
		  changed->is_soon_free);
}

static void check_changed(struct logfs_device *dev)
{
	const struct logfs_changed *changed;
	u32 n = 0, n_soon_free = 0, n_touched = 0;
	unsigned long segno;
	s64 bytes = 0;

	xa_for_each(&dev->changed, segno, changed) {
		INVARIANT(changed->segno == segno, "what became of %u is at %lu",
			  changed->segno, segno);
		n++;
		n_soon_free += changed->is_soon_free;
		bytes += changed->valid_bytes;
		if (list_empty(&changed->touched))
			check_soon_free(dev, changed);
		else
			n_touched++;
	}
	INVARIANT(dev->n_changed == n, "%u segments have changed, counted: %u",
		  n, dev->n_changed);
	INVARIANT(dev->n_soon_free == n_soon_free,
		  "%u segments are soon free, counted: %u",
		  n_soon_free, dev->n_soon_free);
	list_for_each_entry(changed, &dev->touched, touched)
		n_touched--;
	INVARIANT(!n_touched, "%d more segments are touched than listed", (int)n_touched);
	INVARIANT(dev->dirty || !n, "%u segments have changed, and nothing is to commit", n);
	/* What is written or given up is booked in its segment and in the sum. */
	INVARIANT(bytes == (s64)(dev->used_bytes - dev->used_bytes_committed),
		  "%lld bytes more are in use, in segments: %lld",
		  (long long)(dev->used_bytes - dev->used_bytes_committed),
		  (long long)bytes);
}

/* ---- blocks of words ---- */

static void check_changes(const struct logfs_block *block)
{
	const u32 words = logfs_cache_words(block->ino, block->level);
	const struct logfs_change *change;
	u32 i;

	INVARIANT(block->n_changes <= block->n_room, "%u aliases, room for %u",
		  block->n_changes, block->n_room);
	for (i = 0; i < block->n_changes; i++) {
		change = &block->changes[i];
		INVARIANT(change->child < words &&
			  (!i || change[-1].child < change->child),
			  "aliases of block %llu of level %u of inode %llu are out of order",
			  (unsigned long long)block->bix, block->level,
			  (unsigned long long)block->ino);
		INVARIANT(!block->words || block->words[change->child] == change->value,
			  "word %u of block %llu of level %u of inode %llu differs from its alias",
			  change->child, (unsigned long long)block->bix,
			  block->level, (unsigned long long)block->ino);
	}
}

static u32 bytes_of(const struct logfs_block *block)
{
	u32 bytes = sizeof(*block) + block->n_room * sizeof(*block->changes);

	if (block->words)
		bytes += logfs_cache_words(block->ino, block->level) *
			 sizeof(*block->words);
	return bytes;
}

static void check_blocks(struct logfs_device *dev)
{
	u32 n_words = 0, n_aliases = 0, bytes = 0, n_lru = 0;
	struct logfs_block *block;
	int bucket;

	hash_for_each(dev->blocks, bucket, block, hash) {
		INVARIANT(logfs_cache_find(dev, block->ino, block->level,
					   block->bix) == block,
			  "block %llu of level %u of inode %llu is there twice",
			  (unsigned long long)block->bix, block->level,
			  (unsigned long long)block->ino);
		INVARIANT(block->words || block->n_changes,
			  "block %llu of level %u of inode %llu has nothing",
			  (unsigned long long)block->bix, block->level,
			  (unsigned long long)block->ino);
		check_changes(block);
		n_words += !!block->words;
		n_aliases += block->n_changes;
		bytes += bytes_of(block);
	}
	list_for_each_entry(block, &dev->lru, lru) {
		INVARIANT(block->words, "a block without words is listed by use");
		n_lru++;
	}
	INVARIANT(dev->n_words == n_words && n_lru == n_words,
		  "%u blocks have words, listed: %u, counted: %u",
		  n_words, n_lru, dev->n_words);
	INVARIANT(dev->n_aliases == n_aliases, "%u aliases, counted: %u",
		  n_aliases, dev->n_aliases);
	INVARIANT(dev->tree_bytes == bytes, "blocks take %u bytes, counted: %u",
		  bytes, dev->tree_bytes);
}

/* ---- the rest ---- */

static void check_journal(const struct logfs_device *dev)
{
	const struct logfs_journal *j = &dev->journal;

	INVARIANT(j->slot < LOGFS_JOURNAL_SEGMENTS && dev->super.journal[j->slot],
		  "the journal has no segment %u", j->slot);
	INVARIANT(j->used <= dev->segment_bytes && !(j->used & (dev->unit_bytes - 1)),
		  "%u bytes of the journal's segment are used", j->used);
}

static void check_pages(const struct logfs_device *dev)
{
	u64 place;
	u32 i, j;

	for (i = 0; i < LOGFS_READ_PAGES; i++) {
		place = dev->pages[i].place;
		if (place == U64_MAX)
			continue;
		INVARIANT(!(place & (dev->page_bytes - 1)) && place < dev->mtd->size,
			  "a page of %llu is kept", (unsigned long long)place);
		for (j = 0; j < i; j++)
			INVARIANT(dev->pages[j].place != place,
				  "the page of %llu is kept twice",
				  (unsigned long long)place);
	}
}

void logfs_check_whole(struct logfs_device *dev)
{
	if (!logfs_checks || dev->failed)
		return;
	check_areas(dev);
	check_lists(dev);
	check_changed(dev);
	check_blocks(dev);
	check_journal(dev);
	check_pages(dev);
}
