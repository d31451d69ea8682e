/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * monitor.h - reads the flash monitor's files (docs/plan-format.md, section 5).
 *
 * A snapshot is every counter and every block's erases, programs and reads at
 * one moment, and where the chip counts too, its own counters.  It is taken at
 * the edges of a phase, outside its timed region, and emitted later.  Memory for
 * the blocks is allocated by the first snapshot and kept, so that a snapshot
 * before a phase does not disturb it.
 *
 * Limits: 64 counters, names up to 42 bytes; 2^24 blocks.
 */
#ifndef FFSAGENT_MONITOR_H
#define FFSAGENT_MONITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/record.h"

#define MONITOR_COUNTERS_MAX 64
#define MONITOR_NAME_BYTES 48

/* Where to look: the monitor on an MTD device. */
struct flash_monitor {
	const char *mtd;
	const char *chip;	/* file of the chip's own counters; "": it has none */
};

struct flash_counter {
	char name[MONITOR_NAME_BYTES];
	uint64_t value;
};

struct flash_block {
	uint64_t erases, programs, reads;
};

struct flash_snapshot {
	bool taken;
	uint64_t t_ns;
	size_t n_counters;
	struct flash_counter counters[MONITOR_COUNTERS_MAX];
	size_t n_blocks, room;
	struct flash_block *blocks;
};

/** monitor_attach() - attach flashmon to the MTD device of that name. */
int monitor_attach(const char *mtd, struct ffs_error *error);
/** monitor_trace() - switch its trace. */
int monitor_trace(const char *mtd, bool on, struct ffs_error *error);

/**
 * snapshot_before() - read both files of the monitor, and the chip's counters,
 * whose names get the prefix "chip_": right before something is to be counted.
 * @monitor: NULL: there is none, the snapshot is marked as not taken.
 *
 * The blocks take long.  They are read first here, and last in
 * snapshot_after(), so that nothing lies between the counters and what is to be
 * counted: a background task may work at any time.
 */
int snapshot_before(struct flash_snapshot *snapshot,
		    const struct flash_monitor *monitor,
		    struct ffs_error *error);
/** snapshot_after() - the same right after it. */
int snapshot_after(struct flash_snapshot *snapshot,
		   const struct flash_monitor *monitor,
		   struct ffs_error *error);
/** snapshot_take_counters() - the same without the blocks. */
int snapshot_take_counters(struct flash_snapshot *snapshot,
			   const struct flash_monitor *monitor,
			   struct ffs_error *error);
void snapshot_free(struct flash_snapshot *snapshot);

/** snapshot_counter() - the counter of that name, 0 if there is none. */
uint64_t snapshot_counter(const struct flash_snapshot *snapshot,
			  const char *name);

/** snapshot_record() - emit a "flash" record; nothing if none was taken. */
void snapshot_record(const struct flash_snapshot *snapshot, const char *label,
		     struct record_sink *sink);
/** snapshot_put_counters() - "key": {counters} inside another record. */
void snapshot_put_counters(const struct flash_snapshot *snapshot,
			   const char *key, struct record_sink *sink);

#endif
