/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether what a mount knows of itself is true: soundness.c. */
#ifndef LOGFS_TEST_SOUNDNESS_H
#define LOGFS_TEST_SOUNDNESS_H

#include "../../core/device.h"

/* Aborts if something is not. With the lock; nothing of it is cut. */
void judge_soundness(struct logfs_device *dev);

#endif
