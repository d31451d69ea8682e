// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wrapped operations.
 *
 * MTD calls the operations of a master device through pointers in its struct
 * mtd_info; partitions have none of their own and pass through the master with
 * an offset. So one set of wrappers in the master sees every request to the
 * chip, from any file system and any partition, with any driver below, and
 * needs no change to the kernel. That is what makes the monitor usable on boards.
 *
 * A request is timed with local_clock(), which in the lab costs no virtual time.
 */

#include <linux/pid.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>

#include "flashmon.h"

static_assert(sizeof_field(struct flashmon_live_task, name) == TASK_COMM_LEN);

static LIST_HEAD(hooks);

static struct flashmon_hook *find_hook(const struct mtd_info *master)
{
	struct flashmon_hook *hook;

	/* Entries are only added while the module lives; see hook_get(). */
	list_for_each_entry_rcu(hook, &hooks, list, true)
		if (hook->master == master)
			return hook;
	return NULL;
}

struct event {
	u8 op;
	u64 offset;		/* in the master */
	u64 asked_bytes;
	u64 done_bytes;
	u32 oob_pages;
	u32 oob_bytes;
	u64 t_start_ns;
	int result;
	u32 corrected;
};

/* Return: what the request added to the counters. */
static struct flashmon_share count(struct flashmon *m, const struct event *e,
				   const struct flashmon_request *r)
{
	struct flashmon_share before = flashmon_share_of(&m->totals.counters);

	m->totals.counters.corrected_bitflips += e->corrected;
	switch (e->op) {
	case FLASHMON_OP_READ:
		flashmon_count_read(&m->totals, r);
		break;
	case FLASHMON_OP_PROGRAM:
		flashmon_count_program(&m->totals, r);
		break;
	case FLASHMON_OP_ERASE:
		flashmon_count_erase(&m->totals, r);
		break;
	}
	return flashmon_share_since(&before, &m->totals.counters);
}

/* How far the driver got: what it reports, plus the page where it failed. */
static u64 reached_bytes(const struct flashmon_hook *hook, const struct event *e,
			 bool failed)
{
	u32 unit = e->op == FLASHMON_OP_ERASE ? hook->master->erasesize :
						flashmon_page_bytes(hook->master);

	if (!failed || e->op == FLASHMON_OP_READ)
		return e->asked_bytes;
	return min(e->asked_bytes, e->done_bytes + unit);
}

static void account(struct flashmon_hook *hook, const struct event *e)
{
	u64 ns = local_clock() - e->t_start_ns;
	bool failed = e->result < 0 && e->result != -EUCLEAN;
	struct flashmon_share added;
	struct flashmon *m;
	unsigned long flags;

	spin_lock_irqsave(&hook->lock, flags);
	list_for_each_entry(m, &hook->monitors, list) {
		struct flashmon_request r = {
			.offset = e->offset - m->start,
			.data_bytes = reached_bytes(hook, e, failed),
			.oob_pages = e->oob_pages,
			.ns = ns,
			.failed = failed,
		};

		if (e->offset < m->start || r.offset >= m->mtd->size)
			continue;
		added = count(m, e, &r);
		flashmon_below_count(m, e->op, &added);
		flashmon_live_add(m->live, task_pid_nr(current), current->comm,
				  &added);
		if (m->trace.on)
			flashmon_trace_add(m, e->op, e->t_start_ns, &r,
					   e->oob_bytes, flashmon_units(&added),
					   e->result);
	}
	spin_unlock_irqrestore(&hook->lock, flags);
}

/* Pages that a request for OOB alone touches. */
static u32 oob_only_pages(struct mtd_info *master, const struct mtd_oob_ops *ops)
{
	u32 room = mtd_oobavail(master, (struct mtd_oob_ops *)ops);

	if (ops->len || !ops->ooblen || !room)
		return 0;
	return DIV_ROUND_UP(ops->ooboffs + ops->ooblen, room);
}

static int wrap_oob(struct mtd_info *master, loff_t at, struct mtd_oob_ops *ops,
		    u8 op)
{
	struct flashmon_hook *hook = find_hook(master);
	u32 corrected = master->ecc_stats.corrected;
	struct event e = {
		.op = op,
		.offset = at,
		.asked_bytes = ops->len,
		.oob_pages = oob_only_pages(master, ops),
		.oob_bytes = ops->ooblen,
		.t_start_ns = local_clock(),
	};

	atomic_inc(&hook->busy);
	e.result = op == FLASHMON_OP_READ ? hook->read_oob(master, at, ops) :
					    hook->write_oob(master, at, ops);
	e.done_bytes = ops->retlen;
	e.corrected = master->ecc_stats.corrected - corrected;
	account(hook, &e);
	atomic_dec(&hook->busy);
	return e.result;
}

static int wrap_read_oob(struct mtd_info *master, loff_t from,
			 struct mtd_oob_ops *ops)
{
	return wrap_oob(master, from, ops, FLASHMON_OP_READ);
}

