// SPDX-License-Identifier: GPL-2.0-only
/*
 * flashmon: counts and traces every request to MTD devices.
 *
 * /proc/flashmon/control takes, one per write:
 *	attach NAME		watch the MTD device NAME (a partition or a chip)
 *	detach NAME
 *	reset NAME		set its counters to zero, empty its live page
 *	trace 1|0 NAME		see the module parameter trace_store
 *
 * Tracing or not, a guest in the lab executes the same commands of the same
 * length, so that its virtual time does not tell whether it is traced.
 */

#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "flashmon.h"

static char *trace_store = "ram:1048576";
module_param(trace_store, charp, 0444);
MODULE_PARM_DESC(trace_store, "where a trace goes: ram:BYTES or, in User-Mode Linux, iomem:NAME");

/* Serialises commands, and protects the list below. */
static DEFINE_MUTEX(control_lock);

static LIST_HEAD(monitors);

static struct flashmon *find_monitor(const char *name)
{
	struct flashmon *m;

	list_for_each_entry(m, &monitors, all)
		if (!strcmp(m->mtd->name, name))
			return m;
	return NULL;
}

static u64 start_in_master(struct mtd_info *mtd)
{
	u64 start = 0;

	for (; mtd->parent; mtd = mtd->parent)
		start += mtd->part.offset;
	return start;
}

static int watch(struct flashmon *m)
{
	struct flashmon_hook *hook = flashmon_hook_get(mtd_get_master(m->mtd));
	unsigned long flags;

	if (IS_ERR(hook))
		return PTR_ERR(hook);
	m->hook = hook;
	spin_lock_irqsave(&hook->lock, flags);
	list_add_tail(&m->list, &hook->monitors);
	spin_unlock_irqrestore(&hook->lock, flags);
	list_add_tail(&m->all, &monitors);
	return 0;
}

static void free_monitor(struct flashmon *m)
{
	flashmon_trace_free(m);
	flashmon_live_free(m);
	vfree(m->totals.block);
	put_mtd_device(m->mtd);
	kfree(m);
}

static void detach(struct flashmon *m)
{
	unsigned long flags;

	flashmon_proc_remove(m);
	spin_lock_irqsave(&m->hook->lock, flags);
	list_del(&m->list);
	spin_unlock_irqrestore(&m->hook->lock, flags);
	list_del(&m->all);
	free_monitor(m);
}

static int attach(const char *name)
{
	struct mtd_info *mtd;
	struct flashmon *m;
	int err = -ENOMEM;

	if (find_monitor(name))
		return -EEXIST;
	mtd = get_mtd_device_nm(name);
	if (IS_ERR(mtd))
		return PTR_ERR(mtd);
	m = kzalloc(sizeof(*m), GFP_KERNEL);
	if (!m) {
		put_mtd_device(mtd);
		return -ENOMEM;
	}
	m->mtd = mtd;
	m->start = start_in_master(mtd);
	m->totals.page_bytes = flashmon_page_bytes(mtd);
	m->totals.block_bytes = mtd->erasesize;
	m->totals.blocks = div_u64(mtd->size, mtd->erasesize);
	m->totals.block = vzalloc(array_size(m->totals.blocks,
					     sizeof(*m->totals.block)));
	if (!m->totals.block)
		goto out_free;
	err = flashmon_live_alloc(m);
	if (err)
		goto out_free;
	err = flashmon_trace_open(m, trace_store);
	if (err)
		goto out_free;
	err = watch(m);
	if (err)
		goto out_free;
	err = flashmon_proc_add(m);
	if (err)
		detach(m);
	return err;

out_free:
	free_monitor(m);
	return err;
}

static void reset(struct flashmon *m)
{
	unsigned long flags;

	spin_lock_irqsave(&m->hook->lock, flags);
	memset(&m->totals.counters, 0, sizeof(m->totals.counters));
	memset(m->totals.block, 0, array_size(m->totals.blocks,
					      sizeof(*m->totals.block)));
	flashmon_live_clear(m->live);
	spin_unlock_irqrestore(&m->hook->lock, flags);
}

static int trace(char *text)
{
	char *on = strsep(&text, " ");
	struct flashmon *m = text ? find_monitor(text) : NULL;

	if (!text)
		return -EINVAL;
	if (!m)
		return -ENODEV;
	/* No strcmp(): it is charged, and one way would take longer. */
	if (on[0] == '1' && !on[1])
		return flashmon_trace_start(m, trace_store);
	if (on[0] != '0' || on[1])
		return -EINVAL;
	flashmon_trace_stop(m);
	return 0;
}

/* The name is the rest of the line: MTD names may contain spaces. */
static int command(char *text)
{
	char *verb = strsep(&text, " ");
	struct flashmon *m;

	if (!text || !*text)
		return -EINVAL;
	if (!strcmp(verb, "attach"))
		return attach(text);
	if (!strcmp(verb, "trace"))
		return trace(text);
	m = find_monitor(text);
	if (!m)
		return -ENODEV;
	if (!strcmp(verb, "detach"))
		detach(m);
	else if (!strcmp(verb, "reset"))
		reset(m);
	else
		return -EINVAL;
	return 0;
}

static ssize_t control_write(struct file *file, const char __user *from,
			     size_t bytes, loff_t *at)
{
	char *text;
	int err;

	if (bytes > 256)
		return -EINVAL;
	text = memdup_user_nul(from, bytes);
	if (IS_ERR(text))
		return PTR_ERR(text);
	mutex_lock(&control_lock);
	err = command(strim(text));
	mutex_unlock(&control_lock);
	kfree(text);
	return err ? err : bytes;
}

static const struct proc_ops control_ops = {
	.proc_write = control_write,
	.proc_lseek = noop_llseek,
};

static int __init flashmon_init(void)
{
	return flashmon_proc_init(&control_ops);
}
module_init(flashmon_init);

static void __exit flashmon_exit(void)
{
	struct flashmon *m, *next;

	list_for_each_entry_safe(m, next, &monitors, all)
		detach(m);
	flashmon_hooks_remove();
	flashmon_proc_exit();
}
module_exit(flashmon_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Counts and traces the requests to MTD devices");
