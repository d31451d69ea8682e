// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of the live page, and its mapping into processes.
 *
 * The page is kept for every monitor, whether somebody maps it or not: so a
 * request takes the same way. A mapping holds the page's memory, which therefore
 * outlives its monitor if it must.
 */

#include <linux/mm.h>
#include <linux/proc_fs.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "flashmon.h"

int flashmon_live_alloc(struct flashmon *m)
{
	m->live = vmalloc_user(PAGE_ALIGN(sizeof(*m->live)));
	if (!m->live)
		return -ENOMEM;
	flashmon_live_init(m->live);
	return 0;
}

void flashmon_live_free(struct flashmon *m)
{
	vfree(m->live);
	m->live = NULL;
}

static int live_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct flashmon *m = compat_proc_data(file_inode(file));

	if (vma->vm_flags & VM_WRITE)
		return -EPERM;
	compat_vm_flags_clear(vma, VM_MAYWRITE);
	return remap_vmalloc_range(vma, m->live, vma->vm_pgoff);
}

const struct proc_ops flashmon_live_ops = {
	.proc_mmap = live_mmap,
	.proc_lseek = noop_llseek,
};
