/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * alloc.c: which page is written next. summary_io.c: the tags of a block's pages in
 * its last ones. ids.c: which objects there are, in what that leaves; wear.c: how worn
 * blocks are.
 */
#ifndef YAFFS_ALLOC_H
#define YAFFS_ALLOC_H

#include "blocks.h"

/* ---- alloc.c ---- */

/* Who writes a page. All but the first may use the reserve. */
enum yaffs_writer {
	YAFFS_WRITE_NEW,	/* an object, or data that were not promised */
	YAFFS_WRITE_KEPT,	/* what must find a page */
	YAFFS_WRITE_COPY,	/* the collector */
};

/*
 * As yaffs_nand_write(), to the next page of the stream that the policy has for such a
 * page; @tags' sequence number is filled in.
 */
int yaffs_chunk_write(struct yaffs_device *dev, u8 *page, struct yaffs_tags *tags,
		      enum yaffs_writer by, u32 *chunk);

/* ---- ids.c: segregated layout ---- */

/* A page with metadata of that object is, or will be, on flash. */
void yaffs_ids_note(struct yaffs_device *dev, u32 obj_id);
/* The block has the newest summary with that part. */
void yaffs_ids_pin(struct yaffs_device *dev, u32 part, u32 block);
/* What may be erased in any order, after anything of it has changed. */
void yaffs_ids_settle(struct yaffs_device *dev);
/* Makes the part that is due; returns which it is. */
u32 yaffs_ids_fill(struct yaffs_device *dev, u8 *to);

/* ---- wear.c: mount option wear= ---- */

/* The counts that are due, for @room bytes. */
void yaffs_wear_fill(struct yaffs_device *dev, u8 *to, u32 room);
/* At mount: from the newest summaries, as many as it takes. 0 or -ENOMEM. */
int yaffs_wear_read(struct yaffs_device *dev);

/* ---- summary_io.c ---- */

/* Bytes that a summary leaves of its last page, and where they begin. */
u32 yaffs_summary_room(const struct yaffs_device *dev);
u32 yaffs_summary_end(const struct yaffs_device *dev);

void yaffs_summary_begin(const struct yaffs_device *dev,
			 struct yaffs_stream *stream);
/* Notes a page's tags; writes the summary when the block has no other page left. */
void yaffs_summary_add(struct yaffs_device *dev, struct yaffs_stream *stream,
		       u32 page, const struct yaffs_tags_media *tags);
/* True if @page of a block is for its summary. */
bool yaffs_summary_page(const struct yaffs_device *dev, u32 page);
/* Reads a block's summary into @to; -ENODATA if there is no valid one. */
int yaffs_summary_read(struct yaffs_device *dev, u32 block, u32 seq,
		       struct yaffs_summary_entry_media *to, u8 *page);

#endif
