/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FFSCRASH_TREE_COMMAND_H
#define FFSCRASH_TREE_COMMAND_H

#include "core/error.h"

/** command_walk() - ffscrash walk; @argv begins with "walk"; and likewise tree. */
enum ffs_exit command_walk(int argc, char **argv);
enum ffs_exit command_tree(int argc, char **argv);

#endif
