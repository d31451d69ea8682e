/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The trace: a header, then records in the order in which the operations ended.
 * All numbers are little-endian. The same bytes are in a trace region (a host
 * file, in the lab) and in /proc/flashmon/NAME/trace.
 */
#ifndef FLASHMON_TRACE_FORMAT_H
#define FLASHMON_TRACE_FORMAT_H

#include <linux/build_bug.h>
#include <linux/types.h>

#define FLASHMON_TRACE_MAGIC	"FLASHMON"
#define FLASHMON_TRACE_VERSION	2

struct flashmon_trace_header {
	u8 magic[8];
	__le32 version;
	__le32 record_bytes;
	__le64 records;		/* in the buffer */
	__le64 dropped;		/* came after the buffer was full */
	__le32 page_bytes;
	__le32 block_bytes;
	u8 unused[24];
};

static_assert(sizeof(struct flashmon_trace_header) == 64);

enum {
	FLASHMON_OP_READ = 1,
	FLASHMON_OP_PROGRAM = 2,
	FLASHMON_OP_ERASE = 3,
};

struct flashmon_record {
	__le64 t_start_ns;
	__le64 duration_ns;
	__le32 block;		/* first erase block */
	__le32 page;		/* first page, in that block */
	__le32 data_bytes;	/* of an erase: bytes erased */
	__le32 oob_bytes;
	__le32 result;		/* what the driver returned, signed */
	__le32 pid;
	u8 op;
	u8 unused[3];
	u8 task[16];		/* name of the task, zero-terminated */
	__le32 pages;		/* or blocks, as added to the counters */
};

static_assert(sizeof(struct flashmon_record) == 64);

#endif
