/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The mounted partition: what all files of the core share.
 */
#ifndef LOGFS_DEVICE_H
#define LOGFS_DEVICE_H

#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/mtd/mtd.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "../../invariant.h"
#include "../format/codec.h"
#include "../policy/candidate.h"
#include "logfs.h"

#define LOGFS_READ_PAGES	4
/* What is read at once, at least: less is not worth a call. */
#define LOGFS_READ_BYTES	2048u
#define LOGFS_HASH_BITS		8

/* Aliases in the journal, and segments of which the valid bytes changed, together. */
#define LOGFS_MOST_ALIASES	2600
/* What one operation may add to that, if it gives up so many blocks. */
#define LOGFS_OPERATION_ALIASES(blocks)	(2 * (blocks) + 64)
/* Entries of a commit: aliases, areas, and three others. */
#define LOGFS_COMMIT_ENTRIES	128

/* Segments that are candidates, of each list: segments.c. */
#define LOGFS_FREE_LIST		(64 + 512)
#define LOGFS_OTHER_LIST	64

/* Small allocations that an operation cannot do without in its middle. */
#define LOGFS_GFP		(GFP_NOFS | __GFP_NOFAIL)

/* Words of an inode: media.h. */
enum {
	LOGFS_WORD_MODE,
	LOGFS_WORD_OWNER,
	LOGFS_WORD_CTIME,
	LOGFS_WORD_MTIME,
	LOGFS_WORD_ATIME,
	LOGFS_WORD_LINKS,
	LOGFS_WORD_USED,
	LOGFS_WORD_SIZE,
	LOGFS_WORD_ROOT = LOGFS_INODE_DATA + LOGFS_DIRECT_POINTERS,
};

/**
 * struct logfs_open - the segment that is being written on a GC level
 * @segno: 0: none is; segment 0 has a superblock, or is bad
 * @used: bytes from its start that are taken
 * @programmed: bytes that are on flash, whole write units
 * @unit: what is not, a write unit
 */
struct logfs_open {
	u32 segno;
	u32 used;
	u32 programmed;
	u8 *unit;
};

/**
 * struct logfs_left - a segment that must not be programmed any more, with objects in memory
 * @list: in logfs_device.left
 * @open: as it was
 * @level: GC level
 * @is_bad: programming failed: all that is valid has to leave it. Else only what is in @open.unit
 * @is_empty: it has left; the next commit makes that last
 */
struct logfs_left {
	struct list_head list;
	struct logfs_open open;
	u8 level;
	bool is_bad;
	bool is_empty;
};

/**
 * struct logfs_changed - what has become of a segment since the last commit
 * @touched: in logfs_device.touched
 * @segno: the segment
 * @valid_bytes: how many more are valid
 * @is_opened: it was erased, and has @ec and @level
 * @is_bad: it cannot be used any more
 * @is_soon_free: it is counted in logfs_device.n_soon_free
 */
struct logfs_changed {
	struct list_head touched;
	u32 segno;
	s64 valid_bytes;
	u32 ec;
	u8 level;
	bool is_opened;
	bool is_bad;
	bool is_soon_free;
};

/**
 * struct logfs_page - a page that was read
 * @place: on the device; U64_MAX: none
 * @stamp: when it was used last
 * @bytes: of logfs_device.page_bytes
 */
struct logfs_page {
	u64 place;
	u64 stamp;
	u8 *bytes;
};

/**
 * struct logfs_change - an alias: a word that differs from what the object on flash has
 * @child: which word of the block
 * @value: of it
 */
struct logfs_change {
	u16 child;
	__be64 value;
};

/**
 * struct logfs_block - words that others are pointed to by, or counted in: cache.c
 * @hash: in logfs_device.blocks
 * @lru: in logfs_device.lru, if @words is there
 * @ino: which block it is: the file,
 * @bix: the index of its leftmost block of level 0,
 * @level: and its level
 * @words: NULL if they were given up
 * @changes: sorted by child
 * @n_changes: of these, there is
 * @n_room: room for
 */
struct logfs_block {
	struct hlist_node hash;
	struct list_head lru;
	u64 ino;
	u64 bix;
	u8 level;
	__be64 *words;
	struct logfs_change *changes;
	u16 n_changes;
	u16 n_room;
};

/**
 * struct logfs_list - candidates, the best first
 * @n: how many there are
 * @room: how many there may be
 * @at: these
 */
struct logfs_list {
	u32 n;
	u32 room;
	struct logfs_candidate *at;
};

/**
 * struct logfs_journal - where the next commit goes
 * @slot: of the superblock's journal segments
 * @used: bytes of the segment, whole write units but within a commit
 * @unit: the unit that @used is in
 * @payload: room for one of an entry
 * @ec: erase counts
 * @failed: slots whose segments can no more be written
 * @places: of the entries of the commit under way
 * @n_places: of these
 */
struct logfs_journal {
	u32 slot;
	u32 used;
	u8 *unit;
	u8 *payload;
	u32 ec[LOGFS_JOURNAL_SEGMENTS];
	bool failed[LOGFS_JOURNAL_SEGMENTS];
	u64 places[LOGFS_COMMIT_ENTRIES];
	u32 n_places;
};

