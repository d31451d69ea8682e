/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names, and how long what they stand for lives: directory.c finds them, operations.c
 * makes and changes them, lifetime.c lets objects go.
 */
#ifndef YAFFS_NAMES_H
#define YAFFS_NAMES_H

#include "objects.h"

/* ---- lifetime.c ---- */

/* Deletes from flash, whatever names and inodes there are. */
int yaffs_object_delete(struct yaffs_object *obj);

/* The VFS's inode comes and goes. The last may delete the object from flash. */
void yaffs_object_hold(struct yaffs_object *obj);
void yaffs_object_release(struct yaffs_object *obj);
bool yaffs_object_stays(const struct yaffs_object *obj);
/* Writes cached data, and unless @data_only the header if it is dirty. */
int yaffs_object_sync(struct yaffs_object *obj, bool data_only);
/* A page of that: 1 after one of the cache; 0 after the header, or if nothing is left. */
int yaffs_object_sync_page(struct yaffs_object *obj);

/* ---- directory.c ---- */

/* Reads the headers of all children that have no name yet. 0 or -ENOMEM. */
int yaffs_directory_load(struct yaffs_object *dir);
/* The child of that name (possibly a hard link), or NULL. -ENOMEM. */
struct yaffs_object *yaffs_directory_find(struct yaffs_object *dir,
					  const char *name, u32 bytes);
/* Contents changed: new times now, header later. */
void yaffs_directory_touch(struct yaffs_object *dir);
/* Writes the headers of all touched directories. */
int yaffs_directories_sync(struct yaffs_device *dev, u32 most);

/* ---- operations.c ---- */

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

#endif
