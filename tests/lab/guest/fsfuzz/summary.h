/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The summary of a block as one array of entries, wherever its pages cut it.
 */
#ifndef FSFUZZ_SUMMARY_H
#define FSFUZZ_SUMMARY_H

#include "image.h"

/* Pages that the summary of a block takes at its end. */
u32 summary_pages(const struct image *image);
/* Pages of a block that a summary describes. */
u32 summary_entries(const struct image *image);
/* First page of the block's summary if there is one, else NO_PAGE. */
u32 summary_find(const struct image *image, u32 block);
/* Entry @n; it may lie on both sides of a page's end. */
void summary_get(const struct image *image, u32 block, u32 n, u8 entry[12]);
void summary_put(const struct image *image, u32 block, u32 n,
		 const u8 entry[12]);
/* Makes the sum in each page's header agree with the entries. */
void summary_seal(const struct image *image, u32 block);
/* True if there is no summary, or one with a right sum. */
bool summary_sum_right(const struct image *image, u32 block);
/* Copies the tags of @page into its block's summary, if there is one. */
void summary_follow(const struct image *image, u32 page);

#endif
