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

void kernel_allocates(gfp_t flags);

static inline void *kmalloc(size_t bytes, gfp_t flags)
{
	kernel_allocates(flags);
	return malloc(bytes);
}

static inline void *kcalloc(size_t n, size_t bytes, gfp_t flags)
{
	kernel_allocates(flags);
	return calloc(n, bytes);
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
