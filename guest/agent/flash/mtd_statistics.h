/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mtd_statistics.h - what MTD itself counts of a device, without any module.
 *
 * The kernel keeps a few numbers of each device, or partition: bits that the ECC
 * corrected, reads that it could not, bad blocks, and how strong the ECC is.
 * They are in sysfs; kernels before 3.17 have four of them in an ioctl alone.
 * Limits: counts begin with the driver, not with the flash; reads, programs and
 * erases are not among them.
 */
#ifndef FFSAGENT_MTD_STATISTICS_H
#define FFSAGENT_MTD_STATISTICS_H

#include <mtd/mtd-user.h>
#include <stdint.h>

#include "core/error.h"
#include "core/record.h"

#define MTD_STATISTICS 6u

/* In the order of the record's keys; -1: the kernel does not tell. */
struct mtd_statistics {
	int64_t values[MTD_STATISTICS];
};

/** mtd_statistics_sysfs() - what is in the directory of /dev/mtd@number in sysfs. */
void mtd_statistics_sysfs(struct mtd_statistics *statistics, int number);

/** mtd_statistics_fill() - take from @counted what @statistics lacks. */
void mtd_statistics_fill(struct mtd_statistics *statistics,
			 const struct mtd_ecc_stats *counted);

/** mtd_statistics_record() - emit them, without what the kernel does not tell. */
void mtd_statistics_record(const struct mtd_statistics *statistics,
			   const char *name, const char *label,
			   struct record_sink *sink);

/**
 * mtd_statistics_report() - find device @name, and emit its statistics.
 *
 * Return: 0, or -1 with @error if there is no such device.
 */
int mtd_statistics_report(const char *name, const char *label,
			  struct record_sink *sink, struct ffs_error *error);

#endif
