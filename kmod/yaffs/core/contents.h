/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Contents of files: data.c makes chunks of bytes, cache.c keeps some of them in
 * memory.
 */
#ifndef YAFFS_CONTENTS_H
#define YAFFS_CONTENTS_H

#include "objects.h"

/* ---- cache.c: the short-op cache ---- */

/*
 * A part of a chunk. @room: bytes of @to that may be overwritten, at least @bytes: with in-band
 * tags a whole chunk is read with what is behind it.
 */
int yaffs_cache_read(struct yaffs_object *obj, u32 chunk_id, u32 offset, u8 *to,
		     u32 bytes, u32 room);
int yaffs_cache_write(struct yaffs_object *obj, u32 chunk_id, u32 offset,
		      const u8 *from, u32 bytes);
int yaffs_cache_flush(struct yaffs_object *obj);
int yaffs_cache_flush_all(struct yaffs_device *dev);
/* A chunk of it; 1, 0 if there is none, or an error. */
int yaffs_cache_flush_one(struct yaffs_object *obj);

/* ---- data.c ---- */

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

#endif
