/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sample_files.h - the step sample-files: writes some files, then syncs them.
 *
 * Phases: write (each file is created, written and closed), sync (what is left
 * in memory goes to the flash).  Everything is reserved before the first; all
 * records leave after the last.
 */
#ifndef FFSAGENT_SAMPLE_FILES_H
#define FFSAGENT_SAMPLE_FILES_H

#include <stdint.h>

#include "core/error.h"
#include "core/record.h"
#include "flash/monitor.h"

#define SAMPLE_FILES_BYTES_MAX (1 << 20)

struct sample_files_params {
	const char *dir;
	uint64_t files;
	uint64_t file_bytes;
	uint64_t seed;
};

/**
 * sample_files_workload() - run it once.
 * @monitor: where to look, or NULL.
 *
 * Return: 0, or -1 with @error: ENOSPC if the partition is full.  What was
 * measured before a failure is emitted all the same.
 */
int sample_files_workload(const struct sample_files_params *params,
			  const struct flash_monitor *monitor,
			  struct record_sink *sink, struct ffs_error *error);

#endif
