/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * grown.h - when blocks are marked bad while a file system writes.
 *
 * MTD counts the bad blocks of a device; its count is asked for again and again,
 * which takes a system call, and each rise is kept with how much had been
 * written.  What is not known (no MTD device, no such count) is not recorded.
 *
 * Limit: the first 1,024 rises.
 */
#ifndef FFSAGENT_WEAR_GROWN_H
#define FFSAGENT_WEAR_GROWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/record.h"
#include "flash/monitor.h"

#define GROWN_MAX 1024

struct grown {
	int fd;			/* of the MTD device; -1: none */
	uint64_t before, last;	/* bad blocks */
	size_t n;
	struct {
		uint64_t written, bad_blocks;
	} rises[GROWN_MAX];
};

/** grown_open() - note how many blocks are bad now.  @monitor: or NULL. */
void grown_open(struct grown *grown, const struct flash_monitor *monitor);

/**
 * grown_look() - whether blocks have been marked bad since the last look.
 * @written: bytes, which is kept beside the count if so.
 */
bool grown_look(struct grown *grown, uint64_t written);

/** grown_record() - emit the record "grown"; nothing without a count. */
void grown_record(const struct grown *grown, struct record_sink *sink);

void grown_close(struct grown *grown);

#endif
