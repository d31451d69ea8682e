// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations of the chip on its pages and blocks. Each does the same things in
 * the same order: check the rules, decide about faults, change the contents,
 * count, and let the time pass.
 *
 * A power cut will be one more decision, in begin_operation(): every read,
 * program and erase passes there once, in order.
 */

#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/printk.h>
#include <linux/sched.h>

#include "vnand.h"

/* Violations are counted without limit and logged up to this many. */
#define MAX_LOGGED_VIOLATIONS 16

static void busy_wait(u64 ns)
{
	u64 us = div_u64(ns, 1000);

	/* On real machines udelay() is exact up to some ms only. */
	for (; us > 1000; us -= 1000)
		udelay(1000);
	if (us)
		udelay(us);
	ndelay(ns % 1000);
}

static void sleep_ns(u64 ns)
{
	ktime_t time = ns_to_ktime(ns);

	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_hrtimeout(&time, HRTIMER_MODE_REL);
}

/* @kind_ns: the counter of this kind of operation */
static void pass_time(struct vnand_chip *chip, u64 *kind_ns,
		      struct vnand_duration time)
{
	u64 served_ns = time.driver_ns + time.busy_ns + time.bus_ns;

	*kind_ns += time.busy_ns + time.array_ns;
	chip->counters.transfer_ns += time.bus_ns;
	chip->counters.driver_ns += time.driver_ns;
	if (!served_ns && !time.array_ns)
		return;
	if (chip->p.wait == VNAND_WAIT_POLLED || !time.array_ns) {
		busy_wait(served_ns + time.array_ns);
		return;
	}
	busy_wait(served_ns);
	sleep_ns(time.array_ns);
}

static void begin_operation(struct vnand_chip *chip)
{
	lockdep_assert_held(&chip->lock);
}

static void report_violation(struct vnand_chip *chip,
			     enum vnand_violation violation, u32 block, u32 page)
{
	u64 seen = 0;
	int i;

	if (violation == VNAND_OK || chip->p.rules == VNAND_RULES_OFF)
		return;
	chip->counters.violations[violation]++;
	for (i = 1; i < VNAND_VIOLATIONS; i++)
		seen += chip->counters.violations[i];
	if (seen > MAX_LOGGED_VIOLATIONS)
		return;
	pr_err("vnand: rule violation: %s: chip %s block %u page %u by %s[%d]\n",
	       vnand_violation_name[violation], chip->p.name, block, page,
	       current->comm, task_pid_nr(current));
	dump_stack();
	if (chip->p.rules == VNAND_RULES_FATAL)
		panic("vnand: rule violation: %s",
		      vnand_violation_name[violation]);
}

static void count(__le32 *counter)
{
	*counter = cpu_to_le32(le32_to_cpu(*counter) + 1);
}

static bool has_flag(const struct vnand_image_block *b, u32 flag)
{
	return le32_to_cpu(b->flags) & flag;
}

static void set_flag(struct vnand_image_block *b, u32 flag)
{
	b->flags = cpu_to_le32(le32_to_cpu(b->flags) | flag);
}

bool vnand_chip_is_bad(struct vnand_chip *chip, u32 block)
{
	return has_flag(&chip->store.block[block], VNAND_BLOCK_BAD);
}

void vnand_chip_mark_bad(struct vnand_chip *chip, u32 block)
{
	set_flag(&chip->store.block[block], VNAND_BLOCK_BAD);
	pass_time(chip, &chip->counters.program_ns,
		  vnand_time_program(&chip->p, 0, chip->p.oob_bytes));
}

/* Applies the bit errors of one ECC step to what was read of it. */
static void read_step(struct vnand_chip *chip, struct vnand_read *r, u32 step)
{
	const struct vnand_params *p = &chip->p;
	u32 block = vnand_block_of(chip, r->page);
	const struct vnand_image_block *b = &chip->store.block[block];
	u32 place[VNAND_MAX_BITFLIPS];
	u32 wrong, i;

	wrong = vnand_bitflips(p, block, r->page, step, le32_to_cpu(b->erases),
			       le32_to_cpu(b->reads_since_erase), place);
	if (!r->raw && wrong <= p->ecc_strength_bits) {
		r->bitflips = max(r->bitflips, wrong);
		r->corrected += wrong;
		chip->counters.bitflips_corrected += wrong;
		return;
	}
	if (!r->raw && p->ecc_strength_bits) {
		r->uncorrectable++;
		chip->counters.steps_uncorrectable++;
	}
	for (i = 0; r->data && i < wrong; i++) {
		u32 at = step * p->ecc_step_bytes + place[i] / 8;

		if (at >= r->column && at < r->column + r->data_bytes)
			r->data[at - r->column] ^= 1 << (place[i] % 8);
	}
}

