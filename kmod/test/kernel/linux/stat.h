/* SPDX-License-Identifier: GPL-2.0-only */
/* Stand-in: types of files. */
#ifndef USER_LINUX_STAT_H
#define USER_LINUX_STAT_H

#include <sys/stat.h>

#endif
