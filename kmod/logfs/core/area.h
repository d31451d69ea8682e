/* SPDX-License-Identifier: GPL-2.0-only */
/* Writing objects: area.c, and what becomes of segments by that: pending.c. */
#ifndef LOGFS_AREA_H
#define LOGFS_AREA_H

#include "flash.h"

/* ---- pending.c ---- */

/*
 * What has become of a segment since the last commit, to be changed; made if there was
 * nothing.
 */
struct logfs_changed *logfs_changed(struct logfs_device *dev, u32 segno);
/* An area has, or has no more, a segment of which something may have become. */
void logfs_touch(struct logfs_device *dev, u32 segno);
/* An object of so many bytes is valid, or, less than 0, is no more. */
void logfs_book(struct logfs_device *dev, u64 place, s32 bytes);
/* It is all in the segment file. */
void logfs_changed_clear(struct logfs_device *dev);

/* Lists of candidates. @by_valid: those with less valid bytes come first, else less worn ones. */
int logfs_list_make(struct logfs_list *list, u32 room);
void logfs_list_put(struct logfs_list *list, const struct logfs_candidate *c,
		    bool by_valid);
void logfs_list_del(struct logfs_list *list, u32 segno);
/* The segment is used for something new: whatever was known of it is no more. */
void logfs_lists_del(struct logfs_device *dev, u32 segno);

/* ---- area.c ---- */

/*
 * Writes an object, whose header is as on flash. Any error is one that leaves no way to write.
 * Nothing has changed but that then.
 */
int logfs_area_append(struct logfs_device *dev, u32 gc_level,
		      const struct logfs_object_header_media *m,
		      const void *payload, u32 payload_bytes, u64 *place);
/* The same with an object that is not yet encoded. */
int logfs_area_write(struct logfs_device *dev, u32 gc_level,
		     const struct logfs_object *o, const void *payload,
		     u64 *place);
/* True while the segment is open or was left. */
bool logfs_area_has(const struct logfs_device *dev, u32 segno);
/* The area goes on in another segment; what is in memory has to be written anew. */
void logfs_area_leave(struct logfs_device *dev, u32 gc_level, bool is_bad);
void logfs_area_free_left(struct logfs_left *left);

/*
 * Reads an object, by logfs_flash_read() or logfs_flash_read_kept(). -EUCLEAN: there is none, or
 * another. -EBADMSG: damaged.
 */
int logfs_object_header(struct logfs_device *dev, u64 place, logfs_reader *read,
			struct logfs_object_header_media *m,
			struct logfs_object *o);
int logfs_object_read(struct logfs_device *dev, u64 place, logfs_reader *read,
		      struct logfs_object *o, void *payload);

#endif
