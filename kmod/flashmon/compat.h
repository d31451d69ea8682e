/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels that the monitor is built against, 5.10 to
 * 7.3: the only place that asks for a version. Names are ours, since stable
 * kernels take over names of later ones. Each goes when its kernels do.
 */
#ifndef FLASHMON_COMPAT_H
#define FLASHMON_COMPAT_H

#include <linux/mm.h>
#include <linux/proc_fs.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 10, 0)
#error "flashmon needs Linux 5.10: before 5.8 a partition did not say where it is in its master"
#endif

/* What a file of /proc was made with. */
static inline void *compat_proc_data(const struct inode *inode)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 17, 0)
	return PDE_DATA(inode);
#else
	return pde_data(inode);
#endif
}

/* For a mapping that is being made: its lock is held. */
static inline void compat_vm_flags_clear(struct vm_area_struct *vma,
					 unsigned long flags)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
	vma->vm_flags &= ~flags;
#else
	vm_flags_clear(vma, flags);
#endif
}

#endif
