/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tree.h - the steps tree-*: make a tree of files, go through it, find in it,
 * copy, check and delete it.  Each is one measured phase.
 *
 * They do what mkdir, ls -R, find, cp -a and rm -r ask of a file system, without
 * their start and their output.  Names are looked up in the directory that
 * holds them, as modern tools do.
 */
#ifndef FFSAGENT_TREE_H
#define FFSAGENT_TREE_H

#include "core/error.h"
#include "core/record.h"
#include "flash/monitor.h"
#include "plan/plan.h"

/**
 * tree_step() - execute one of these steps and emit its records.
 * @monitor: where to look, or NULL.
 *
 * Return: 0, or -1 with @error.  What was done before a failure is emitted all
 * the same.
 */
int tree_step(const struct plan_step *step,
	      const struct flash_monitor *monitor,
	      struct record_sink *sink, struct ffs_error *error);

#endif
