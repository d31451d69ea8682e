// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timing model: a command overhead, one array time per operation, a price
 * per byte on the bus in each direction, ECC time per page, and the CPU work of
 * the board's driver, whose own code is not here to be counted.
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

/*
 * An erase moves no data, so its figure is what any operation costs the driver
 * before the first byte; the rest of a page's figure is in proportion to the
 * bytes that it moves. A whole page with its OOB costs what the board says.
 */
static u64 driver_ns(const struct vnand_params *p, u64 page_ns, u32 bytes)
{
	u64 fixed = page_ns < p->driver_erase_ns ? page_ns : p->driver_erase_ns;

	return fixed + vnand_div((page_ns - fixed) * bytes,
				 p->page_bytes + p->oob_bytes);
}

struct vnand_duration vnand_time_read(const struct vnand_params *p,
				      u32 data_bytes, u32 oob_bytes)
{
	return (struct vnand_duration){
		.busy_ns = p->t_command_ns +
			   ecc_ns(p, p->ecc_read_ns, data_bytes),
		.bus_ns = bus_ns(data_bytes + oob_bytes, p->bus_read_ps),
		.array_ns = p->t_read_ns,
		.driver_ns = driver_ns(p, p->driver_read_ns,
				       data_bytes + oob_bytes),
	};
}

struct vnand_duration vnand_time_program(const struct vnand_params *p,
					 u32 data_bytes, u32 oob_bytes)
{
	return (struct vnand_duration){
		.busy_ns = p->t_command_ns +
			   ecc_ns(p, p->ecc_write_ns, data_bytes),
		.bus_ns = bus_ns(data_bytes + oob_bytes, p->bus_write_ps),
		.array_ns = p->t_prog_ns,
		.driver_ns = driver_ns(p, p->driver_program_ns,
				       data_bytes + oob_bytes),
	};
}

struct vnand_duration vnand_time_erase(const struct vnand_params *p)
{
	return (struct vnand_duration){
		.busy_ns = p->t_command_ns,
		.array_ns = p->t_erase_ns,
		.driver_ns = p->driver_erase_ns,
	};
}
