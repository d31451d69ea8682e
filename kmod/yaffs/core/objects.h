/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Objects in memory, and what hangs on them: index.c has where the pages of a file
 * are, children.c what is in a directory, slots.c the cached chunks of files,
 * header_page.c what an object's header is. Nothing here reads or writes flash.
 */
#ifndef YAFFS_OBJECTS_H
#define YAFFS_OBJECTS_H

#include <linux/rbtree.h>
#include <linux/slab.h>

#include "device.h"
#include "index.h"
#include "map.h"

struct yaffs_file {
	struct yaffs_index index;
	u64 size;		/* as the user sees it */
	u64 stored_size;	/* without what is only in the cache */
	u64 shrink_limit;	/* scan: older data from here on are dead */
	u32 data_chunks;
	struct yaffs_map *map;	/* segregated layout; else NULL */
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
/* What a hard link stands for; NULL if it dangles. Else the object itself. */
struct yaffs_object *yaffs_object_target(struct yaffs_object *obj);
/* Link count as stat(2) shows it. */
u32 yaffs_object_nlink(const struct yaffs_object *obj);
void yaffs_object_set_link(struct yaffs_object *link, struct yaffs_object *target);
u64 yaffs_now_s(void);

/* ---- ids_table.c: which ids there are; segregated layout ---- */

/* There will be such an object. -ENOMEM. */
int yaffs_ids_prepare(struct yaffs_device *dev, u32 id);
/* Its first page is about to be written, or was met: not before, for what is left of another. */
void yaffs_ids_add(struct yaffs_device *dev, u32 id);
/* It is gone from flash. */
void yaffs_ids_remove(struct yaffs_device *dev, u32 id);
void yaffs_ids_clear(struct yaffs_device *dev);

/* ---- children.c: a directory in memory ---- */

void yaffs_directory_add(struct yaffs_object *dir, struct yaffs_object *obj);
void yaffs_directory_remove(struct yaffs_object *obj);
int yaffs_object_set_name(struct yaffs_object *obj, const char *name, u32 bytes);
/*
 * The first child at or behind @position; NULL at the end. Positions are stable
 * while entries come and go; yaffs_directory_position() gives a child's.
 */
struct yaffs_object *yaffs_directory_at(struct yaffs_object *dir, u64 position);
u64 yaffs_directory_position(const struct yaffs_object *child);
/* The child of that name, among those whose names are known; or NULL. */
struct yaffs_object *yaffs_directory_named(struct yaffs_object *dir,
					   const char *name, u32 bytes);
bool yaffs_directory_is_empty(const struct yaffs_object *dir);

/* ---- slots.c: the memory of the short-op cache ---- */

struct yaffs_slot {
	struct yaffs_object *obj;	/* NULL: free */
	u32 chunk_id;
	u32 begin;
	u32 end;
	bool dirty;
	u64 used;			/* slot_clock of the last use */
	u8 *data;			/* a whole page */
};

int yaffs_cache_init(struct yaffs_device *dev);
void yaffs_cache_exit(struct yaffs_device *dev);
/* The slot of that chunk, which is used now; or NULL. */
struct yaffs_slot *yaffs_slot_find(struct yaffs_object *obj, u32 chunk_id);
void yaffs_slot_release(struct yaffs_device *dev, struct yaffs_slot *slot);
void yaffs_slot_set_dirty(struct yaffs_device *dev, struct yaffs_slot *slot,
			  bool dirty);
/* Forgets what is cached of all files. */
void yaffs_cache_forget(struct yaffs_device *dev);
/* Forgets what is cached of @obj from @chunk_id on. */
void yaffs_cache_drop(struct yaffs_object *obj, u32 chunk_id);

/* ---- header_page.c ---- */

/* Where attributes lie in the page of a header; the segregated layout has other things before. */
static inline u32 yaffs_xattr_offset(const struct yaffs_device *dev)
{
	return yaffs_is_segregated(dev) ? yaffs_map_header_offset() :
					  YAFFS_HEADER_BYTES;
}

static inline u8 *yaffs_xattr_area(const struct yaffs_device *dev, u8 *page)
{
	return page + yaffs_xattr_offset(dev);
}

static inline u32 yaffs_xattr_bytes(const struct yaffs_device *dev)
{
	return dev->chunk_bytes - yaffs_xattr_offset(dev);
}

/**
 * struct yaffs_header_change - what is special about a header to be written
 * @parent_id: YAFFS_ID_DELETED: the object's last header; 0: parent as it is
 * @is_shrink: older data beyond the size in it are dead
 * @shadowed_id: object that this one replaces, or 0
 * @xattr: all attributes, yaffs_xattr_bytes(); NULL: as before
 */
struct yaffs_header_change {
	u32 parent_id;
	bool is_shrink;
	u32 shadowed_id;
	const u8 *xattr;
};

/*
 * The header of @obj as it is but for @change, in @page, and its tags. Attributes in the page
 * are left alone. Returns whether the index of the file is there: segregated layout.
 */
bool yaffs_header_fill(const struct yaffs_object *obj,
		       const struct yaffs_header_change *change, u8 *page,
		       struct yaffs_tags *tags);
/* Header of @obj on @page; what contradicts the tags is corrected on the page. */
int yaffs_header_parse(const struct yaffs_object *obj, u8 *page,
		       struct yaffs_header *h);
/*
 * For GC: makes of the header in @page one that can be written again, without shrink
 * and shadow marks and with the present size, and its tags.
 */
int yaffs_header_refresh(struct yaffs_object *obj, u8 *page,
			 struct yaffs_tags *tags);
/* The tags of a header of @obj as it is, without shrink and shadow marks. */
void yaffs_header_tags(const struct yaffs_object *obj, struct yaffs_tags *tags);
/*
 * For GC: a header in @page, and its tags, in the place of one that cannot be read. Returns
 * as yaffs_header_fill().
 */
bool yaffs_header_replace(struct yaffs_object *obj, u8 *page,
			  struct yaffs_tags *tags);

#endif
