/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * probe.h - one operation of the flash or of the kernel, many times: a phase of
 * its own, with the CPU time of all, and of the flash the latency of each.
 *
 * `ffslab calibrate` finds a board's figures from such phases.  A probe asks for
 * as little as possible beside the operation that it is about.  The CPU time is
 * that of the task that asks (CLOCK_THREAD_CPUTIME_ID): what is missing of the
 * time that passed, it slept, as a driver does that waits for an interrupt.
 *
 * Limits: of two processes that take turns (switch) the CPU time of one says
 * nothing, and is left out.  What user-copy and user-crc32 do is free in the lab.
 */
#ifndef FFSAGENT_PROBE_H
#define FFSAGENT_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "core/record.h"
#include "flash/monitor.h"
#include "measure/latency.h"
#include "measure/measure.h"

#define PROBE_BLOCKS_MAX 65536
#define PROBE_COUNT_MAX 100000000
#define PROBE_BYTES_MAX (64 << 20)

enum probe_flash_op {
	PROBE_ERASE, PROBE_PROGRAM, PROBE_PROGRAM_OOB,
	PROBE_READ, PROBE_READ_PART, PROBE_READ_OOB,
	PROBE_PROGRAM_PART, PROBE_READ_BLOCK, PROBE_FLASH_OPS,
};

enum probe_cpu_op {
	PROBE_SYSCALL, PROBE_OPEN, PROBE_SWITCH, PROBE_COPY, PROBE_SET,
	PROBE_USER_COPY, PROBE_USER_CRC32, PROBE_CPU_OPS,
};

/* For the keys of a plan; both end at NULL. */
extern const char *const probe_flash_names[PROBE_FLASH_OPS + 1];
extern const char *const probe_cpu_names[PROBE_CPU_OPS + 1];

struct probe {
	const char *phase, *what;
	uint64_t count, bytes;	/* operations, and bytes of each */
	bool has_cpu;
	uint64_t cpu_ns, clock;
	struct latency latency;
	struct measure measure;
};

/** probe_begin() - start the time, when all that is needed is allocated. */
int probe_begin(struct probe *probe, const struct flash_monitor *monitor,
		struct ffs_error *error);

/** probe_done() - one operation has ended; the next begins. */
void probe_done(struct probe *probe);

/**
 * probe_end() - stop the time, and emit the records.
 * @result: 0, or -1 with @error describing why an operation failed.
 *
 * Return: 0, or -1 with @error, in which the operation's own failure goes first.
 */
int probe_end(struct probe *probe, const struct flash_monitor *monitor,
	      int result, struct record_sink *sink, struct ffs_error *error);

/**
 * probe_flash() - @op on each block, or each page, of the first @blocks good
 * blocks of the device @mtd; pages that are programmed must be erased.
 * @page_bytes: of what counts as a page where the device writes single bytes, as
 * NOR flash does; 0: the device's own.
 *
 * Of PROBE_READ_PART and PROBE_PROGRAM_PART a request is @probe's bytes of each
 * page.
 */
int probe_flash(struct probe *probe, const char *mtd, enum probe_flash_op op,
		uint64_t blocks, uint64_t page_bytes, uint64_t seed,
		const struct flash_monitor *monitor, struct record_sink *sink,
		struct ffs_error *error);

/** probe_cpu() - @op so many times. */
int probe_cpu(struct probe *probe, enum probe_cpu_op op,
	      const struct flash_monitor *monitor, struct record_sink *sink,
	      struct ffs_error *error);

#endif
