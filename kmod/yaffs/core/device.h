/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A mounted partition in memory: what all files of the core share. It is the lowest of
 * their headers, so it knows of objects only that they exist.
 *
 * One mutex, yaffs_device.lock, protects everything in struct yaffs_device and all
 * objects. Flash does one thing at a time anyway. Order: inode and page locks are
 * taken before it. The VFS layer takes it by yaffs_lock() around each call into the
 * layers below; these never take it. While it is held, allocations do not enter the
 * file system (reclaim would evict inodes, which takes the lock).
 *
 * Errors are negative errno: -ENOSPC, -ENOMEM, -EIO (driver), -EBADMSG (a page that
 * ECC cannot correct), -EUCLEAN (contents that break the format), -EROFS.
 */
#ifndef YAFFS_DEVICE_H
#define YAFFS_DEVICE_H

#include <linux/list.h>
#include <linux/mtd/mtd.h>
#include <linux/mutex.h>
#include <linux/sched/mm.h>
#include <linux/wait.h>
#include <linux/xarray.h>

#include "../../invariant.h"
#include "../format/codec.h"
#include "../policy/forecast.h"
#include "../policy/policy.h"

#define YAFFS_RESERVED_BLOCKS	5
#define YAFFS_MIN_BLOCKS	10
#define YAFFS_CACHE_SLOTS	10
/* The VFS refuses to begin a write when no more pages than these are free. */
#define YAFFS_LOW_CHUNKS	20

struct yaffs_options {
	const struct yaffs_policy_ops *policy;
	bool inband_tags;
	bool tags_ecc;
	bool lazy_loading;
	bool summary;
	bool empty_lost_found;
	bool cache;
	bool checkpoint_read;
	bool checkpoint_write;
	bool predict;
	bool segregated;
	bool wear;
	u32 wear_spread;
	u32 gc_bound_us;
};

struct yaffs_device;
struct yaffs_forecast;		/* forecast.h */
struct yaffs_object;		/* objects.h */
struct yaffs_request;		/* request.h */
struct yaffs_slot;

/**
 * struct yaffs_events - what the core tells those above it; the lock is held
 * @changed: flash is about to differ from what the checkpoint on it says. Comes before
 *	every program and erase that matters, so it has to be quick when it is not the first
 * @wants_collection: there is work for the background: something changed, or a page had
 *	bit errors
 */
struct yaffs_events {
	void (*changed)(struct yaffs_device *dev);
	void (*wants_collection)(struct yaffs_device *dev);
};

/* ---- the device ---- */

struct yaffs_statistics {
	u64 data_writes;	/* chunks of files, by the user */
	u64 header_writes;
	u64 index_writes;
	u64 summary_writes;
	u64 checkpoint_writes;
	u64 gc_copies;
	u64 gc_metadata_copies;	/* of these; headers, and index pages */
	u64 gc_passive;		/* blocks selected */
	u64 gc_aggressive;
	u64 gc_background;
	u64 erasures;
	u64 retired_blocks;
	u64 write_failures;
	u64 pages_verified;	/* erased check, or read back */
	u64 cache_hits;
	u64 cache_misses;
	u64 tags_corrected;
	u64 tags_uncorrectable;
	u64 data_corrected;
	u64 data_uncorrectable;
	u64 data_torn;		/* pages passed over by a scan */
	u64 pages_stray;	/* read, and not what memory has there */
	u64 pages_lost;		/* given up by the collector */
	u64 checkpoints_written;
	u64 checkpoints_invalidated;
};

enum yaffs_mounted_by { YAFFS_BY_NOTHING, YAFFS_BY_SCAN, YAFFS_BY_CHECKPOINT };

/* Streams of the segregated layout. The other one has the first for all. */
#define YAFFS_STREAM_DATA	0
#define YAFFS_STREAM_METADATA	1

