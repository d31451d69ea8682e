/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * map.c: segregated layout: of which parts a file's index consists on flash, and which of them
 * have to be written. Without that layout there is nothing of this. What is on flash, and
 * why, is in docs/yaffs2-segregated.md.
 */
#ifndef YAFFS_MAP_H
#define YAFFS_MAP_H

#include <linux/xarray.h>

#include "device.h"

struct yaffs_object;

/**
 * struct yaffs_piece - a part of a file's index, as many chunk ids as an index page has
 * @waiting: in yaffs_device.waiting_pieces
 * @obj: the file
 * @position: while it waits: of its oldest data page that no index on flash has; while a scan
 *	goes on: of what is on flash of it
 * @number: from 0
 * @chunk: its index page; 0: none
 * @loaded: the file's index in memory has it
 * @in_header: the header on flash has entries of it; only of the first
 * @lost: one of its chunks was lost to bit errors
 * @found: scan: some of its pages are newer than what is on flash of it
 */
struct yaffs_piece {
	struct list_head waiting;
	struct yaffs_object *obj;
	u64 position;
	u32 number;
	u32 chunk;
	bool loaded;
	bool in_header;
	bool lost;
	bool found;
};

/**
 * struct yaffs_map - the parts of one file's index
 * @first: number 0, the only one of most files
 * @others: by number
 * @cuts: [n_cuts], allocated; see codec.h
 * @known: cuts, and what the header has of the index, are here
 * @position: scan: of the header on flash
 * @size: scan: of the file, as the newest index page has it
 * @size_position: and the position of that
 */
struct yaffs_map {
	struct yaffs_piece first;
	struct xarray others;
	struct yaffs_cut *cuts;
	u32 n_cuts;
	bool known;
	u64 position;
	u64 size;
	u64 size_position;
};

/* For a new object in memory, with nothing on flash known. -ENOMEM. */
int yaffs_map_new(struct yaffs_object *obj);
void yaffs_map_free(struct yaffs_object *obj);
/* The file begins now: nothing that is on flash is its. */
void yaffs_map_begin(struct yaffs_object *obj);

/* The piece that has a chunk; NULL: there is none. */
struct yaffs_piece *yaffs_map_piece(const struct yaffs_object *obj, u32 chunk_id);
/* The same by its number. */
struct yaffs_piece *yaffs_map_at(const struct yaffs_object *obj, u32 number);
/* And made if it is not there. NULL: no memory. */
struct yaffs_piece *yaffs_map_make_piece(struct yaffs_object *obj, u32 number);
/* The next piece from @number on, which goes ahead of it; NULL at the end. */
struct yaffs_piece *yaffs_map_next(struct yaffs_object *obj, u32 *number);
/* All from @number on, a variable. The one at hand may be freed. */
#define yaffs_for_each_piece(piece, obj, number) \
	for (; ((piece) = yaffs_map_next(obj, &(number)));)
/* Of @others. */
void yaffs_map_free_piece(struct yaffs_piece *piece);
/* The number of the piece that has a chunk, be it there or not. */
u32 yaffs_piece_number(const struct yaffs_device *dev, u32 chunk_id);
/* The first chunk id of a piece, and the last. */
u32 yaffs_piece_first(const struct yaffs_piece *piece);
u32 yaffs_piece_last(const struct yaffs_piece *piece);

/* Position of a page that is on flash. */
u64 yaffs_map_position(const struct yaffs_device *dev, u32 chunk);
/* Position below which an index on flash has all data pages, if @but has them, too. */
u64 yaffs_map_horizon(const struct yaffs_device *dev,
		      const struct yaffs_piece *but);
/* A data page was written; its piece was made before. Of other layouts: nothing. */
void yaffs_map_note(struct yaffs_object *obj, u32 chunk_id, u32 chunk);
/* A chunk of it was lost to bit errors. */
void yaffs_map_note_lost(struct yaffs_object *obj, u32 chunk_id);
/* The piece is on flash as it is in memory. */
void yaffs_piece_written(struct yaffs_piece *piece);
/* Where its index page is from now on; 0: nowhere. */
void yaffs_piece_set_chunk(struct yaffs_piece *piece, u32 chunk);
/* To the end of the line. */
void yaffs_piece_wait(struct yaffs_piece *piece, u64 position);

/* ---- between memory and pages ---- */

/* Whether the whole index goes into the header, beside so many bytes of attributes. */
bool yaffs_map_fits(const struct yaffs_object *obj, u32 xattr_bytes);
/* Makes an index page of the piece. */
void yaffs_map_fill_index(const struct yaffs_piece *piece, u8 *page);
/*
 * Completes the page of a header that has its attributes: with the index if it fits in,
 * @gone: without it in any case. Returns whether it is there.
 */
bool yaffs_map_fill_header(const struct yaffs_object *obj, bool gone, u8 *page);
/*
 * Takes from the page of a header just read what is not known yet, if it is that of a file.
 * Entries are believed if they are live. After that the attributes in the page have an end.
 * -EUCLEAN: there is no map, or a wrong one.
 */
int yaffs_map_take_header(struct yaffs_object *obj, u8 *page);
/* The same from an index page of a piece; what was cut off is passed over. */
int yaffs_map_take_index(struct yaffs_piece *piece, const u8 *page);
/* Bytes that the attributes in the page of a header take. */
u32 yaffs_map_xattr_used(const struct yaffs_device *dev, u8 *page);
/* Only the latter. */
int yaffs_map_trim_xattr(const struct yaffs_device *dev, u8 *page);
/* Makes @used bytes of attributes all of them. */
void yaffs_map_end_xattr(const struct yaffs_device *dev, u8 *page, u32 used);

/* ---- making a file shorter ---- */

/* Whether there is place for another cut at @chunks. */
bool yaffs_map_can_cut(const struct yaffs_object *obj, u32 chunks);
/*
 * From now on what is older and behind @chunks is dead. The cuts before are in @before, to
 * be given to yaffs_map_uncut() or to kfree(). -ENOMEM.
 */
int yaffs_map_cut(struct yaffs_object *obj, u32 chunks, struct yaffs_cut **before,
		  u32 *n_before);
void yaffs_map_uncut(struct yaffs_object *obj, struct yaffs_cut *before,
		     u32 n_before);

#endif
