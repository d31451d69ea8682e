/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * space.h - operations that go by how much room a file system has.
 */
#ifndef FFSCRASH_SPACE_H
#define FFSCRASH_SPACE_H

#include <stdint.h>

/**
 * space_fill() - write to the file @path below @root until not more than @keep bytes
 * are free, as statfs() says after a sync.
 *
 * Return: 0 or an errno; that it is full before is none.
 */
int space_fill(int root, const char *path, uint64_t keep);

/**
 * space_turn_over() - write the file @path again and again, each time with fsync(),
 * until twice the size of the file system was written, so that each erase block has
 * been collected; then delete it, and sync.
 *
 * Return: 0 or an errno.
 */
int space_turn_over(int root, const char *path);

#endif
