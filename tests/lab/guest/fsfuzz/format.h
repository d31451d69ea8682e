/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The formats that are fuzzed: what differs between them, in a row for each.
 */
#ifndef FSFUZZ_FORMAT_H
#define FSFUZZ_FORMAT_H

#include "mutate.h"

/* Mutations with the chance that one of them is drawn. */
struct mutation_group {
	const struct mutation_kind *kinds;
	u32 weight;
};

/**
 * struct format - a format
 * @type: of the mount
 * @statistics: directory of /proc
 * @remount: option of a remount
 * @groups: mutations; the list ends with one without kinds
 * @kind_of: what a page holds
 * @check: says what an unmutated image holds; returns how many places break the format as
 *	this program understands it, each with a line
 * @misleads: the image may say that pages are erased which are not, and no reader could
 *	know: then the chip's rules are broken
 */
struct format {
	const char *type, *statistics, *remount;
	const struct mutation_group *groups;
	enum page_kind (*kind_of)(const struct image *image, u32 page);
	u32 (*check)(const struct image *image, FILE *out);
	bool (*misleads)(const struct image *image, const struct survey *s);
};

/* The row of a type of mount; that of YAFFS2 for one that is not known. */
const struct format *format_of(const char *type);

/* survey.c, image.c */
enum page_kind yaffs_kind_of(const struct image *image, u32 page);
u32 yaffs_check(const struct image *image, FILE *out);

/* logfs/check.c */
enum page_kind logfs_kind_of(const struct image *image, u32 page);
u32 logfs_check(const struct image *image, FILE *out);
bool logfs_misleads(const struct image *image, const struct survey *s);

#endif
