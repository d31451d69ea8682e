/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stand-ins for headers of the kernel, so that the core of a file system compiles in user
 * space: as much of them as ours use. kernel.c has their functions.
 */
#ifndef USER_LINUX_TYPES_H
#define USER_LINUX_TYPES_H

#include <sys/types.h>

#include "../../../portable.h"

#endif
