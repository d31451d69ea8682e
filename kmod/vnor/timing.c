// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timing model of NOR flash on a serial bus: a read is a command and as many
 * bytes as are asked for, a program is a command for each page it touches, and
 * takes longer the more bytes it has.
 *
 * What the driver does is the same for a read of any size, and for a program of
 * any part of a page: the controller moves the bytes.
 *
 * Limits: t_command_ns is that of a read; a program or erase sends some 16 clocks
 * more, of hundreds of microseconds. A controller that cannot read more than so
 * many bytes with one command is not modelled.
 */

#include "timing.h"

/* params.c bounds prices to 10^9 and sizes to 2^9, so products fit 64 bits. */
static u64 bus_ns(u32 bytes, u64 ps_per_byte)
{
	return vnand_div(bytes * ps_per_byte, 1000);
}

/* One byte as stated, a page as stated, and what is between in proportion. */
static u64 prog_ns(const struct vnand_params *p, u32 bytes)
{
	u64 more_ns = p->t_prog_ns - p->t_prog_byte_ns;

	return p->t_prog_byte_ns +
	       vnand_div(more_ns * (bytes - 1), p->page_bytes - 1);
}

struct vnand_duration vnand_time_read(const struct vnand_params *p,
				      u32 data_bytes, u32 oob_bytes)
{
	(void)oob_bytes;	/* there is none */
	return (struct vnand_duration){
		.busy_ns = p->t_command_ns,
		.bus_ns = bus_ns(data_bytes, p->bus_read_ps),
		.driver_ns = p->driver_read_ns,
	};
}

struct vnand_duration vnor_time_read_on(const struct vnand_params *p, u32 bytes)
{
	return (struct vnand_duration){
		.bus_ns = bus_ns(bytes, p->bus_read_ps),
	};
}

struct vnand_duration vnand_time_program(const struct vnand_params *p,
					 u32 data_bytes, u32 oob_bytes)
{
	(void)oob_bytes;
	return (struct vnand_duration){
		.busy_ns = p->t_command_ns,
		.bus_ns = bus_ns(data_bytes, p->bus_write_ps),
		.array_ns = prog_ns(p, data_bytes),
		.driver_ns = p->driver_program_ns,
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
