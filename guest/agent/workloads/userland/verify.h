/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * verify.h - whether a mount gives back the tree that was there before.
 */
#ifndef FFSAGENT_VERIFY_H
#define FFSAGENT_VERIFY_H

#include <stdbool.h>

#include "core/error.h"

/**
 * verify_tree() - read everything below @dir, and write it to, or compare it with, @list.
 * @list: a file; not below @dir.
 * @compare: it was written before, and a difference is an error.
 *
 * Return: 0, or -1 with @error: EBADMSG if something cannot be read, or differs; it has the
 * first names.
 */
int verify_tree(const char *dir, const char *list, bool compare,
		struct ffs_error *error);

#endif