static int wrap_write_oob(struct mtd_info *master, loff_t to,
			  struct mtd_oob_ops *ops)
{
	return wrap_oob(master, to, ops, FLASHMON_OP_PROGRAM);
}

static int wrap_read(struct mtd_info *master, loff_t from, size_t len,
		     size_t *retlen, u_char *buf)
{
	struct flashmon_hook *hook = find_hook(master);
	u32 corrected = master->ecc_stats.corrected;
	struct event e = {
		.op = FLASHMON_OP_READ,
		.offset = from,
		.asked_bytes = len,
		.t_start_ns = local_clock(),
	};

	atomic_inc(&hook->busy);
	e.result = hook->read(master, from, len, retlen, buf);
	e.done_bytes = *retlen;
	e.corrected = master->ecc_stats.corrected - corrected;
	account(hook, &e);
	atomic_dec(&hook->busy);
	return e.result;
}

static int wrap_any_write(struct mtd_info *master, loff_t to, size_t len,
			  size_t *retlen, const u_char *buf, bool in_panic)
{
	struct flashmon_hook *hook = find_hook(master);
	struct event e = {
		.op = FLASHMON_OP_PROGRAM,
		.offset = to,
		.asked_bytes = len,
		.t_start_ns = local_clock(),
	};

	/* In a panic nobody reads counters any more, and locks may be held. */
	if (in_panic)
		return hook->panic_write(master, to, len, retlen, buf);
	atomic_inc(&hook->busy);
	e.result = hook->write(master, to, len, retlen, buf);
	e.done_bytes = *retlen;
	account(hook, &e);
	atomic_dec(&hook->busy);
	return e.result;
}

static int wrap_write(struct mtd_info *master, loff_t to, size_t len,
		      size_t *retlen, const u_char *buf)
{
	return wrap_any_write(master, to, len, retlen, buf, false);
}

static int wrap_panic_write(struct mtd_info *master, loff_t to, size_t len,
			    size_t *retlen, const u_char *buf)
{
	return wrap_any_write(master, to, len, retlen, buf, true);
}

static int wrap_erase(struct mtd_info *master, struct erase_info *instr)
{
	struct flashmon_hook *hook = find_hook(master);
	struct event e = {
		.op = FLASHMON_OP_ERASE,
		.offset = instr->addr,
		.asked_bytes = instr->len,
		.t_start_ns = local_clock(),
	};

	atomic_inc(&hook->busy);
	e.result = hook->erase(master, instr);
	if (e.result && instr->fail_addr != MTD_FAIL_ADDR_UNKNOWN)
		e.done_bytes = instr->fail_addr - instr->addr;
	account(hook, &e);
	atomic_dec(&hook->busy);
	return e.result;
}

struct flashmon_hook *flashmon_hook_get(struct mtd_info *master)
{
	struct flashmon_hook *hook = find_hook(master);

	if (hook)
		return hook;
	hook = kzalloc(sizeof(*hook), GFP_KERNEL);
	if (!hook)
		return ERR_PTR(-ENOMEM);
	/* The hook outlives its monitors, so it holds the master itself. */
	if (__get_mtd_device(master)) {
		kfree(hook);
		return ERR_PTR(-ENODEV);
	}
	hook->master = master;
	spin_lock_init(&hook->lock);
	INIT_LIST_HEAD(&hook->monitors);
	hook->read_oob = master->_read_oob;
	hook->write_oob = master->_write_oob;
	hook->read = master->_read;
	hook->write = master->_write;
	hook->panic_write = master->_panic_write;
	hook->erase = master->_erase;
	/* A wrapper may run as soon as its pointer is set: list the hook first. */
	list_add_rcu(&hook->list, &hooks);
	if (hook->read_oob)
		master->_read_oob = wrap_read_oob;
	if (hook->write_oob)
		master->_write_oob = wrap_write_oob;
	if (hook->read)
		master->_read = wrap_read;
	if (hook->write)
		master->_write = wrap_write;
	if (hook->panic_write)
		master->_panic_write = wrap_panic_write;
	if (hook->erase)
		master->_erase = wrap_erase;
	return hook;
}

void flashmon_hooks_remove(void)
{
	struct flashmon_hook *hook, *next;

	list_for_each_entry_safe(hook, next, &hooks, list) {
		struct mtd_info *master = hook->master;

		master->_read_oob = hook->read_oob;
		master->_write_oob = hook->write_oob;
		master->_read = hook->read;
		master->_write = hook->write;
		master->_panic_write = hook->panic_write;
		master->_erase = hook->erase;
		synchronize_rcu();
		while (atomic_read(&hook->busy))
			schedule_timeout_uninterruptible(1);
		list_del_rcu(&hook->list);
		put_mtd_device(master);
		kfree(hook);
	}
}