/* Half of the data with the ECC of the whole, or without: no step can be corrected. */
static void read_torn(struct vnand_chip *chip, struct vnand_read *r, u32 bytes)
{
	u32 steps = bytes / chip->p.ecc_step_bytes;

	if (r->raw || !chip->p.ecc_strength_bits)
		return;
	r->uncorrectable += steps;
	chip->counters.steps_uncorrectable += steps;
}

/* The bytes that cross the bus for this read: the page, or its sub-pages. */
static void transferred(const struct vnand_params *p,
			const struct vnand_read *r, u32 *first, u32 *bytes)
{
	u32 unit = p->subpage_read ? p->page_bytes / p->subpages : p->page_bytes;
	u32 end;

	if (!r->data) {
		*first = 0;
		*bytes = 0;
		return;
	}
	*first = round_down(r->column, unit);
	end = round_up(r->column + r->data_bytes, unit);
	*bytes = end - *first;
}

/*
 * A part of a page reaches the caller through the driver's buffer, and that copy
 * is work of the guest's CPU.
 */
static void copy_data(struct vnand_chip *chip, struct vnand_read *r,
		      const u8 *from)
{
	if (r->data_bytes < chip->p.page_bytes)
		memcpy(r->data, from, r->data_bytes);
	else
		vnand_copy(r->data, from, r->data_bytes);
}

static void copy_contents(struct vnand_chip *chip, struct vnand_read *r)
{
	const struct vnand_page_state *state = &chip->store.page[r->page];
	const u8 *from = state->programs ? vnand_store_page(chip, r->page) : NULL;

	if (!from) {
		if (r->data)
			vnand_fill(r->data, 0xff, r->data_bytes);
		if (r->oob)
			vnand_fill(r->oob, 0xff, chip->p.oob_bytes);
	} else {
		if (r->data)
			copy_data(chip, r, from + r->column);
		if (r->oob)
			vnand_copy(r->oob, from + chip->p.page_bytes,
				   chip->p.oob_bytes);
	}
	/* The mark of a bad block: a zero in its first page's OOB. */
	if (r->oob && r->page % chip->p.pages_per_block == 0 &&
	    vnand_chip_is_bad(chip, vnand_block_of(chip, r->page)))
		r->oob[0] = 0;
}

void vnand_chip_read(struct vnand_chip *chip, struct vnand_read *r)
{
	const struct vnand_params *p = &chip->p;
	struct vnand_image_block *b =
		&chip->store.block[vnand_block_of(chip, r->page)];
	bool erased = !chip->store.page[r->page].programs;
	bool partial = r->data && r->data_bytes < p->page_bytes;
	u32 first, bytes, oob_bytes, step;

	begin_operation(chip);
	copy_contents(chip, r);
	transferred(p, r, &first, &bytes);
	oob_bytes = r->oob || (r->data && !p->subpage_read) ? p->oob_bytes : 0;
	if (r->data && !erased && vnand_has_bitflips(p))
		for (step = first / p->ecc_step_bytes;
		     step * p->ecc_step_bytes < first + bytes; step++)
			read_step(chip, r, step);
	if (r->data && chip->store.page[r->page].torn)
		read_torn(chip, r, bytes);

	if (partial && !r->oob && !r->raw && chip->kept_page == r->page) {
		chip->counters.cached_reads++;
		return;
	}
	/* As the raw NAND layer: kept when it was read for a part of it. */
	if (!p->subpage_read && !r->raw && r->data)
		chip->kept_page = partial && !r->oob && !r->bitflips &&
				  !r->uncorrectable ? r->page : VNAND_NO_PAGE;
	count(&b->reads);
	count(&b->reads_since_erase);
	chip->counters.array_reads++;
	chip->counters.reads_erased += erased;
	chip->counters.bytes_from_chip += bytes + oob_bytes;
	pass_time(chip, &chip->counters.read_ns,
		  vnand_time_read(p, bytes, oob_bytes));
}

/* Programming can only clear bits. */
static void clear_bits(u8 *to, const u8 *from, u32 bytes)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		to[i] &= from[i];
}

