/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mtd.h - raw flash devices: finding one by name, describing and erasing it.
 *
 * Devices are named as in /proc/mtd, because numbers change with the order in
 * which drivers load.  Limit: of two devices of one name the first is taken.
 */
#ifndef FFSAGENT_MTD_H
#define FFSAGENT_MTD_H

#include "error.h"
#include "record.h"

/** mtd_find() - the number of the MTD device @name, or -1 with @error. */
int mtd_find(const char *name, struct ffs_error *error);

/** mtd_record() - emit the "mtd" record of device @name. */
int mtd_record(const char *name, struct record_sink *sink,
	       struct ffs_error *error);

/** mtd_page_bytes() - the write unit of device @name, 0 if unknown. */
int64_t mtd_page_bytes(const char *name);

/**
 * mtd_erase() - erase every good block of device @name.
 *
 * Bad blocks are skipped.  A block that fails to erase ends the step: the
 * driver has marked it bad, and the report should say so.
 */
int mtd_erase(const char *name, struct ffs_error *error);

#endif
