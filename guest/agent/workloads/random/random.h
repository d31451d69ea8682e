/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * random.h - the workload "random": random operations on a file system and on a
 * model of it, compared after each round.  README.md is the contract.
 *
 * The history runs in a process of its own.  What differs ends it wherever it is,
 * and its open files and its memory end with it.
 */
#ifndef RANDOM_H
#define RANDOM_H

#include "core/error.h"
#include "core/record.h"
#include "flash/monitor.h"
#include "workloads/random/options.h"

/**
 * random_workload() - run the history, emit what came of it.
 * @opt: what a plan says; what the file system can do is found out.
 *
 * Return: 0; -1 with @error for a difference, too: it is a failed phase "verify".
 */
int random_workload(struct options *opt, const struct flash_monitor *monitor,
		    struct record_sink *sink, struct ffs_error *error);

#endif
