// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/logfs/mtdN for each mounted partition: its state and what it did since it was
 * mounted, lines of "name value". Names of partitions need not be unique, numbers are.
 */

#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#include "vfs.h"

#define NAME_BYTES	16

static struct proc_dir_entry *directory;

static int show(struct seq_file *seq, void *unused)
{
	struct logfs_device *dev = seq->private;
	const char *name;
	u64 value;
	u32 nth;

	logfs_lock(dev);
	for (nth = 0; logfs_statistic(dev, nth, &name, &value); nth++)
		seq_printf(seq, "%s %llu\n", name, value);
	logfs_unlock(dev);
	return 0;
}

int logfs_proc_init(void)
{
	directory = proc_mkdir("logfs", NULL);
	return directory ? 0 : -ENOMEM;
}

void logfs_proc_exit(void)
{
	proc_remove(directory);
}

static void name_of(const struct logfs_device *dev, char *name)
{
	scnprintf(name, NAME_BYTES, "mtd%d", logfs_mtd(dev)->index);
}

/* Without the file the file system works as well: no error. */
void logfs_proc_add(struct logfs_device *dev)
{
	char name[NAME_BYTES];

	name_of(dev, name);
	proc_create_single_data(name, 0444, directory, show, dev);
}

void logfs_proc_remove(struct logfs_device *dev)
{
	char name[NAME_BYTES];

	name_of(dev, name);
	remove_proc_entry(name, directory);
}
