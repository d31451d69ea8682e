// SPDX-License-Identifier: GPL-2.0-only
/*
 * State and counters, for statfs(2) and /proc.
 */

#include "flash.h"
#include "node.h"

void logfs_space(struct logfs_device *dev, struct logfs_space *space)
{
	const u64 used = dev->used_bytes + dev->reserved_bytes;
	u32 n_lost;

	logfs_flash_count_bad(dev);
	n_lost = dev->n_bad + dev->n_spare;
	space->blocks = div_u64(logfs_free_bytes(&dev->super, 0, n_lost),
				LOGFS_MAX_OBJECT_BYTES);
	space->free = div_u64(logfs_free_bytes(&dev->super, used, n_lost),
			      LOGFS_MAX_OBJECT_BYTES);
	space->inodes = logfs_node_last_ino(dev) - LOGFS_RESERVED_INOS;
	/* Not even the inode file says which numbers are free without being read. */
	space->free_inodes = min_t(u64, space->inodes, space->free);
}

/**
 * struct row - a line of /proc
 * @name: as it is told there
 * @at: where in struct logfs_device
 * @is_u64: of the size of a u64, else of a u32
 */
struct row {
	const char *name;
	size_t at;
	bool is_u64;
};

#define COUNTER(field) \
	{ #field, offsetof(struct logfs_device, stats.field), true }
#define STATE(field)	{ #field, offsetof(struct logfs_device, field), false }
#define STATE64(field)	{ #field, offsetof(struct logfs_device, field), true }
#define WRITTEN(name, level) \
	{ name, offsetof(struct logfs_device, stats.objects_written[level]), \
	  true }

static const struct row rows[] = {
	STATE(segment_bytes),
	STATE(unit_bytes),
	{ "segments", offsetof(struct logfs_device, super.n_segments), false },
	{ "bad_segments", offsetof(struct logfs_device, n_bad), false },
	{ "free_segments", offsetof(struct logfs_device, free.n), false },
	STATE64(used_bytes),
	STATE64(reserved_bytes),
	STATE64(gec),
	{ "aliases", offsetof(struct logfs_device, n_aliases), false },
	{ "aliases_most", offsetof(struct logfs_device, n_aliases_most),
	  false },
	{ "cached_blocks", offsetof(struct logfs_device, n_words), false },
	{ "cached_blocks_most", offsetof(struct logfs_device, n_words_most),
	  false },
	STATE(tree_bytes),
	STATE(tree_bytes_most),
	WRITTEN("data_written", 0),
	WRITTEN("indirect_1_written", 1),
	WRITTEN("indirect_2_written", 2),
	WRITTEN("indirect_3_written", 3),
	WRITTEN("indirect_4_written", 4),
	WRITTEN("inodes_written", 6),
	WRITTEN("inode_file_1_written", 7),
	WRITTEN("inode_file_2_written", 8),
	COUNTER(object_bytes),
	COUNTER(commits),
	COUNTER(journal_bytes),
	COUNTER(journal_segments),
	COUNTER(journal_moved),
	COUNTER(gc_segments),
	COUNTER(gc_objects),
	COUNTER(gc_bytes),
	COUNTER(wear_segments),
	COUNTER(scrubbed_segments),
	COUNTER(forced_blocks),
	COUNTER(erasures),
	COUNTER(retired_segments),
	COUNTER(bits_corrected),
	COUNTER(uncorrectable),
};

bool logfs_statistic(struct logfs_device *dev, u32 nth, const char **name,
		     u64 *value)
{
	const struct row *row = &rows[nth];

	if (nth >= ARRAY_SIZE(rows))
		return false;
	logfs_flash_count_bad(dev);
	*name = row->name;
	*value = row->is_u64 ? *(u64 *)((u8 *)dev + row->at) :
			       *(u32 *)((u8 *)dev + row->at);
	return true;
}
