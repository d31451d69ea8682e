/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stand-in: memory. What is asked for while a mutex is held must not come back into the file
 * system, by its flags or by memalloc_nofs_save(): kernel_allocates() sees to that.
 */
#ifndef USER_LINUX_SLAB_H
#define USER_LINUX_SLAB_H

#include <stdlib.h>

#include <linux/kernel.h>
#include <linux/sched/mm.h>

typedef unsigned int gfp_t;

#define GFP_NOFS	1U
#define GFP_KERNEL	3U	/* may call file systems */
#define __GFP_FS	2U
#define __GFP_NOFAIL	4U

/* False: there is no memory. */
bool kernel_allocates(gfp_t flags);
/* Of the allocations that may fail the one after @n others does; U32_MAX: none does. */
void kernel_fail_allocation(u32 n);

static inline void *kmalloc(size_t bytes, gfp_t flags)
{
	return kernel_allocates(flags) ? malloc(bytes) : NULL;
}

static inline void *kcalloc(size_t n, size_t bytes, gfp_t flags)
{
	return kernel_allocates(flags) ? calloc(n, bytes) : NULL;
}

static inline void *kzalloc(size_t bytes, gfp_t flags)
{
	return kcalloc(1, bytes, flags);
}

static inline void *kmemdup(const void *from, size_t bytes, gfp_t flags)
{
	void *to = kmalloc(bytes, flags);

	return to ? memcpy(to, from, bytes) : NULL;
}

static inline void kfree(const void *memory)
{
	free((void *)memory);
}

#endif
