/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Structures and interfaces of the YAFFS2 file system, in the order of the layers:
 *
 *	super inode namei file xattr		what the VFS calls
 *	operations data				names; contents of files
 *	directory objects header cache index	objects in memory and their pages
 *	scan checkpoint recover			from flash to memory, at mount
 *	gc policy				which blocks are collected
 *	alloc summary_io			which page is written
 *	nand					one page, one block
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
#ifndef YAFFS_H
#define YAFFS_H

#include <linux/list.h>
#include <linux/mtd/mtd.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <linux/xarray.h>

#include "../format/codec.h"
#include "index.h"
#include "../policy/policy.h"

#define YAFFS_RESERVED_BLOCKS	5
#define YAFFS_MIN_BLOCKS	10
#define YAFFS_CACHE_SLOTS	10
/* The VFS refuses to begin a write when no more pages than these are free. */
#define YAFFS_LOW_CHUNKS	20

/* ---- mount options ---- */

struct yaffs_options {
	bool inband_tags;
	bool tags_ecc;
	bool lazy_loading;
	bool summary;
	bool empty_lost_found;
	bool cache;
	bool checkpoint_read;
	bool checkpoint_write;
};

/* ---- objects ---- */

struct yaffs_device;

struct yaffs_file {
	struct yaffs_index index;
	u64 size;		/* as the user sees it */
	u64 stored_size;	/* without what is only in the cache */
	u64 shrink_limit;	/* scan: older data from here on are dead */
	u32 data_chunks;
};

struct yaffs_directory {
	struct rb_root children;	/* by name_hash, id; those with a name */
	struct list_head unnamed;	/* children whose header was not read yet */
	struct list_head dirty;		/* in yaffs_device.dirty_directories */
	u32 n_directories;
};

/**
 * struct yaffs_object - a file, directory, link or special file
 * @dev: its device
 * @parent: directory it is in; NULL for the four that have none
 * @by_name: in @parent's children, if @named
 * @unnamed: in @parent's unnamed, if not @named
 * @links: hard links to this object; for a hard link: in its target's list
 * @name: allocated, NUL-terminated; NULL until loaded
 * @name_hash: of @name
 * @id: object id, the inode number
 * @parent_id: of @parent; mount knows the number before it knows the object
 * @n_links: hard links to this object
 * @hdr_chunk: newest header, 0 if there is none on flash
 * @type: enum yaffs_object_type
 * @loaded: name and attributes below are known
 * @named: is in @parent's children
 * @dirty: attributes differ from the header on flash
 * @has_xattr: header carries extended attributes; valid if @loaded
 * @unlinked: under YAFFS_ID_UNLINKED: has no name, but an inode uses it
 * @deleted: gone from flash; memory is kept for the inode
 * @fake: one of the four that exist without a header
 * @damaged: header cannot be read, or contradicts the tags
 * @unreadable: @damaged because ECC could not correct its header
 * @tail: a power cut left old data behind the end in the last chunk
 * @seen: mount: a path to a root is known
 * @walked: mount: on the path that is being followed
 * @in_use: the VFS has an inode of it; written without the lock, hence no bit
 */
struct yaffs_object {
	struct yaffs_device *dev;
	struct yaffs_object *parent;
	union {
		struct rb_node by_name;
		struct list_head unnamed;
	};
	struct list_head links;
	char *name;
	u32 name_hash;
	u32 id;
	u32 parent_id;
	u32 n_links;
	u32 hdr_chunk;
	u8 type;
	bool loaded : 1;
	bool named : 1;
	bool dirty : 1;
	bool has_xattr : 1;
	bool unlinked : 1;
	bool deleted : 1;
	bool fake : 1;
	bool damaged : 1;
	bool unreadable : 1;
	bool tail : 1;
	bool seen : 1;
	bool walked : 1;
	bool in_use;

