/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the description of a NOR chip may state, and what it is without: a part of
 * ../vnand/params.c, which is compiled with it for vnor. There is no OOB, no
 * ECC and no bad block, so none of their keys.
 */

static const struct number_key number_keys[] = {
	NUMBER(page_bytes, 64, 512),
	NUMBER(pages_per_block, 1, 1024),
	NUMBER(blocks, 1, 1 << 20),
	NUMBER(t_prog_byte_ns, 0, SECOND_NS),
	NUMBER(t_prog_ns, 0, SECOND_NS),
	NUMBER(t_erase_ns, 0, SECOND_NS),
	NUMBER(t_command_ns, 0, SECOND_NS),
	NUMBER(bus_read_ps, 0, SECOND_NS),
	NUMBER(bus_write_ps, 0, SECOND_NS),
	NUMBER(driver_read_ns, 0, SECOND_NS),
	NUMBER(driver_program_ns, 0, SECOND_NS),
	NUMBER(driver_erase_ns, 0, SECOND_NS),
	NUMBER(seed, 0, ~0ULL),
	NUMBER(program_fail_ppm, 0, 1000000),
	NUMBER(erase_fail_ppm, 0, 1000000),
	NUMBER(endurance_cycles, 0, 1 << 30),
	NUMBER(worn_cycles, 0, 1 << 30),
};

static const struct vnand_params defaults = {
	.name = "nor0",
	.page_bytes = 256,
	.subpages = 1,
	.pages_per_block = 256,
	.blocks = 512,
	.planes = 1,
	.t_prog_byte_ns = 30000,
	.t_prog_ns = 700000,
	.t_erase_ns = 150000000,
	.store = "ram",
	.rules = VNAND_RULES_COUNT,
	.ecc_step_bytes = 64,	/* divides any page; kmod/vnor_crash counts wrong bits by it */
	.seed = 1,
};
