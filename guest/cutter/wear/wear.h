/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wear.h - blocks that say that they have been erased often.
 *
 * UBI moves what nobody writes to blocks that are worn, when these have been
 * erased some thousand times more than those.  A workload that gets there by itself
 * would take hours, so the counters are written: only they are read.
 */
#ifndef FFSCRASH_WEAR_H
#define FFSCRASH_WEAR_H

#include <stdint.h>

#include "core/error.h"

/**
 * wear_blocks() - every fourth free block of the UBI on @mtd gets @erases more.
 *
 * UBI must not be attached.  A block is free that has an erase counter and nothing
 * else; such a block is erased and its header written again.
 *
 * Return: how many blocks these were, or -1 with @error.
 */
int wear_blocks(const char *mtd, uint64_t erases, struct ffs_error *error);

#endif