static int change_contents(struct vnand_chip *chip, u32 page, u32 column,
			   const u8 *data, u32 data_bytes, const u8 *oob)
{
	u32 page_bytes = chip->p.page_bytes, oob_bytes = chip->p.oob_bytes;
	struct vnand_page_state *state = &chip->store.page[page];
	u8 *to = vnand_store_page_to_write(chip, page);

	if (!to)
		return -EIO;
	if (state->programs) {
		if (data)
			clear_bits(to + column, data, data_bytes);
		if (oob)
			clear_bits(to + page_bytes, oob, oob_bytes);
		return 0;
	}
	if (!data || data_bytes < page_bytes)
		vnand_fill(to, 0xff, page_bytes);
	if (data)
		vnand_copy(to + column, data, data_bytes);
	if (oob)
		vnand_copy(to + page_bytes, oob, oob_bytes);
	else
		vnand_fill(to + page_bytes, 0xff, oob_bytes);
	return 0;
}

static u32 subpage_mask(const struct vnand_params *p, u32 column, u32 bytes)
{
	u32 unit = p->page_bytes / p->subpages;

	return ((1U << (bytes / unit)) - 1) << (column / unit);
}

int vnand_chip_program(struct vnand_chip *chip, u32 page, u32 column,
		       const u8 *data, u32 data_bytes, const u8 *oob)
{
	const struct vnand_params *p = &chip->p;
	u32 block = vnand_block_of(chip, page);
	u32 number = page % p->pages_per_block;
	struct vnand_image_block *b = &chip->store.block[block];
	struct vnand_page_state *state = &chip->store.page[page];
	u32 mask = data ? subpage_mask(p, column, data_bytes) : 0;
	bool fails;
	int err;

	begin_operation(chip);
	report_violation(chip, vnand_check_program(p, state, number,
						   le32_to_cpu(b->next_page),
						   vnand_chip_is_bad(chip, block),
						   mask),
			 block, number);
	fails = has_flag(b, VNAND_BLOCK_FAILED) ||
		vnand_program_fails(p, block, page, le32_to_cpu(b->erases),
				    state->programs);
	/* A program that fails leaves the page half done. */
	err = change_contents(chip, page, column, data,
			      data && fails ? data_bytes / 2 : data_bytes, oob);
	state->programs = min(state->programs + 1, 255);
	state->subpages |= mask;
	state->oob |= !!oob;
	state->torn |= fails;
	if (number >= le32_to_cpu(b->next_page))
		b->next_page = cpu_to_le32(number + 1);
	if (chip->kept_page == page)
		chip->kept_page = VNAND_NO_PAGE;

	count(&b->programs);
	chip->counters.programs++;
	chip->counters.oob_programs += !data;
	/* The driver transfers the whole page, 0xff where nothing is programmed. */
	chip->counters.bytes_to_chip += (data ? p->page_bytes : 0) + p->oob_bytes;
	pass_time(chip, &chip->counters.program_ns,
		  vnand_time_program(p, data ? p->page_bytes : 0, p->oob_bytes));
	if (fails) {
		set_flag(b, VNAND_BLOCK_FAILED);
		chip->counters.program_failures++;
		return -EIO;
	}
	return err;
}

int vnand_chip_erase(struct vnand_chip *chip, u32 block)
{
	const struct vnand_params *p = &chip->p;
	struct vnand_image_block *b = &chip->store.block[block];
	bool fails;

	begin_operation(chip);
	if (vnand_chip_is_bad(chip, block))
		report_violation(chip, VNAND_BAD_BLOCK, block, 0);
	fails = has_flag(b, VNAND_BLOCK_FAILED) ||
		vnand_erase_fails(p, block, le32_to_cpu(b->erases));
	count(&b->erases);
	if (chip->kept_page != VNAND_NO_PAGE &&
	    vnand_block_of(chip, chip->kept_page) == block)
		chip->kept_page = VNAND_NO_PAGE;
	chip->counters.erases++;
	if (!fails) {
		vnand_store_erase(chip, block);
		b->reads_since_erase = 0;
		b->next_page = 0;
	}
	pass_time(chip, &chip->counters.erase_ns, vnand_time_erase(p));
	if (fails) {
		set_flag(b, VNAND_BLOCK_FAILED);
		chip->counters.erase_failures++;
		return -EIO;
	}
	return 0;
}