struct logfs_counters {
	u64 objects_written[LOGFS_GC_LEVELS];
	u64 object_bytes;
	u64 commits;
	u64 journal_bytes;
	u64 journal_segments;
	u64 journal_moved;
	u64 gc_segments;
	u64 gc_objects;
	u64 gc_bytes;
	u64 wear_segments;
	u64 scrubbed_segments;
	u64 forced_blocks;
	u64 erasures;
	u64 retired_segments;
	u64 bits_corrected;
	u64 uncorrectable;
};

/**
 * struct logfs_device - a mounted partition
 * @mtd: the partition
 * @lock: protects all of it
 * @nofs_flags: how who holds it allocated before
 * @writable: false if mounted read-only, or after an error that leaves no other way
 * @failed: there was such an error
 * @dirty: there is something to commit
 * @settled: there was an operation since the mount
 * @super: the superblock
 * @one_super: of its two copies one cannot be written
 * @segment_bytes: of a segment
 * @unit_bytes: of a write unit
 * @page_bytes: of what is read at once, of which a unit has one or more
 * @open: areas, by GC level
 * @left: struct logfs_left
 * @pages: read last
 * @stamp: counts uses of pages
 * @blocks: hash table of struct logfs_block
 * @lru: those with words, the last used first
 * @n_words: blocks with words
 * @n_words_most: the most there were
 * @tree_bytes: of memory that @blocks take, with words and changes
 * @tree_bytes_most: the most there were
 * @n_aliases: changes of all blocks
 * @n_aliases_most: the most there were
 * @most_aliases: with more, and changed segments, blocks are written
 * @most_dropped: blocks that one operation gives up at most, a power of two
 * @master: the inode of the inode file, which is not in @blocks
 * @last_ino: given last
 * @generation: of the numbers that are given
 * @nodes: hash table of inodes in use
 * @used_bytes: of all valid objects
 * @reserved_bytes: promised to dirty pages
 * @n_bad: segments, if @bad_counted: see logfs_flash_count_bad()
 * @n_spare: 1 if the last good segment is behind the last superblock, and so a reserved one
 * @changed: struct logfs_changed by segment, since the last commit
 * @n_changed: of these
 * @touched: of these, what may be free by now, or no more
 * @n_soon_free: of the others, those that the next commit makes free
 * @gec: global erase count
 * @sweeper: the segment where the next scan begins
 * @free: candidates: to be erased and opened, least worn first
 * @worn: with hardly any garbage, least worn first
 * @by_distance: with garbage, by levels to the root, most garbage first
 * @stuck: segments that cannot be cleaned, since some object in them is damaged
 * @scrub: segments with bit errors
 * @wear_gec: global erase count when wear was levelled last
 * @rename_dir: what another writer left undone: recover.c
 * @rename_bix: of this
 * @victim_ino: inode that has lost its name and is not yet deleted; 0: none
 * @object: room for a payload
 * @packed: room for what is compressed
 * @deflate: workspace of zlib, NULL before it is used
 * @inflate: likewise
 * @stats: counters
 * @used_bytes_committed: @used_bytes when @changed was empty last; for assertions, as the next
 * @is_private: being mounted or unmounted, so that nobody else knows of it
 */
struct logfs_device {
	struct mtd_info *mtd;
	struct mutex lock; /* all of this */
	unsigned int nofs_flags;
	bool writable;
	bool failed;
	bool dirty;
	bool settled;
	struct logfs_super super;
	bool one_super;
	u32 segment_bytes;
	u32 unit_bytes;
	u32 page_bytes;

	struct logfs_open open[LOGFS_GC_LEVELS];
	struct list_head left;
	struct logfs_page pages[LOGFS_READ_PAGES];
	u64 stamp;
	const struct logfs_keeper *keeper;
	void *keeper_arg;

	DECLARE_HASHTABLE(blocks, LOGFS_HASH_BITS);
	struct list_head lru;
	u32 n_words;
	u32 n_words_most;
	u32 tree_bytes;
	u32 tree_bytes_most;
	u32 n_aliases;
	u32 n_aliases_most;
	u32 most_aliases;
	u32 most_dropped;
	struct logfs_block master;
	u64 last_ino;
	u32 generation;
	DECLARE_HASHTABLE(nodes, LOGFS_HASH_BITS);

	u64 used_bytes;
	u64 reserved_bytes;
	u32 n_bad;
	u32 n_spare;
	bool bad_counted;
	struct xarray changed;
	u32 n_changed;
	struct list_head touched;
	u32 n_soon_free;

	u64 gec;
	u32 sweeper;
	struct logfs_list free;
	struct logfs_list worn;
	struct logfs_list by_distance[LOGFS_GC_LEVELS];
	struct xarray stuck;
	struct xarray scrub;
	u64 wear_gec;

	struct logfs_journal journal;
	u64 rename_dir;
	u64 rename_bix;
	u64 victim_ino;

	u8 *object;
	u8 *packed;
	void *deflate;
	void *inflate;
	struct logfs_counters stats;

	u64 used_bytes_committed;
	bool is_private;
};

/* At the entries of the core. */
static inline void logfs_assert_locked(const struct logfs_device *dev)
{
	if (INVARIANTS && !dev->is_private)
		lockdep_assert_held(&dev->lock);
}

static inline u32 logfs_segno(const struct logfs_device *dev, u64 place)
{
	return place >> dev->super.segment_shift;
}

static inline u64 logfs_segment_place(const struct logfs_device *dev, u32 segno)
{
	return (u64)segno << dev->super.segment_shift;
}

#endif
