// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/yaffs2/mtdN for each mounted partition: its state and what it did since it
 * was mounted, lines of "name value". Names of partitions need not be unique, numbers
 * are.
 */

#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#include "vfs.h"

static struct proc_dir_entry *directory;

static const struct {
	const char *name;
	size_t offset;
} statistic[] = {
#define STATISTIC(field) { #field, offsetof(struct yaffs_statistics, field) }
	STATISTIC(data_writes),
	STATISTIC(header_writes),
	STATISTIC(summary_writes),
	STATISTIC(checkpoint_writes),
	STATISTIC(gc_copies),
	STATISTIC(gc_passive),
	STATISTIC(gc_aggressive),
	STATISTIC(gc_background),
	STATISTIC(erasures),
	STATISTIC(retired_blocks),
	STATISTIC(write_failures),
	STATISTIC(pages_verified),
	STATISTIC(cache_hits),
	STATISTIC(cache_misses),
	STATISTIC(tags_corrected),
	STATISTIC(tags_uncorrectable),
	STATISTIC(data_corrected),
	STATISTIC(data_uncorrectable),
	STATISTIC(data_torn),
	STATISTIC(pages_lost),
	STATISTIC(checkpoints_written),
	STATISTIC(checkpoints_invalidated),
};

static int show(struct seq_file *seq, void *unused)
{
	struct yaffs_device *dev = seq->private;
	u32 i;

	yaffs_lock(dev);
	seq_printf(seq, "page_bytes %u\n", dev->page_bytes);
	seq_printf(seq, "chunk_bytes %u\n", dev->chunk_bytes);
	seq_printf(seq, "pages_per_block %u\n", dev->pages_per_block);
	seq_printf(seq, "blocks %u\n", dev->n_blocks);
	seq_printf(seq, "inband_tags %u\n", dev->options.inband_tags);
	seq_printf(seq, "mounted_by_checkpoint %u\n",
		   dev->mounted_by == YAFFS_BY_CHECKPOINT);
	seq_printf(seq, "objects %u\n", dev->n_objects);
	seq_printf(seq, "free_chunks %u\n", dev->space.free_chunks);
	seq_printf(seq, "erased_blocks %u\n", dev->space.erased_blocks);
	seq_printf(seq, "checkpoint_blocks %u\n", dev->ckpt_blocks);
	seq_printf(seq, "sequence %u\n", dev->seq);
	for (i = 0; i < ARRAY_SIZE(statistic); i++)
		seq_printf(seq, "%s %llu\n", statistic[i].name,
			   *(u64 *)((u8 *)&dev->stats + statistic[i].offset));
	yaffs_unlock(dev);
	return 0;
}

int yaffs_proc_init(void)
{
	directory = proc_mkdir("yaffs2", NULL);
	return directory ? 0 : -ENOMEM;
}

void yaffs_proc_exit(void)
{
	proc_remove(directory);
}

static void name_of(const struct yaffs_device *dev, char *name, u32 bytes)
{
	scnprintf(name, bytes, "mtd%d", dev->mtd->index);
}

/* Without the file the file system works as well: no error. */
void yaffs_proc_add(struct yaffs_device *dev)
{
	char name[16];

	name_of(dev, name, sizeof(name));
	proc_create_single_data(name, 0444, directory, show, dev);
}

void yaffs_proc_remove(struct yaffs_device *dev)
{
	char name[16];

	name_of(dev, name, sizeof(name));
	remove_proc_entry(name, directory);
}
