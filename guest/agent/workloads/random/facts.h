/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * facts.h - what a mounted file system can do at all, found by trying.
 *
 * How long names and links may be, whether there are extended attributes, mappings
 * for writing, RENAME_EXCHANGE: none of it is a mistake, so a history keeps within
 * it.  Nobody has to know it of a file system that is new here.
 */
#ifndef RANDOM_FACTS_H
#define RANDOM_FACTS_H

#include "core/error.h"
#include "workloads/random/options.h"

/**
 * facts_find() - set what @opt has of the file system that holds ->dir.
 *
 * What was made for it is removed.  Return: 0, or -1 with @error.
 */
int facts_find(struct options *opt, struct ffs_error *error);

#endif
