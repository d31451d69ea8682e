/* SPDX-License-Identifier: GPL-2.0-only */
/* What power cuts left half done: recover.c. */
#ifndef LOGFS_RECOVER_H
#define LOGFS_RECOVER_H

#include "device.h"

/* Without the lock. */
int logfs_recover(struct logfs_device *dev);

#endif