	u32 mode;
	u32 uid;
	u32 gid;
	u32 rdev;		/* old 16-bit encoding, as on flash */
	u64 atime_s;
	u64 mtime_s;
	u64 ctime_s;
	union {
		struct yaffs_file file;
		struct yaffs_directory dir;
		char *symlink;			/* allocated; NULL until loaded */
		struct {
			u32 target_id;
			struct yaffs_object *target;	/* NULL: dangling */
		} hardlink;
	};
};

/* ---- the device ---- */

struct yaffs_slot;		/* cache.c */

struct yaffs_statistics {
	u64 data_writes;	/* chunks of files, by the user */
	u64 header_writes;
	u64 summary_writes;
	u64 checkpoint_writes;
	u64 gc_copies;
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
	u64 pages_lost;		/* given up by the collector */
	u64 checkpoints_written;
	u64 checkpoints_invalidated;
};

enum yaffs_mounted_by { YAFFS_BY_NOTHING, YAFFS_BY_SCAN, YAFFS_BY_CHECKPOINT };

/**
 * struct yaffs_device - one mounted partition
 * @lock: protects everything here and all objects
 * @nofs: scope of the lock's holder, see yaffs_lock()
 * @chunk_bytes: data of a page
 * @n_blocks: the last internal block number; the first is 1
 * @blocks: [n_blocks + 1], by internal number
 * @live: bitmap of chunks with live contents, by internal chunk number
 * @free_chunks: pages that are not live, in usable blocks
 * @first_seq: while mounting: sequence number in the first page of each block, as far
 *	as read; 0 if not
 * @alloc_block: block being written, 0 if none
 * @alloc_page: next page of it
 * @seq: of the block allocated last
 * @gc_block: block being collected, 0 if none
 * @gc_page: next page of it
 * @gc_disabled: depth of sections in which GC must not run
 * @ckpt_blocks: blocks that hold a checkpoint, valid or stale
 * @ckpt_valid: the checkpoint on flash describes this state
 * @tags_without_ecc: pages seen whose tags are valid but have none, though they should
 * @found_erased: the mount found nothing on flash: an empty file system
 * @has_lost_pages: some page of data has YAFFS_LOST_BYTES; no checkpoint is written
 * @found_torn: it found one page that power cut short, and nothing else
 * @recover_links: hard links were found that have no target
 * @recover_tails: files were found that were being made shorter
 * @recovery_pending: mounted read-only: what a scan leaves to do was not done
 * @objects: by id
 * @dirty_directories: whose header waits for the background thread
 * @n_leaves: leaves of all indices
 * @n_files: files among the objects
 */
struct yaffs_device {
	struct mutex lock;	/* protects all of this, and all objects */
	unsigned int nofs;
	struct mtd_info *mtd;
	struct yaffs_options options;
	bool read_only;

	u32 page_bytes;
	u32 chunk_bytes;
	u32 pages_per_block;
	u32 summary_pages;
	u32 n_blocks;
	u64 max_file_bytes;

	struct yaffs_block *blocks;
	u32 *first_seq;
	unsigned long *live;
	struct yaffs_policy policy;
	u32 free_chunks;
	u32 erased_blocks;
	u32 alloc_block;
	u32 alloc_page;
	u32 seq;
	struct yaffs_summary_entry_media *summary;	/* of alloc_block */
	bool summary_valid;

	u32 gc_block;
	u32 gc_page;
	u32 gc_disabled;

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

	/* Pages for work in progress; the user of each is the function named. */
	u8 *check_page;		/* alloc.c: erased check, read back */
	u8 *hdr_page;		/* header.c: header being written or read */
	u8 *gc_page_data;	/* gc.c: page being moved */
	u8 *data_page;		/* data.c, cache.c: partial chunk */
	u8 *xattr_page;		/* xattr.c */

	struct task_struct *background;
	wait_queue_head_t background_wait;
	struct yaffs_statistics stats;
};