/**
 * struct yaffs_stream - a block that is being written
 * @block: 0 if there is none
 * @page: next page of it
 * @summary: of @block, as far as it is written; NULL without summaries
 */
struct yaffs_stream {
	u32 block;
	u32 page;
	struct yaffs_summary_entry_media *summary;
};

/* Blocks erased since the last summary that are remembered. */
#define YAFFS_RECENT_ERASES	32

/**
 * struct yaffs_worn - how counts of erases get to flash: core/wear.c
 * @recent: [n_recent]: blocks that were erased since
 * @at: the block whose count was told last, of all in turn
 * @links: [n_blocks + 1]: the policy's
 */
struct yaffs_worn {
	u32 recent[YAFFS_RECENT_ERASES];
	u32 n_recent;
	u32 at;
	u32 *links;
};

/**
 * struct yaffs_ids - which metadata blocks say what objects there are: ids.c
 * @per_part: ids that a summary has place for; 0: none
 * @end: no page with metadata has an id as high as that
 * @block: of each part the block that has the newest; 0: there is none
 * @bits: [YAFFS_IDS_PARTS][per_part / 8]: the ids that there are; parts that no id asked for
 *	are NULL
 * @settled_seq: metadata blocks with lower sequence numbers may be erased in any order
 */
struct yaffs_ids {
	u32 per_part;
	u32 end;
	u32 block[YAFFS_IDS_PARTS];
	u8 *bits[YAFFS_IDS_PARTS];
	u32 settled_seq;
};

/**
 * struct yaffs_collector - where the collector is; it may stop at any page
 * @block: block being collected, 0 if none
 * @page: next page of it
 * @marks: it may hold marks that must be elsewhere first: marks.c
 * @passed: segregated layout, then: which object each page before @page is of, 0: none
 * @disabled: depth of sections in which it must not run
 * @began_ns: when the run began that was planned last
 * @took_ns: all that it ever took, while there was a bound; read without the lock
 */
struct yaffs_collector {
	u32 block;
	u32 page;
	bool marks;
	u32 *passed;
	u32 disabled;
	u64 began_ns;
	u64 took_ns;
};

/**
 * struct yaffs_bound - the option gc_bound_us, and how well it is kept
 * @ns: what a call may take when the collector works in it; 0: no bound. Read without the
 *	lock
 * @calls: that ended while there was a bound
 * @missed: calls in which the collector took more than the bound left it
 * @forced: runs of the collector that could not wait, however long they took
 * @longest_ns: the longest that a call waited for the collector
 * @behind: the horizon is, and gets half of the collector's time
 */
struct yaffs_bound {
	u64 ns;
	u64 calls;
	u64 missed;
	u64 forced;
	u64 longest_ns;
	bool behind;
};

/**
 * struct yaffs_first - of the tags of a block's first page
 * @seq: the sequence number; YAFFS_SEQ_ERASED: nothing written; 0: not read, or not readable
 * @segregated: they are of the segregated layout
 * @metadata: of a metadata block
 */
struct yaffs_first {
	u32 seq;
	bool segregated;
	bool metadata;
};

/**
 * struct yaffs_checked - what check.c compares with; only where there are assertions
 * @begun: the mount is complete: what must hold does, whenever the lock is free
 * @seq: the sequence number at the last look
 * @ownerless: live pages that nothing points to, at the last look
 */
struct yaffs_checked {
	bool begun;
	u32 seq;
	u32 ownerless;
};

