/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FFSCRASH_WALK_COMMAND_H
#define FFSCRASH_WALK_COMMAND_H

#include "core/error.h"

/** command_walk() - ffscrash walk; @argv begins with "walk". */
enum ffs_exit command_walk(int argc, char **argv);

#endif
