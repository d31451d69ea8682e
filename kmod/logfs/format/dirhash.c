// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where in a directory a name is: the hash says a first block, and others for when it is
 * taken. The first tries are among few low blocks, so a small directory has a low tree;
 * each later one is among all that the next level of the tree adds. The last are sixteen
 * neighbours in a bucket above all that.
 *
 * A directory that has no place left for a name has not many, but many with one hash.
 */

#include "codec.h"

/* Blocks below a pointer of a block of a level. */
#define SPAN(level)	(1U << (level) * LOGFS_INDEX_BITS)
#define BUCKETS \
	(((u32)LOGFS_MAX_BLOCKS - SPAN(3)) / LOGFS_DIR_BUCKET)

/* Bytes are unsigned, whatever a CPU's char is: directories go from one to another. */
u32 logfs_dir_hash(const u8 *name, u32 n)
{
	u32 hash = 0;

	while (n--)
		hash = hash * 293 + *name++;
	return hash;
}

u64 logfs_dir_try(u32 hash, u32 n)
{
	switch (n) {
	case 0:
		return hash % LOGFS_DIRECT_POINTERS;
	case 1:
		return LOGFS_DIRECT_POINTERS +
		       hash % (SPAN(1) - LOGFS_DIRECT_POINTERS);
	case 2:
		return SPAN(1) + hash % (SPAN(2) - SPAN(1));
	case 3:
		return SPAN(2) + hash % (SPAN(3) - SPAN(2));
	default:
		return SPAN(3) + LOGFS_DIR_BUCKET * (hash % BUCKETS) + n - 4;
	}
}
