/* SPDX-License-Identifier: GPL-2.0-only */
/* Assertions about whole structures: check.c, which is only there where assertions are. */
#ifndef LOGFS_CHECK_H
#define LOGFS_CHECK_H

#include "device.h"

/* All that is in memory fits together. With the lock, after an operation. */
void logfs_check_whole(struct logfs_device *dev);

static inline void logfs_check(struct logfs_device *dev)
{
	if (INVARIANTS)
		logfs_check_whole(dev);
}

#endif
