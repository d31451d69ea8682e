/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * raw.h - a raw flash device written and read from start to end, an erase
 * block at a time, as flashcp and dd do.
 *
 * Bad blocks are skipped.  Contents are made before a block is written; what
 * was read is not compared: ECC says whether it is what was written.
 */
#ifndef FFSAGENT_RAW_H
#define FFSAGENT_RAW_H

#include <stdint.h>

#include "core/error.h"

/** raw_write() - random bytes of @seed into every block of device @mtd. */
int raw_write(const char *mtd, uint64_t seed, struct ffs_error *error);

/** raw_read() - every block of device @mtd. */
int raw_read(const char *mtd, struct ffs_error *error);

#endif
