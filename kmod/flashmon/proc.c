// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/flashmon/NAME: "counters" (name and value), "blocks" (one line per
 * erase block: erases, programs, reads), "trace" (trace_format.h), "live"
 * (live_format.h).
 */

#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "flashmon.h"

static struct proc_dir_entry *root;

static int counters_show(struct seq_file *m, void *v)
{
	struct flashmon *monitor = m->private;
	spinlock_t *lock = &monitor->hook->lock;
	struct flashmon_counters c;
	unsigned long flags;

	spin_lock_irqsave(lock, flags);
	c = monitor->totals.counters;
	spin_unlock_irqrestore(lock, flags);
#define X(name) seq_printf(m, #name " %llu\n", c.name);
	FLASHMON_COUNTERS(X)
#undef X
	flashmon_below_show(m, monitor);
	return 0;
}

static int blocks_show(struct seq_file *m, void *v)
{
	const struct flashmon_totals *t =
		&((struct flashmon *)m->private)->totals;
	u32 i;

	/* One word each, written by one request at a time: no lock needed. */
	for (i = 0; i < t->blocks; i++)
		seq_printf(m, "%u %u %u\n", READ_ONCE(t->block[i].erases),
			   READ_ONCE(t->block[i].programs),
			   READ_ONCE(t->block[i].reads));
	return 0;
}

static ssize_t trace_read(struct file *file, char __user *to, size_t bytes,
			  loff_t *at)
{
	struct flashmon *m = compat_proc_data(file_inode(file));
	const struct flashmon_trace_header *h = m->trace.header;

	if (!h)
		return 0;
	return simple_read_from_buffer(to, bytes, at, h, sizeof(*h) +
				       le64_to_cpu(h->records) *
				       sizeof(struct flashmon_record));
}

static const struct proc_ops trace_ops = {
	.proc_read = trace_read,
	.proc_lseek = default_llseek,
};

int flashmon_proc_add(struct flashmon *m)
{
	struct proc_dir_entry *dir = proc_mkdir(m->mtd->name, root);

	if (!dir)
		return -ENOMEM;
	if (proc_create_single_data("counters", 0444, dir, counters_show, m) &&
	    proc_create_single_data("blocks", 0444, dir, blocks_show, m) &&
	    proc_create_data("trace", 0444, dir, &trace_ops, m) &&
	    proc_create_data("live", 0444, dir, &flashmon_live_ops, m))
		return 0;
	flashmon_proc_remove(m);
	return -ENOMEM;
}

void flashmon_proc_remove(struct flashmon *m)
{
	remove_proc_subtree(m->mtd->name, root);
}

int flashmon_proc_init(const struct proc_ops *control)
{
	root = proc_mkdir("flashmon", NULL);
	if (!root)
		return -ENOMEM;
	if (proc_create("control", 0200, root, control))
		return 0;
	proc_remove(root);
	return -ENOMEM;
}

void flashmon_proc_exit(void)
{
	proc_remove(root);
}
