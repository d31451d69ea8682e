/* SPDX-License-Identifier: GPL-2.0-only */
/* Stand-in: large pieces of memory. */
#ifndef USER_LINUX_VMALLOC_H
#define USER_LINUX_VMALLOC_H

#include <linux/slab.h>

#define __vmalloc(bytes, flags)	kmalloc(bytes, flags)
#define vzalloc(bytes)		kzalloc(bytes, GFP_KERNEL)
#define vfree(memory)		kfree(memory)

#endif
