/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * map_io.c: parts of a file's index to and from flash, in the segregated layout. In the
 * other one there is nothing to do.
 */
#ifndef YAFFS_MAP_IO_H
#define YAFFS_MAP_IO_H

#include "alloc.h"
#include "objects.h"

/* Before the index in memory is asked for a chunk: reads what it lacks. */
int yaffs_map_load(struct yaffs_object *obj, u32 chunk_id);
/* The same for all chunks from @chunk_id on. */
int yaffs_map_load_from(struct yaffs_object *obj, u32 chunk_id);
/* Before a chunk is written: also makes what yaffs_map_note() needs. */
int yaffs_map_prepare(struct yaffs_object *obj, u32 chunk_id);

/* The index page of a piece is @chunk from now on, 0: none; the one before is dead. */
void yaffs_map_set_page(struct yaffs_piece *piece, u32 chunk);
/* Writes the index page of a piece. */
int yaffs_map_write_piece(struct yaffs_piece *piece, enum yaffs_writer by);
/*
 * Before a header that yaffs_map_fill_header() makes: if the index does not fit in any
 * more, what the last header has of it must be on flash without it.
 */
int yaffs_map_before_header(struct yaffs_object *obj, u32 xattr_bytes,
			    enum yaffs_writer by);
/* And when it is on flash. */
void yaffs_map_header_written(struct yaffs_object *obj, bool has_index);
/* Gives up pieces of which no chunk is left, @chunks being the highest id. */
void yaffs_map_drop(struct yaffs_object *obj, u32 chunks);

#endif
