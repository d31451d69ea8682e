// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timing model: a command overhead, one array time per operation, a price
 * per byte on the bus in each direction, and ECC time per page.
 *
 * Limits: no cache read or cache program, no multi-plane operations (MTD does
 * not issue them), tPROG and tBERS do not vary with wear or page number.
 */

#include "timing.h"

/* params.c bounds prices to 10^9 and sizes to 2^15, so products fit 64 bits. */
static u64 bus_ns(u32 bytes, u64 ps_per_byte)
{
	return vnand_div(bytes * ps_per_byte, 1000);
}

static u64 ecc_ns(const struct vnand_params *p, u64 page_ns, u32 bytes)
{
	return vnand_div(page_ns * bytes, p->page_bytes);
}

struct vnand_duration vnand_time_read(const struct vnand_params *p,
				      u32 data_bytes, u32 oob_bytes)
{
	return (struct vnand_duration){
		.busy_ns = p->t_command_ns +
			   bus_ns(data_bytes + oob_bytes, p->bus_read_ps) +
			   ecc_ns(p, p->ecc_read_ns, data_bytes),
		.array_ns = p->t_read_ns,
	};
}

struct vnand_duration vnand_time_program(const struct vnand_params *p,
					 u32 data_bytes, u32 oob_bytes)
{
	return (struct vnand_duration){
		.busy_ns = p->t_command_ns +
			   bus_ns(data_bytes + oob_bytes, p->bus_write_ps) +
			   ecc_ns(p, p->ecc_write_ns, data_bytes),
		.array_ns = p->t_prog_ns,
	};
}

struct vnand_duration vnand_time_erase(const struct vnand_params *p)
{
	return (struct vnand_duration){
		.busy_ns = p->t_command_ns,
		.array_ns = p->t_erase_ns,
	};
}
