// SPDX-License-Identifier: GPL-2.0-only
/*
 * flashmon: counts and traces every request to MTD devices.
 *
 * /proc/flashmon/control takes, one per write:
 *	attach NAME		watch the MTD device NAME (a partition or a chip)
 *	detach NAME
 *	reset NAME		set its counters to zero
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

/* A monitor by name; hooks hold the lists the fast path uses. */
struct entry {
	struct flashmon *m;
	struct list_head list;
};

static LIST_HEAD(entries);

static struct entry *find_entry(const char *name)
{
	struct entry *e;

	list_for_each_entry(e, &entries, list)
		if (!strcmp(e->m->mtd->name, name))
			return e;
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
	spin_lock_irqsave(&hook->lock, flags);
	list_add_tail(&m->list, &hook->monitors);
	spin_unlock_irqrestore(&hook->lock, flags);
	return 0;
}

static int attach(const char *name)
{
	struct mtd_info *mtd;
	struct flashmon *m = NULL;
	struct entry *e = NULL;
	int err = -ENOMEM;

	if (find_entry(name))
		return -EEXIST;
	mtd = get_mtd_device_nm(name);
	if (IS_ERR(mtd))
		return PTR_ERR(mtd);
	m = kzalloc(sizeof(*m), GFP_KERNEL);
	e = kzalloc(sizeof(*e), GFP_KERNEL);
	if (!m || !e)
		goto out;
	m->mtd = mtd;
	m->start = start_in_master(mtd);
	m->totals.page_bytes = mtd->writesize;
	m->totals.block_bytes = mtd->erasesize;
	m->totals.blocks = div_u64(mtd->size, mtd->erasesize);
	m->totals.block = vzalloc(array_size(m->totals.blocks,
					     sizeof(*m->totals.block)));
	if (!m->totals.block)
		goto out;
	err = flashmon_trace_open(m, trace_store);
	if (!err)
		err = watch(m);
	if (err)
		goto out_block;
	e->m = m;
	list_add_tail(&e->list, &entries);
	return flashmon_proc_add(m);

out_block:
	vfree(m->totals.block);
out:
	kfree(e);
	kfree(m);
	put_mtd_device(mtd);
	return err;
}

static void detach(struct entry *e)
{
	struct flashmon *m = e->m;
	spinlock_t *lock = flashmon_lock(m);
	unsigned long flags;

	flashmon_proc_remove(m);
	spin_lock_irqsave(lock, flags);
	list_del(&m->list);
	spin_unlock_irqrestore(lock, flags);
	flashmon_trace_free(m);
	vfree(m->totals.block);
	put_mtd_device(m->mtd);
	list_del(&e->list);
	kfree(m);
	kfree(e);
}

static void reset(struct flashmon *m)
{
	spinlock_t *lock = flashmon_lock(m);
	unsigned long flags;

	spin_lock_irqsave(lock, flags);
	memset(&m->totals.counters, 0, sizeof(m->totals.counters));
	memset(m->totals.block, 0, array_size(m->totals.blocks,
					      sizeof(*m->totals.block)));
	spin_unlock_irqrestore(lock, flags);
}

static int trace(char *text)
{
	char *on = strsep(&text, " ");
	struct entry *e = text ? find_entry(text) : NULL;

	if (!text)
		return -EINVAL;
	if (!e)
		return -ENODEV;
	/* No strcmp(): it is charged, and one way would take longer. */
	if (on[0] == '1' && !on[1])
		return flashmon_trace_start(e->m, trace_store);
	if (on[0] != '0' || on[1])
		return -EINVAL;
	flashmon_trace_stop(e->m);
	return 0;
}

/* The name is the rest of the line: MTD names may contain spaces. */
static int command(char *text)
{
	char *verb = strsep(&text, " ");
	struct entry *e;

	if (!text || !*text)
		return -EINVAL;
	if (!strcmp(verb, "attach"))
		return attach(text);
	if (!strcmp(verb, "trace"))
		return trace(text);
	e = find_entry(text);
	if (!e)
		return -ENODEV;
	if (!strcmp(verb, "detach"))
		detach(e);
	else if (!strcmp(verb, "reset"))
		reset(e->m);
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
	struct entry *e, *next;

	list_for_each_entry_safe(e, next, &entries, list)
		detach(e);
	flashmon_hooks_remove();
	flashmon_proc_exit();
}
module_exit(flashmon_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Counts and traces the requests to MTD devices");