/**
 * struct yaffs_device - one mounted partition
 * @lock: protects everything here and all objects
 * @nofs: scope of the lock's holder, see yaffs_lock()
 * @chunk_bytes: data of a page
 * @tags_at: where the tags begin in the OOB; 0: they are in pieces, or in-band
 * @summary_pages: of a summary, where there is one
 * @n_blocks: the last internal block number; the first is 1
 * @blocks: [n_blocks + 1], by internal number
 * @live: bitmap of chunks with live contents, by internal chunk number
 * @erases: [n_blocks + 1]: how often each block was erased; NULL without wear=
 * @all_erases: the sum of them
 * @worn: with wear=: which of them are to be told next
 * @policy: decides; chosen by @options
 * @space: what of the flash is free, and what is erased
 * @first: while mounting: what the tags of each block's first page say, as far as read
 * @streams: blocks being written; as many as the policy has
 * @seq: of the block allocated last
 * @gc: the collector
 * @prices: with gc=predict or gc_bound_us: what operations of this chip take
 * @forecast: of the collector's runs; NULL without the option
 * @bound: the option gc_bound_us
 * @requests: calls that users wait for, while there is a bound
 * @request: that of the lock's holder; NULL: none, or no bound
 * @ckpt_blocks: blocks that hold a checkpoint, valid or stale
 * @ckpt_valid: the checkpoint on flash describes this state
 * @tags_without_ecc: pages seen whose tags are valid but have none, though they should
 * @found_erased: the mount found nothing on flash: an empty file system
 * @has_lost_pages: some page of data has YAFFS_LOST_BYTES; the plain layout writes no
 *	checkpoint then
 * @found_torn: it found one page that power cut short, and nothing else
 * @recover_links: hard links were found that have no target
 * @recover_tails: files were found that were being made shorter
 * @recovery_pending: mounted read-only: what a scan leaves to do was not done
 * @waiting_pieces: parts of files' indices that must be written, those with the oldest data
 *	pages first; this and the next five are of the segregated layout
 * @n_pieces: of files' indices, but for the first of each file
 * @n_unwritten: of those, without an index page yet: each will take one
 * @unseen_pages: data pages written since the horizon was looked at
 * @seen_horizon: the highest horizon that was read from flash
 * @seen_position: the highest position; see scan_map.c
 * @ids: segregated layout: what summaries say of objects
 * @objects: by id
 * @dirty_directories: whose header waits for the background thread
 * @n_leaves: leaves of all indices
 * @n_files: files among the objects
 * @checked: for assertions
 */
struct yaffs_device {
	struct mutex lock;	/* protects all of this, and all objects */
	unsigned int nofs;
	struct mtd_info *mtd;
	struct yaffs_options options;
	const struct yaffs_events *events;
	bool read_only;

	u32 page_bytes;
	u32 chunk_bytes;
	u32 tags_at;
	u32 pages_per_block;
	u32 summary_pages;
	u32 n_blocks;
	u64 max_file_bytes;

	struct yaffs_block *blocks;
	struct yaffs_first *first;
	unsigned long *live;
	u32 *erases;
	u64 all_erases;
	struct yaffs_worn worn;
	struct yaffs_policy *policy;
	struct yaffs_space space;
	struct yaffs_stream streams[YAFFS_STREAMS];
	u32 seq;
	struct yaffs_collector gc;
	struct yaffs_prices prices;
	struct yaffs_forecast *forecast;
	struct yaffs_bound bound;
	struct list_head requests;
	struct yaffs_request *request;

	u32 ckpt_blocks;
	bool ckpt_valid;
	enum yaffs_mounted_by mounted_by;
	u32 tags_without_ecc;
	bool found_erased;
	bool found_torn;
	bool has_lost_pages;
	bool recover_links;
	bool recover_tails;
	bool recovery_pending;

	struct list_head waiting_pieces;
	u32 n_pieces;
	u32 n_unwritten;
	u32 unseen_pages;
	u64 seen_horizon;
	u64 seen_position;
	struct yaffs_ids ids;

	struct xarray objects;
	u32 next_id;
	u32 n_objects;
	u32 n_files;
	u32 n_leaves;
	struct yaffs_object *root;
	struct yaffs_object *lost_found;
	struct yaffs_object *unlinked;
	struct yaffs_object *deleted;
	struct list_head dirty_directories;

