// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/yaffs2/mtdN for each mounted partition: its state and what it did since it
 * was mounted, lines of "name value". Names of partitions need not be unique, numbers
 * are. /proc/yaffs2/mtdN-collections, with gc=predict: the last runs of the collector, a
 * line each, the oldest first: forecast and actual time in ns, pages moved, blocks erased.
 */

#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#include "../core/forecast.h"
#include "vfs.h"

static struct proc_dir_entry *directory;

static const struct {
	const char *name;
	size_t offset;
} statistic[] = {
#define STATISTIC(field) { #field, offsetof(struct yaffs_statistics, field) }
	STATISTIC(data_writes),
	STATISTIC(header_writes),
	STATISTIC(index_writes),
	STATISTIC(summary_writes),
	STATISTIC(checkpoint_writes),
	STATISTIC(gc_copies),
	STATISTIC(gc_metadata_copies),
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
	STATISTIC(pages_stray),
	STATISTIC(pages_lost),
	STATISTIC(checkpoints_written),
	STATISTIC(checkpoints_invalidated),
};

static void show_forecast(struct seq_file *seq, const struct yaffs_device *dev)
{
	const struct yaffs_forecast *f = dev->forecast;
	const struct yaffs_errors *errors = &f->errors;

	seq_printf(seq, "price_read_ns %llu\n", dev->prices.read_ns);
	seq_printf(seq, "price_program_ns %llu\n", dev->prices.program_ns);
	seq_printf(seq, "price_erase_ns %llu\n", dev->prices.erase_ns);
	seq_printf(seq, "price_map_ns %llu\n", dev->prices.map_ns);
	seq_printf(seq, "forecast_runs %llu\n", errors->runs);
	seq_printf(seq, "forecast_unknown_runs %llu\n", f->unknown);
	seq_printf(seq, "forecast_broken_runs %llu\n", f->broken);
	seq_printf(seq, "forecast_taken_ns %llu\n", f->taken_ns);
	seq_printf(seq, "forecast_error_sum_permille %llu\n", errors->permille);
	seq_printf(seq, "forecast_error_p99_permille %u\n",
		   yaffs_errors_quantile(errors, 990));
}

static void show_bound(struct seq_file *seq, const struct yaffs_device *dev)
{
	const struct yaffs_bound *bound = &dev->bound;

	seq_printf(seq, "bound_us %u\n", dev->options.gc_bound_us);
	seq_printf(seq, "bound_calls %llu\n", bound->calls);
	seq_printf(seq, "bound_missed %llu\n", bound->missed);
	seq_printf(seq, "bound_forced_runs %llu\n", bound->forced);
	seq_printf(seq, "bound_longest_ns %llu\n", bound->longest_ns);
}

static void show_wear(struct seq_file *seq, const struct yaffs_device *dev)
{
	u32 least = U32_MAX, most = 0, block;

	for (block = 1; block <= dev->n_blocks; block++) {
		least = min(least, dev->erases[block]);
		most = max(most, dev->erases[block]);
	}
	seq_printf(seq, "erases_of_all %llu\n", dev->all_erases);
	seq_printf(seq, "erases_least %u\n", least);
	seq_printf(seq, "erases_most %u\n", most);
}

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
	if (dev->erases)
		show_wear(seq, dev);
	for (i = 0; i < ARRAY_SIZE(statistic); i++)
		seq_printf(seq, "%s %llu\n", statistic[i].name,
			   *(u64 *)((u8 *)&dev->stats + statistic[i].offset));
	if (dev->forecast)
		show_forecast(seq, dev);
	if (dev->bound.ns || dev->bound.calls)
		show_bound(seq, dev);
	yaffs_unlock(dev);
	return 0;
}

static int show_collections(struct seq_file *seq, void *unused)
{
	struct yaffs_device *dev = seq->private;
	const struct yaffs_forecast *f = dev->forecast;
	const struct yaffs_run *run;
	u64 i, end;
	u32 index;

	yaffs_lock(dev);
	end = f->errors.runs;
	for (i = end > YAFFS_REMEMBERED_RUNS ? end - YAFFS_REMEMBERED_RUNS : 0;
	     i < end; i++) {
		div_u64_rem(i, YAFFS_REMEMBERED_RUNS, &index);
		run = &f->runs[index];
		seq_printf(seq, "%llu %llu %u %u\n", run->forecast_ns,
			   run->actual_ns, run->copies, run->erases);
	}
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

#define NAME_BYTES	32

static void name_of(const struct yaffs_device *dev, const char *of, char *name)
{
	scnprintf(name, NAME_BYTES, "mtd%d%s", dev->mtd->index, of);
}

/* Without the file the file system works as well: no error. */
void yaffs_proc_add(struct yaffs_device *dev)
{
	char name[NAME_BYTES];

	name_of(dev, "", name);
	proc_create_single_data(name, 0444, directory, show, dev);
	if (!dev->forecast)
		return;
	name_of(dev, "-collections", name);
	proc_create_single_data(name, 0444, directory, show_collections, dev);
}

void yaffs_proc_remove(struct yaffs_device *dev)
{
	char name[NAME_BYTES];

	name_of(dev, "", name);
	remove_proc_entry(name, directory);
	if (!dev->forecast)
		return;
	name_of(dev, "-collections", name);
	remove_proc_entry(name, directory);
}
