/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * attributes.h - operations of a history that change what is said of a file: its mode, its
 * mtime, its extended attributes.
 */
#ifndef FFSCRASH_ATTRIBUTES_H
#define FFSCRASH_ATTRIBUTES_H

#include "history/history.h"

/** attribute_change() - mode, mtime, or no attribute any more. Return: 0 or an errno. */
int attribute_change(int root, const struct op *op);

/** attribute_set() - ->bytes of @value. Return: 0 or an errno. */
int attribute_set(int root, const struct op *op, const void *value);

#endif
