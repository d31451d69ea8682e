/* SPDX-License-Identifier: GPL-2.0-only */
/* Stand-in: errors in pointers. */
#ifndef USER_LINUX_ERR_H
#define USER_LINUX_ERR_H

#include <linux/types.h>

#define MAX_ERRNO	4095

#define ERR_PTR(err)	((void *)(long)(err))
#define ERR_CAST(p)	((void *)(p))
#define PTR_ERR(p)	((long)(p))
#define PTR_ERR_OR_ZERO(p)	(IS_ERR(p) ? (int)PTR_ERR(p) : 0)
#define IS_ERR(p)	((unsigned long)(p) >= (unsigned long)-MAX_ERRNO)

#endif
