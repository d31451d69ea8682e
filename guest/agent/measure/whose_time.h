/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * whose_time.h - which task had the time of a phase, and what for.
 *
 * The lab's time page says for each name of a task how long it had the CPU for its
 * code, how long for the flash's driver, and how long a chip was busy meanwhile.
 * Reading it takes no time. Elsewhere nobody knows.
 */
#ifndef FFSAGENT_WHOSE_TIME_H
#define FFSAGENT_WHOSE_TIME_H

#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"
#include "core/record.h"

struct whose_time {
	uint64_t t_end_ns;	/* 0: it has not ended, or nobody knows */
	size_t n;		/* tasks of the page, in its order */
	uint64_t ns[VTIME_TASKS][VTIME_PARTS];
};

/** whose_time_begin() - the part of the plan whose time it is begins now. */
void whose_time_begin(struct whose_time *whose);

/** whose_time_end() - and ends now: what tasks had since is kept. */
void whose_time_end(struct whose_time *whose);

/**
 * whose_time_put() - "task_times": [{task}, ...] inside another record.
 * @t_end_ns: when what the record is about ended.
 *
 * Tasks that had nothing are left out. It puts nothing if the end was noted at
 * another time than @t_end_ns: the sum would not be the phase's time.
 */
void whose_time_put(const struct whose_time *whose, uint64_t t_end_ns,
		    struct record_sink *sink);

#endif