/* Module parameters, super.c. */
extern unsigned int yaffs_auto_checkpoint;
extern unsigned int yaffs_gc_control;
extern bool yaffs_bg_enable;
extern unsigned int yaffs_wr_attempts;

static inline void yaffs_lock(struct yaffs_device *dev)
{
	unsigned int nofs = memalloc_nofs_save();

	mutex_lock(&dev->lock);
	dev->nofs = nofs;
}

static inline void yaffs_unlock(struct yaffs_device *dev)
{
	unsigned int nofs = dev->nofs;

	mutex_unlock(&dev->lock);
	memalloc_nofs_restore(nofs);
}

static inline u32 yaffs_block_of(const struct yaffs_device *dev, u32 chunk)
{
	return chunk / dev->pages_per_block;
}

static inline bool yaffs_chunk_valid(const struct yaffs_device *dev, u32 chunk)
{
	return chunk >= dev->pages_per_block &&
	       chunk < (dev->n_blocks + 1) * dev->pages_per_block;
}

/* ---- nand.c: one page, one block ---- */

/*
 * Reads a page: data (chunk_bytes) and tags, each may be NULL; with both, @data has
 * page_bytes of room. A corrected bit error marks the block. Returns -EBADMSG if data
 * or tags cannot be corrected, -EUCLEAN if tags are not possible ones. With in-band tags and -EBADMSG, @tags->used says that
 * the tags are possible ones: bits of the page are wrong, hardly those.
 */
int yaffs_nand_read(struct yaffs_device *dev, u32 chunk, u8 *data,
		    struct yaffs_tags *tags);
/* @page: the chunk, with page_bytes of room; in-band tags go behind the chunk. */
int yaffs_nand_write(struct yaffs_device *dev, u32 chunk, u8 *page,
		     const struct yaffs_tags_media *tags);
int yaffs_nand_erase(struct yaffs_device *dev, u32 block);
bool yaffs_nand_is_bad(struct yaffs_device *dev, u32 block);
int yaffs_nand_mark_bad(struct yaffs_device *dev, u32 block);
/* 1: data and tags are all 0xff, 0: not, or an error. Uses @page as a buffer. */
int yaffs_nand_is_erased(struct yaffs_device *dev, u32 chunk, u8 *page);
/* True if one of some blocks in @state holds what the other tag mode writes. */
bool yaffs_nand_wrong_mode(struct yaffs_device *dev, u8 state);
/* True if a page has tags where the other tag mode puts them. */
bool yaffs_nand_has_other_tags(struct yaffs_device *dev, u32 chunk);
/* Tag mode for a chip; fills in the geometry. */
int yaffs_nand_setup(struct yaffs_device *dev);

/* ---- alloc.c ---- */

/* Pages that may be written; @reserve: by a writer entitled to the reserve. */
bool yaffs_space_for(struct yaffs_device *dev, u32 chunks, bool reserve);
/* Free pages as statfs reports them. */
u32 yaffs_free_chunks(struct yaffs_device *dev);
/* As yaffs_nand_write(), where it is its turn; @tags' sequence number is filled in. */
int yaffs_chunk_write(struct yaffs_device *dev, u8 *page, struct yaffs_tags *tags,
		      bool reserve, u32 *chunk);
/* Marks a page as live, or as dead; the last dead page frees the block. */
void yaffs_chunk_live(struct yaffs_device *dev, u32 chunk);
void yaffs_chunk_dead(struct yaffs_device *dev, u32 chunk);
bool yaffs_chunk_is_live(const struct yaffs_device *dev, u32 chunk);
/* Erases a block without live pages, or retires it. */
void yaffs_block_recycle(struct yaffs_device *dev, u32 block);
/*
 * True if nothing was written to an empty block since its last erase, as far as tags
 * and the first page tell; those of all its pages if it is suspect.
 */
bool yaffs_block_is_blank(struct yaffs_device *dev, u32 block);
/*
 * On a partition that was mounted as an erased one: true if the other tag mode wrote
 * the block. From then on it is left alone.
 */
