/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * series.h - one power cut after the other on one flash.
 *
 * In each cycle the file system is mounted and looked at, some calls are made
 * (slots.h), and it is unmounted, while the chip logs all that happens to the
 * flash.  Then the power is cut at one of these operations, anywhere between the
 * beginning of the mount and the end of the unmount: the flash becomes what it
 * was then, and stays so.  The next cycle's mount is the recovery.  What is
 * printed:
 *
 *	cut CYCLE K KIND VARIANT OPERATIONS	at K of so many; written before
 *						the mount that follows
 *	wrong CYCLE OUTCOME NAME		what that mount found (check.h), or
 *						mount-fails, read-only, use-fails,
 *						kernel-warning
 *	message CYCLE, the kernel's lines, end	before "kernel-warning"
 *	recovery CYCLE KIND READS PROGRAMS ERASES	every mount's, with attach
 *	space CYCLE BYTES BLOCKS FREE BAD ERASES ERASES_MAX
 *						from time to time: bytes of the
 *						file that fills it, statfs() when
 *						all is deleted; of the chip's
 *						blocks how many are marked bad, all
 *						erases, and those of the worst
 *	turned CYCLE ERASED BLOCKS BYTES	after this cut the flash was turned over
 *						(acts.h): so many of its blocks were
 *						erased by writing so much
 *	ended CYCLES
 *
 * and from ->tell_from on, before the line of the cut: the calls (slots_tell()),
 * "message CYCLE" as above, and "log CYCLE", the chip's log, "end".
 *
 * After a mount that fails the power cut is made undone (its operation is "lost"),
 * and the series goes on; if that cannot be mounted either it ends with "stuck".
 */
#ifndef FFSCRASH_SERIES_H
#define FFSCRASH_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "series/acts.h"
#include "walk/device.h"

#define SERIES_KINDS_MAX 8
#define SERIES_SPARED_MAX 64

struct series {
	struct filesystem fs;
	const char *chip;
	uint64_t first, cuts, seed;	/* cuts so far, and in all */
	uint64_t space_every;		/* 0: never */
	uint64_t tell_from;		/* from this cycle on all is told */
	const char *kinds[SERIES_KINDS_MAX];
	size_t kinds_n;
	uint64_t spared[SERIES_SPARED_MAX];	/* cycles whose cut is "lost" */
	size_t spared_n;
	const char *own_name;		/* directory of the file system's own */
	const char *reordered[SERIES_KINDS_MAX];	/* of a torn page any part is there */
	size_t reordered_n;
	struct acts acts;		/* which there are */
	bool returned_is_durable;
	bool two_names;			/* after a rename that was cut */
	int output;
};

/** series_run() - all cuts; the chip stands at the end of its log. */
int series_run(const struct series *series, struct ffs_error *error);

/** command_series() - ffscrash series; @argv begins with "series". */
enum ffs_exit command_series(int argc, char **argv);

#endif
