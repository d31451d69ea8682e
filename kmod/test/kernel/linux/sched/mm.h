/* SPDX-License-Identifier: GPL-2.0-only */
/* Stand-in: pieces of code in which no allocation calls file systems. */
#ifndef USER_LINUX_SCHED_MM_H
#define USER_LINUX_SCHED_MM_H

unsigned int memalloc_nofs_save(void);
void memalloc_nofs_restore(unsigned int flags);

#endif