bool yaffs_block_is_foreign(struct yaffs_device *dev, u32 block);
/* No page is written to the block being allocated any more. */
void yaffs_alloc_abandon(struct yaffs_device *dev);

/* ---- summary_io.c ---- */

void yaffs_summary_begin(struct yaffs_device *dev);
/* Notes a page's tags; writes the summary when the block has no other page left. */
void yaffs_summary_add(struct yaffs_device *dev, u32 page,
		       const struct yaffs_tags_media *tags);
/* True if @page of a block is for its summary. */
bool yaffs_summary_page(const struct yaffs_device *dev, u32 page);
/* Reads a block's summary into @to; -ENODATA if there is no valid one. */
int yaffs_summary_read(struct yaffs_device *dev, u32 block, u32 seq,
		       struct yaffs_summary_entry_media *to, u8 *page);

/* ---- gc.c ---- */

/* Before each write: collects if space is short. */
void yaffs_gc_before_write(struct yaffs_device *dev);
void yaffs_gc_in_background(struct yaffs_device *dev);
/* 0, 1 or 2: how soon the background should collect. */
unsigned int yaffs_gc_urgency(const struct yaffs_device *dev);

/* ---- objects.c ---- */

int yaffs_objects_init(void);		/* module: slab cache */
void yaffs_objects_exit(void);
struct yaffs_object *yaffs_object_find(struct yaffs_device *dev, u32 id);
/* A new object in memory; @id 0: any free one. ERR_PTR: -ENOMEM, -ENOSPC, -EEXIST. */
struct yaffs_object *yaffs_object_new(struct yaffs_device *dev, u32 id, u8 type);
void yaffs_object_free(struct yaffs_object *obj);
/*
 * All n_objects in the order of the checkpoint's hash buckets: by the low byte of the
 * id. NULL: no memory. To be given to kvfree().
 */
struct yaffs_object **yaffs_objects_by_bucket(struct yaffs_device *dev);
/* All of them at once, when none is used any more. */
void yaffs_objects_free(struct yaffs_device *dev);
/* Gives an object of type unknown its type, for scan and checkpoint. */
void yaffs_object_set_type(struct yaffs_object *obj, u8 type);
/* What a hard link stands for; NULL if it dangles. Else the object itself. */
struct yaffs_object *yaffs_object_target(struct yaffs_object *obj);
/* Link count as stat(2) shows it. */
u32 yaffs_object_nlink(const struct yaffs_object *obj);
void yaffs_object_set_link(struct yaffs_object *link, struct yaffs_object *target);
/* The VFS's inode comes and goes. The last may delete the object from flash. */
void yaffs_object_hold(struct yaffs_object *obj);
void yaffs_object_release(struct yaffs_object *obj);
bool yaffs_object_stays(const struct yaffs_object *obj);
/* Writes cached data, and unless @data_only the header if it is dirty. */
int yaffs_object_sync(struct yaffs_object *obj, bool data_only);
u64 yaffs_now_s(void);

/* ---- header.c is the codec; header_io.c ---- */

/**
 * struct yaffs_header_change - what is special about a header to be written
 * @parent_id: YAFFS_ID_DELETED: the object's last header; 0: parent as it is
 * @is_shrink: older data beyond the size in it are dead
 * @shadowed_id: object that this one replaces, or 0
 * @xattr: contents behind the header, chunk_bytes - 512; NULL: as before
 */
struct yaffs_header_change {
	u32 parent_id;
	bool is_shrink;
	u32 shadowed_id;
	const u8 *xattr;
};

/* Writes the object's header; @change may be NULL. Entitled to the reserve. */
int yaffs_header_write(struct yaffs_object *obj,
		       const struct yaffs_header_change *change);
