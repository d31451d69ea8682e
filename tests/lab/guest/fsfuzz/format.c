// SPDX-License-Identifier: GPL-2.0-only
/*
 * format.c - see format.h.
 */
#include "format.h"
#include "logfs/aim.h"

static const struct mutation_group yaffs_groups[] = {
	{ generic_mutations, 14 },
	{ tag_mutations, 22 },
	{ header_mutations, 22 },
	{ name_mutations, 12 },
	{ summary_mutations, 8 },
	{ checkpoint_mutations, 18 },
	{ checkpoint_swaps, 12 },
	{ 0 },
};

static const struct mutation_group logfs_groups[] = {
	{ generic_mutations, 12 },
	{ logfs_super_mutations, 8 },
	{ logfs_journal_mutations, 26 },
	{ logfs_object_mutations, 20 },
	{ logfs_tree_mutations, 24 },
	{ logfs_name_mutations, 10 },
	{ 0 },
};

/*
 * A scan must find out itself which pages are erased. A checkpoint says it, and is
 * believed.
 */
static bool yaffs_misleads(const struct image *image, const struct survey *s)
{
	(void)image;
	return s->pages[PAGE_CHECKPOINT].n;
}

static const struct format formats[] = {
	{
		.type = "yaffs2", .statistics = "/proc/yaffs2",
		.remount = "no-cache", .groups = yaffs_groups,
		.kind_of = yaffs_kind_of, .check = yaffs_check,
		.misleads = yaffs_misleads,
	},
	{
		.type = "logfs", .statistics = "/proc/logfs",
		.remount = "compress", .groups = logfs_groups,
		.kind_of = logfs_kind_of, .check = logfs_check,
		.misleads = logfs_misleads,
	},
};

const struct format *format_of(const char *type)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(formats); i++)
		if (!strcmp(formats[i].type, type))
			return &formats[i];
	return &formats[0];
}
