/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long an operation of NOR flash takes, beside what ../vnand/timing.h declares.
 */
#ifndef VNOR_TIMING_H
#define VNOR_TIMING_H

#include "../vnand/timing.h"

/* More bytes of a read that is under way: the bus alone. */
struct vnand_duration vnor_time_read_on(const struct vnand_params *p, u32 bytes);

#endif
