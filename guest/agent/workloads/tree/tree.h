/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tree.h - the steps tree-*: make a tree of files, go through it, find in it,
 * read files of it, copy, check and delete it.  Each is one measured phase.
 *
 * They do what mkdir, ls -R, find, cp -a and rm -r ask of a file system, without
 * their start and their output.  Names are looked up in the directory that
 * holds them, as modern tools do.
 */
#ifndef FFSAGENT_TREE_H
#define FFSAGENT_TREE_H

#include "core/error.h"
#include "plan/plan.h"
#include "steps/step.h"
#include "workloads/tree/run.h"

/**
 * tree_step() - execute one of these steps and emit its records.
 * @function: does the work; one of run.h.
 *
 * Return: 0, or -1 with @error.  What was done before a failure is emitted all
 * the same.
 */
int tree_step(tree_function function, const struct plan_step *step,
	      struct run_state *state, struct ffs_error *error);

#endif