/* The same for a new object: only if there is space without the reserve. */
int yaffs_header_write_new(struct yaffs_object *obj);
/*
 * Reads name and attributes if that was not done yet. -EUCLEAN, -EBADMSG: the object
 * is damaged; it has a name then, but nothing else can be relied on.
 */
int yaffs_object_load(struct yaffs_object *obj);
/* Reads the whole chunk of the newest header; 0xff if there is none. */
int yaffs_header_read_chunk(struct yaffs_object *obj, u8 *page);
/*
 * For GC: makes of the header in @page one that can be written again, without shrink
 * and shadow marks and with the present size, and its tags.
 */
int yaffs_header_refresh(struct yaffs_object *obj, u8 *page,
			 struct yaffs_tags *tags);
/* The tags of a header of @obj as it is, without shrink and shadow marks. */
void yaffs_header_tags(const struct yaffs_object *obj, struct yaffs_tags *tags);
/* For GC: a header in @page, and its tags, in the place of one that cannot be read. */
void yaffs_header_replace(struct yaffs_object *obj, u8 *page,
			  struct yaffs_tags *tags);

/* ---- directory.c ---- */

void yaffs_directory_add(struct yaffs_object *dir, struct yaffs_object *obj);
void yaffs_directory_remove(struct yaffs_object *obj);
int yaffs_object_set_name(struct yaffs_object *obj, const char *name, u32 bytes);
/* Reads the headers of all children that have no name yet. 0 or -ENOMEM. */
int yaffs_directory_load(struct yaffs_object *dir);
/* The child of that name (possibly a hard link), or NULL. -ENOMEM. */
struct yaffs_object *yaffs_directory_find(struct yaffs_object *dir,
					  const char *name, u32 bytes);
/*
 * The first child at or behind @position; NULL at the end. Positions are stable
 * while entries come and go; yaffs_directory_position() gives a child's.
 */
struct yaffs_object *yaffs_directory_at(struct yaffs_object *dir, u64 position);
u64 yaffs_directory_position(const struct yaffs_object *child);
bool yaffs_directory_is_empty(const struct yaffs_object *dir);
/* Contents changed: new times now, header later. */
void yaffs_directory_touch(struct yaffs_object *dir);
/* Writes the headers of all touched directories. */
int yaffs_directories_sync(struct yaffs_device *dev);

/* ---- operations.c: names ---- */

/**
 * struct yaffs_attributes - of an object to be created
 * @mode: with the bits of the file type
 * @rdev: old 16-bit encoding
 */
struct yaffs_attributes {
	u32 mode;
	u32 uid;
	u32 gid;
	u32 rdev;
};

/*
 * All of them touch the directories concerned. Names are 1 to YAFFS_NAME_MAX bytes,
 * and the VFS has checked that they exist, or do not. Times are now.
 */

/*
 * @name NULL: without a name, for O_TMPFILE; @dir is dev->unlinked then. @symlink:
 * symbolic links only.
 */
struct yaffs_object *yaffs_create(struct yaffs_object *dir, const char *name,
				  u32 name_bytes, u8 type,
				  const struct yaffs_attributes *attributes,
				  const char *symlink);
/* A further name for @target; also for one that has none. */
int yaffs_link(struct yaffs_object *target, struct yaffs_object *dir,
	       const char *name, u32 name_bytes);
/*
 * Removes a name: @entry is what yaffs_directory_find() gave. The last name of an
 * object in use leaves it unlinked; it is deleted when it is released. -ENOTEMPTY.
 */
int yaffs_unlink(struct yaffs_object *entry);
/* @victim: the entry that has the new name, or NULL. */
int yaffs_rename(struct yaffs_object *entry, struct yaffs_object *dir,
		 const char *name, u32 name_bytes, struct yaffs_object *victim);
/* Deletes from flash, whatever names and inodes there are. */
int yaffs_object_delete(struct yaffs_object *obj);

/* ---- data.c: contents of files ---- */

