/* SPDX-License-Identifier: GPL-2.0-only */
/* Stand-in: logarithms. */
#ifndef USER_LINUX_LOG2_H
#define USER_LINUX_LOG2_H

#define ilog2(n)	(63 - __builtin_clzll(n))

#endif
