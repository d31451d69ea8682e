/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long an operation takes: the time in which the chip is served and the CPU
 * is needed in any wait model (commands and software ECC; bus transfers by
 * programmed I/O, told apart); the time in which only the chip's array works; and
 * what the driver's own code costs the CPU, which is no time of the chip.
 */
#ifndef VNAND_TIMING_H
#define VNAND_TIMING_H

#include "params.h"

struct vnand_duration {
	u64 busy_ns;	/* command, ECC */
	u64 bus_ns;	/* the bytes on the bus */
	u64 array_ns;	/* tR, tPROG or tBERS */
	u64 driver_ns;	/* interrupt, copy loops, verify: CPU time */
};

/* @data_bytes and @oob_bytes cross the bus; ECC work is in proportion to data. */
struct vnand_duration vnand_time_read(const struct vnand_params *p,
				      u32 data_bytes, u32 oob_bytes);
struct vnand_duration vnand_time_program(const struct vnand_params *p,
					 u32 data_bytes, u32 oob_bytes);
struct vnand_duration vnand_time_erase(const struct vnand_params *p);

#endif
