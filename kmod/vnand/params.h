/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The description of one virtual chip: what the module parameter chip= says.
 */
#ifndef VNAND_PARAMS_H
#define VNAND_PARAMS_H

#include "portable.h"

#define VNAND_NAME_LEN		32
#define VNAND_MAX_PARTS		8
#define VNAND_MAX_BAD		256
#define VNAND_MAX_SUBPAGES	8

enum vnand_wait {
	VNAND_WAIT_POLLED,	/* the driver polls: the CPU is busy */
	VNAND_WAIT_INTERRUPT,	/* the driver sleeps during array operations */
	/* The same, and the tasks are always switched: to check that nobody can tell. */
	VNAND_WAIT_SWITCHING,
};

enum vnand_rules {
	VNAND_RULES_OFF,
	VNAND_RULES_COUNT,	/* count and log violations */
	VNAND_RULES_FATAL,	/* and panic at the first */
};

struct vnand_part {
	char name[VNAND_NAME_LEN];
	u32 first_block;
	u32 blocks;
};

/**
 * struct vnand_params - one chip
 * @name: name of the chip, and of its MTD device if it has no partitions
 * @page_bytes: data bytes of a page, a power of two, 512 to 16384
 * @oob_bytes: spare bytes of a page
 * @subpages: units of a page that can be programmed separately, 1 to 8
 * @pages_per_block: pages of an erase block
 * @blocks: erase blocks of the chip
 * @planes: planes; MTD has no multi-plane command, so this only has to divide
 *	@blocks
 * @t_read_ns: array read (tR)
 * @t_prog_ns: program (tPROG)
 * @t_erase_ns: block erase (tBERS)
 * @t_command_ns: command, address and status overhead of every operation
 * @bus_read_ps: picoseconds per byte from the chip
 * @bus_write_ps: picoseconds per byte to the chip
 * @ecc_read_ns: ECC work per page read
 * @ecc_write_ns: ECC work per page programmed
 * @driver_read_ns: CPU work of the driver for a page read with its OOB
 * @driver_program_ns: the same for a page programmed with its OOB
 * @driver_erase_ns: the same for an erase, which moves no data
 * @wait: who waits during array operations
 * @subpage_read: 1 if a partial read transfers only the sub-pages it touches;
 *	0 if it transfers the page, which the driver then keeps, as the
 *	kernel's raw NAND layer does
 * @store: "ram", or the name of an iomem region
 * @part: partitions; none means one MTD device for the chip
 * @rules: what the rule checker does
 * @nop: how often a page may be programmed between two erases; 0: no limit
 * @ordered: 1 if pages of a block must be programmed in ascending order
 * @ecc_strength_bits: bit errors the ECC corrects per step; 0: no ECC
 * @ecc_step_bytes: data bytes of an ECC step
 * @seed: seed of every fault
 * @factory_bad: block numbers that are bad from the factory
 * @factory_bad_random: how many more, drawn with @seed (not block 0)
 * @program_fail_ppm: program failures per million
 * @erase_fail_ppm: erase failures per million
 * @endurance_cycles: erase count at which a block wears out (each block
 *	varies by up to a tenth); 0: never
 * @rber_e12: raw bit errors per 10^12 bits of a fresh block
 * @rber_wear_e12: added in proportion to erase count / endurance, squared
 * @rber_disturb_e12: added per 1,000 reads of the block since its erase
 * @rber_retention_e12: added per 1,000 hours that the data lie without power, at
 *	the endurance limit; in proportion to erase count / endurance
 * @worn_cycles: erases of every block before the chip's contents began; no
 *	counter has them
 * @shelf_hours: how long the power has been off when the chip is opened
 * @t_prog_byte_ns: of NOR, the program of one byte; @t_prog_ns is that of a page
 */
struct vnand_params {
	char name[VNAND_NAME_LEN];
	u32 page_bytes, oob_bytes, subpages, pages_per_block, blocks, planes;
	u64 t_read_ns, t_prog_ns, t_erase_ns, t_command_ns;
	u64 bus_read_ps, bus_write_ps;
	u64 ecc_read_ns, ecc_write_ns;
	u64 driver_read_ns, driver_program_ns, driver_erase_ns;
	enum vnand_wait wait;
	u32 subpage_read;
	char store[VNAND_NAME_LEN];
	struct vnand_part part[VNAND_MAX_PARTS];
	u32 parts;
	enum vnand_rules rules;
	u32 nop, ordered;
	u32 ecc_strength_bits, ecc_step_bytes;
	u64 seed;
	u32 factory_bad[VNAND_MAX_BAD];
	u32 factory_bads, factory_bad_random;
	u32 program_fail_ppm, erase_fail_ppm, endurance_cycles;
	u64 rber_e12, rber_wear_e12, rber_disturb_e12, rber_retention_e12;
	u32 worn_cycles, shelf_hours;
#ifdef VNOR
	u64 t_prog_byte_ns;
#endif
};

/**
 * vnand_params_parse() - parse one chip= value
 * @text: "key=value;key=value"; modified
 * @params: filled in, with defaults (a 256 MiB SLC chip) for what is not named
 * @message: on error, says what is wrong
 * @message_size: size of @message
 *
 * Return: 0, or -EINVAL with @message set.
 */
int vnand_params_parse(char *text, struct vnand_params *params, char *message,
		       size_t message_size);

#endif
