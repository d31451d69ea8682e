// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who asks: a file system, or a program below it, by the character device of the
 * partition (/dev/mtd0), as flash_erase does. Only of flashmon_below and
 * flashmon_nor_below, which the lab loads where it runs programs of others: a
 * longer module takes longer to load, and moves all times after that.
 *
 * MTD does not say. But a program waits in a system call for it, and the first
 * argument of the call is the device's open file: write(), pwrite() and ioctl()
 * are all that changes the flash by it. None of these few instructions is the
 * kernel's, so that in the lab they take no time.
 *
 * Limits: what a program writes by a block device (/dev/mtdblock0) counts as the
 * file system's. So does a whole chip without partitions, of which the kernel does
 * not count the users. Two programs that have the device open at once, without a
 * file system, pass for one.
 */

#include <linux/fdtable.h>
#include <linux/fs.h>
#include <linux/major.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/seq_file.h>

#include <asm/syscall.h>

#include "flashmon.h"

/* Who holds a partition: file systems, UBI, open files, monitors. */
static unsigned int users_of(const struct mtd_info *mtd)
{
#ifdef MTD_HAS_KREF
	return kref_read(&mtd->refcnt) - 1;
#else
	return mtd->usecount;
#endif
}

static bool is_mtd_device(const struct file *file)
{
	const struct inode *inode = file ? file_inode(file) : NULL;

	return inode && S_ISCHR(inode->i_mode) &&
	       imajor(inode) == MTD_CHAR_MAJOR;
}

static bool asks_by_device(void)
{
	unsigned long args[6];
	bool found;

	/* In memory reclaim a task works for others. */
	if (current->flags & (PF_KTHREAD | PF_EXITING | PF_MEMALLOC) ||
	    !current->files)
		return false;
	syscall_get_arguments(current, task_pt_regs(current), args);
	rcu_read_lock();
	found = is_mtd_device(files_lookup_fd_raw(current->files, args[0]));
	rcu_read_unlock();
	return found;
}

static bool is_below(const struct flashmon *m)
{
	/* The monitor and the open file are two. */
	return users_of(m->mtd) > 2 && asks_by_device();
}

void flashmon_below_count(struct flashmon *m, u8 op,
			  const struct flashmon_share *added)
{
	if (op == FLASHMON_OP_READ || !is_below(m))
		return;
	m->below.pages_programmed += added->pages_programmed;
	m->below.blocks_erased += added->blocks_erased;
}

void flashmon_below_show(struct seq_file *to, const struct flashmon *m)
{
	seq_printf(to, "programmed_below %llu\nerased_below %llu\n",
		   READ_ONCE(m->below.pages_programmed),
		   READ_ONCE(m->below.blocks_erased));
}
