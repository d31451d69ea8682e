/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between scan.c, which goes through the blocks, and scan_map.c, which has what is special
 * about the segregated layout.
 */
#ifndef YAFFS_SCAN_H
#define YAFFS_SCAN_H

#include "objects.h"

/**
 * struct yaffs_scan - a scan under way
 * @order: [n]: blocks with data, the newest first when they are gone through
 * @entries: of the block summary at hand
 * @page: what becomes of each page that is met
 * @summary: and of the last page of a summary; NULL: nothing beside
 * @foreign: blocks that the other layout wrote
 * @told: a summary that says which objects there are was met
 * @everything: a part of an index could not be read: all data pages have to be looked at
 * @refused: by a later version
 * @ids: [YAFFS_IDS_PARTS]: what the newest summaries say of objects; NULL: nothing
 * @bad_entries: of indices, that name no page of data, or one that another names
 */
struct yaffs_scan {
	struct yaffs_device *dev;
	u32 *order;
	struct yaffs_summary_entry_media *entries;
	u32 n;
	int (*page)(struct yaffs_scan *scan, u32 chunk,
		    const struct yaffs_tags *tags);
	int (*summary)(struct yaffs_scan *scan, u32 block, const u8 *page);
	u32 foreign;
	bool told;
	bool everything;
	bool refused;
	u8 *ids[YAFFS_IDS_PARTS];
	u32 bad_entries;
};

/* ---- scan.c ---- */

/* Gives each page of a block to @scan->page, the newest first. */
int yaffs_scan_block(struct yaffs_scan *scan, u32 block);
/* A header is met, the newest of its object or not. */
int yaffs_scan_header(struct yaffs_scan *scan, u32 chunk,
		      const struct yaffs_tags *tags);

/* ---- scan_map.c ---- */

/* All blocks of a partition with the segregated layout. */
int yaffs_scan_segregated(struct yaffs_scan *scan);
/* The newest header of a file: its page, or why it cannot be read. */
int yaffs_scan_map(struct yaffs_scan *scan, struct yaffs_object *obj,
		   u8 *page, int err);

#endif
