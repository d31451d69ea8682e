// SPDX-License-Identifier: GPL-2.0-only
/*
 * The slots of the live page. What a request adds is the difference that it
 * made to the counters, so that the tasks' sums are the counters, whatever
 * account.c takes for a page.
 *
 * A task is looked for from the first slot on. There are 63, the few tasks of a
 * file system come first, and in the lab the search takes no virtual time. A pid
 * that is used again continues the slot of its former owner.
 *
 * No memcpy() and no memset(): in the lab the guest would be charged for the
 * bytes.
 */

#include "live_slots.h"

enum { LAST = FLASHMON_LIVE_TASKS - 1 };

struct flashmon_share flashmon_share_of(const struct flashmon_counters *c)
{
	return (struct flashmon_share) {
		.pages_read = c->pages_read,
		.pages_programmed = c->pages_programmed,
		.blocks_erased = c->blocks_erased,
		.busy_ns = c->read_ns + c->program_ns + c->erase_ns,
		.oob_pages = c->oob_reads + c->oob_programs,
	};
}

struct flashmon_share flashmon_share_since(const struct flashmon_share *before,
					   const struct flashmon_counters *c)
{
	struct flashmon_share now = flashmon_share_of(c);

	return (struct flashmon_share) {
		.pages_read = now.pages_read - before->pages_read,
		.pages_programmed = now.pages_programmed -
				    before->pages_programmed,
		.blocks_erased = now.blocks_erased - before->blocks_erased,
		.busy_ns = now.busy_ns - before->busy_ns,
		.oob_pages = now.oob_pages - before->oob_pages,
	};
}

/* Between begin_change() and end_change() a reader sees an odd sequence. */
static void begin_change(struct flashmon_live *live)
{
	WRITE_ONCE(live->sequence, live->sequence + 1);
	smp_wmb();	/* odd before the first change */
}

static void end_change(struct flashmon_live *live)
{
	smp_wmb();	/* even after the last change */
	WRITE_ONCE(live->sequence, live->sequence + 1);
}

void flashmon_live_init(struct flashmon_live *live)
{
	live->magic = FLASHMON_LIVE_MAGIC;
	live->version = FLASHMON_LIVE_VERSION;
}

void flashmon_live_clear(struct flashmon_live *live)
{
	begin_change(live);
	WRITE_ONCE(live->tasks, 0);
	end_change(live);
}

static void set_name(struct flashmon_live_task *task, const char *name)
{
	unsigned int i;

	for (i = 0; i < sizeof(task->name) - 1 && name[i]; i++)
		WRITE_ONCE(task->name[i], name[i]);
	for (; i < sizeof(task->name); i++)
		WRITE_ONCE(task->name[i], 0);
}

/* The task's slot; for a new task the next one, and for too many the last. */
static struct flashmon_live_task *find_slot(struct flashmon_live *live, int pid)
{
	struct flashmon_live_task *task = live->task;
	u32 used = live->tasks < LAST ? live->tasks : LAST;

	for (; task < live->task + used; task++)
		if (task->pid == pid)
			return task;
	/* Now the first slot that no task of its own has. */
	if (live->tasks > used)
		return task;
	WRITE_ONCE(task->pid, used == LAST ? FLASHMON_LIVE_OTHERS_PID : pid);
	WRITE_ONCE(task->pages_read, 0);
	WRITE_ONCE(task->pages_programmed, 0);
	WRITE_ONCE(task->blocks_erased, 0);
	WRITE_ONCE(task->busy_ns, 0);
	WRITE_ONCE(task->oob_pages, 0);
	WRITE_ONCE(live->tasks, used + 1);
	return task;
}

void flashmon_live_add(struct flashmon_live *live, int pid, const char *name,
		       const struct flashmon_share *added)
{
	struct flashmon_live_task *task;

	begin_change(live);
	task = find_slot(live, pid);
	set_name(task, task == live->task + LAST ? FLASHMON_LIVE_OTHERS_NAME :
						   name);
	WRITE_ONCE(task->pages_read, task->pages_read + added->pages_read);
	WRITE_ONCE(task->pages_programmed,
		   task->pages_programmed + added->pages_programmed);
	WRITE_ONCE(task->blocks_erased,
		   task->blocks_erased + added->blocks_erased);
	WRITE_ONCE(task->busy_ns, task->busy_ns + added->busy_ns);
	WRITE_ONCE(task->oob_pages, task->oob_pages + added->oob_pages);
	end_change(live);
}
