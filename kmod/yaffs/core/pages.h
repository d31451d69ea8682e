/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages of objects to and from flash: header_io.c has the headers, chunks.c the chunks
 * of files, horizon.c those of their indices in the segregated layout.
 */
#ifndef YAFFS_PAGES_H
#define YAFFS_PAGES_H

#include "alloc.h"
#include "map_io.h"
#include "objects.h"

/* ---- header_io.c ---- */

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
/* Reads the whole chunk of the newest header; 0xff if there is none. Attributes end the page. */
int yaffs_header_read_chunk(struct yaffs_object *obj, u8 *page);

/* ---- chunks.c: one whole chunk ---- */

/* Whether there is a page of it; true if that cannot be found out. */
bool yaffs_file_has_chunk(struct yaffs_object *obj, u32 chunk_id);

/* @page: with page_bytes of room. -EBADMSG: it cannot be read, or is not that chunk. */
int yaffs_file_read_chunk(struct yaffs_object *obj, u32 chunk_id, u8 *page);
int yaffs_file_write_chunk(struct yaffs_object *obj, u32 chunk_id, u8 *page,
			   u32 n_bytes, enum yaffs_writer by);

/* ---- horizon.c: segregated layout; in the other one there is nothing to do ---- */

/* After a data page, or some: what is due of files' indices is written. */
void yaffs_horizon_keep(struct yaffs_device *dev);
/* Everything that waits is written. */
int yaffs_horizon_flush(struct yaffs_device *dev);
/* Before yaffs_map_cut(): makes place for it. */
int yaffs_horizon_make_cut(struct yaffs_object *obj, u32 chunks);

#endif
