/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tasks.h - the "tasks" record: what each task asked of the flash in a phase.
 */
#ifndef FFSAGENT_TASKS_H
#define FFSAGENT_TASKS_H

#include "core/record.h"
#include "flash/live.h"

/**
 * tasks_put() - the items of such a list, within a record that is begun.
 *
 * A task that asked for nothing is left out.
 */
void tasks_put(const struct live_snapshot *from, const struct live_snapshot *to,
	       struct record_sink *sink);

/**
 * tasks_record() - emit what happened between two snapshots of the live page.
 */
void tasks_record(const char *workload, const char *phase,
		  const struct live_snapshot *from,
		  const struct live_snapshot *to, struct record_sink *sink);

#endif