	struct yaffs_slot *slots;
	u32 n_slots;
	u32 n_dirty_slots;
	u64 slot_clock;

	/* Pages for work in progress; who uses each, or what for. */
	u8 *check_page;		/* erased check, read back, summaries */
	u8 *hdr_page;		/* header_io.c, scan.c: header being written or read */
	u8 *gc_page_data;	/* gc.c: page being moved */
	u8 *data_page;		/* data.c, cache.c: partial chunk */
	u8 *xattr_page;		/* vfs/xattr.c */
	u8 *map_page;		/* map_io.c, scan_map.c: index page */

	struct task_struct *background;
	wait_queue_head_t background_wait;
	struct yaffs_statistics stats;
#if INVARIANTS
	struct yaffs_checked checked;
#endif
};

/* For functions that work on what the lock protects. No function: it is to be no code at all. */
#define yaffs_assert_locked(dev)	lockdep_assert_held(&(dev)->lock)

/*
 * Whole structures against each other, as they must be while nobody has the lock: check.c.
 * A mount begins it when it is complete; then it comes with each yaffs_unlock().
 */
#if INVARIANTS
void yaffs_check_begin(struct yaffs_device *dev);
void yaffs_check(struct yaffs_device *dev);
#else
static inline void yaffs_check_begin(struct yaffs_device *dev) {}
static inline void yaffs_check(struct yaffs_device *dev) {}
#endif

/* mutex_lock(), and whose call it is: request.c. */
void yaffs_lock_bounded(struct yaffs_device *dev);

static inline void yaffs_lock(struct yaffs_device *dev)
{
	unsigned int nofs = memalloc_nofs_save();

	if (READ_ONCE(dev->bound.ns))
		yaffs_lock_bounded(dev);
	else
		mutex_lock(&dev->lock);
	dev->nofs = nofs;
}

static inline void yaffs_unlock(struct yaffs_device *dev)
{
	unsigned int nofs = dev->nofs;

	yaffs_check(dev);
	dev->request = NULL;
	mutex_unlock(&dev->lock);
	memalloc_nofs_restore(nofs);
}

/* Headers and data in blocks apart: docs/yaffs2-segregated.md. */
static inline bool yaffs_is_segregated(const struct yaffs_device *dev)
{
	return dev->options.segregated;
}

/* Erased blocks that only some writers may use: the collector has to begin one of each stream. */
static inline u32 yaffs_reserved_blocks(const struct yaffs_device *dev)
{
	return YAFFS_RESERVED_BLOCKS + dev->options.policy->n_streams - 1;
}

/* Pages of a summary. Those of metadata say which objects there are (ids.c): they have to be. */
static inline u32 yaffs_summary_pages_of(const struct yaffs_device *dev,
					 bool metadata)
{
	return dev->options.summary || metadata ? dev->summary_pages : 0;
}

static inline u32 yaffs_block_of(const struct yaffs_device *dev, u32 chunk)
{
	return chunk / dev->pages_per_block;
}

/* The block is to be collected soon: its pages had bit errors, or writing to it failed. */
static inline void yaffs_block_prioritise(struct yaffs_device *dev, u32 block)
{
	dev->blocks[block].prioritised = true;
	dev->policy->ops->prioritised(dev->policy, block);
}

/* Segregated layout: the position that the next data page will have. */
static inline u64 yaffs_data_position(const struct yaffs_device *dev)
{
	const struct yaffs_stream *stream = &dev->streams[YAFFS_STREAM_DATA];

	return stream->block ?
		yaffs_position(dev->blocks[stream->block].seq, stream->page) :
		yaffs_position(dev->seq + 1, 0);
}

static inline bool yaffs_chunk_valid(const struct yaffs_device *dev, u32 chunk)
{
	return chunk >= dev->pages_per_block &&
	       chunk < (dev->n_blocks + 1) * dev->pages_per_block;
}

#endif