/* @bytes may reach beyond the end: zeros. */
int yaffs_file_read(struct yaffs_object *obj, u64 position, u8 *to, u32 bytes);
/* All or nothing of each chunk; a hole is made if @position is beyond the end. */
int yaffs_file_write(struct yaffs_object *obj, u64 position, const u8 *from,
		     u32 bytes);
int yaffs_file_resize(struct yaffs_object *obj, u64 size);
/* Removes what a power cut left behind the end, if it did. */
int yaffs_file_cut_tail(struct yaffs_object *obj);
/* Drops all contents, without a word to the flash. */
void yaffs_file_drop(struct yaffs_object *obj);
/* For cache.c: one whole chunk, to and from flash. */
int yaffs_file_read_chunk(struct yaffs_object *obj, u32 chunk_id, u8 *page);
int yaffs_file_write_chunk(struct yaffs_object *obj, u32 chunk_id, u8 *page,
			   u32 n_bytes, bool reserve);

/* ---- cache.c: the short-op cache ---- */

int yaffs_cache_init(struct yaffs_device *dev);
void yaffs_cache_exit(struct yaffs_device *dev);
int yaffs_cache_read(struct yaffs_object *obj, u32 chunk_id, u32 offset, u8 *to,
		     u32 bytes);
int yaffs_cache_write(struct yaffs_object *obj, u32 chunk_id, u32 offset,
		      const u8 *from, u32 bytes);
int yaffs_cache_flush(struct yaffs_object *obj);
int yaffs_cache_flush_all(struct yaffs_device *dev);
/* Forgets what is cached of all files. */
void yaffs_cache_forget(struct yaffs_device *dev);
/* Forgets what is cached of @obj from @chunk_id on. */
void yaffs_cache_drop(struct yaffs_object *obj, u32 chunk_id);

/* ---- scan.c, recover.c ---- */

int yaffs_scan(struct yaffs_device *dev);
/* After a scan or a checkpoint: links, deleted and lost objects. */
int yaffs_recover_links(struct yaffs_device *dev);
int yaffs_recover(struct yaffs_device *dev);

/* ---- checkpoint.c ---- */

/* Returns 0, or any error: then nothing of it is left, and a scan is due. */
int yaffs_checkpoint_read(struct yaffs_device *dev);
/*
 * Writes one if that is allowed and useful; not doing so is no error. @urgent: even if
 * garbage should be collected first.
 */
int yaffs_checkpoint_write(struct yaffs_device *dev, bool urgent);
/* Before any change of the flash. */
void yaffs_checkpoint_invalidate(struct yaffs_device *dev);
/* Blocks that must be kept for a checkpoint, beyond those that hold one. */
u32 yaffs_checkpoint_blocks_needed(struct yaffs_device *dev);

/* ---- device.c: mount and unmount ---- */

struct yaffs_device *yaffs_device_create(struct mtd_info *mtd,
					 const struct yaffs_options *options);
/* Reads the flash; afterwards dev->root is there. */
int yaffs_device_mount(struct yaffs_device *dev, bool read_only);
/* Everything to flash; @checkpoint: and a checkpoint if possible. */
int yaffs_device_sync(struct yaffs_device *dev, bool checkpoint);
/* To read-only: everything is on flash afterwards. To writable: recovers. */
int yaffs_device_set_read_only(struct yaffs_device *dev, bool read_only);
/* Frees memory; what was not synced is lost. */
void yaffs_device_destroy(struct yaffs_device *dev);

/* ---- background.c: takes dev->lock itself ---- */

int yaffs_background_start(struct yaffs_device *dev);
void yaffs_background_stop(struct yaffs_device *dev);
void yaffs_background_wake(struct yaffs_device *dev);

/* ---- proc.c: /proc/yaffs2/mtdN ---- */

int yaffs_proc_init(void);
void yaffs_proc_exit(void);
void yaffs_proc_add(struct yaffs_device *dev);
void yaffs_proc_remove(struct yaffs_device *dev);

#endif
