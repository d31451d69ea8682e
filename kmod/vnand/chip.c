// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations of the chip on its pages and blocks. Each is decided first
 * (decide.c), then applied to contents and counters, and then its time passes.
 *
 * Every operation that changes the flash (program, erase, bad-block mark) passes
 * make_change() between decision and application, in order, and gets the next
 * number there: the place where one can be cut in the middle, and logged with
 * what it changed. Reads do not change the flash, only its wear.
 */

#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/pid.h>
#include <linux/printk.h>
#include <linux/sched.h>

#include "vnand.h"

#ifdef CONFIG_UML
#include <linux/time-internal.h>
#endif

/* Violations are counted without limit and logged up to this many. */
#define MAX_LOGGED_VIOLATIONS 16

static void busy_wait(u64 ns)
{
#ifdef CONFIG_UML
	u64 us = div_u64(ns, 1000);

	for (; us > 1000; us -= 1000)
		udelay(1000);
	if (us)
		udelay(us);
	ndelay(ns % 1000);
#else
	/* udelay() is exact up to some ms only, ndelay() to a microsecond. */
	u64 end_ns = ktime_get_ns() + ns;

	while (ktime_get_ns() < end_ns)
		cpu_relax();
#endif
}

/* Sleeps without a switch of tasks if that is the same; else false, and no sleep. */
static bool sleep_alone(u64 ns)
{
#ifdef CONFIG_UML_CPU_MODEL
	return time_travel_sleep_alone(ns);
#else
	return false;
#endif
}

static void sleep_ns(const struct vnand_chip *chip, u64 ns)
{
	ktime_t time = ns_to_ktime(ns);

	if (chip->p.wait == VNAND_WAIT_INTERRUPT && sleep_alone(ns))
		return;
	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_hrtimeout(&time, HRTIMER_MODE_REL);
}

/* Tells the guest's kernel whose the time is that passes next; 0: the caller's again. */
static void tell_whose_time(u64 driver_ns, u64 chip_ns)
{
#ifdef CONFIG_UML_CPU_MODEL
	if (driver_ns || chip_ns)
		um_time_goes_to_flash(driver_ns, chip_ns);
	else
		um_time_leaves_flash();
#endif
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
	tell_whose_time(time.driver_ns,
			time.busy_ns + time.bus_ns + time.array_ns);
	if (chip->p.wait == VNAND_WAIT_POLLED || !time.array_ns) {
		busy_wait(served_ns + time.array_ns);
	} else {
		busy_wait(served_ns);
		sleep_ns(chip, time.array_ns);
	}
	tell_whose_time(0, 0);
}

static void report_violation(struct vnand_chip *chip,
			     const struct vnand_change *c)
{
	enum vnand_violation violation = c->violation;
	u32 page = c->kind == VNAND_PROGRAM ?
		   c->page % chip->p.pages_per_block : 0;
	u64 seen = 0;
	int i;

	if (violation == VNAND_OK || chip->p.rules == VNAND_RULES_OFF)
		return;
	chip->counters.violations[violation]++;
	for (i = 1; i < VNAND_VIOLATIONS; i++)
		seen += chip->counters.violations[i];
	if (seen > MAX_LOGGED_VIOLATIONS)
		return;
	pr_err(VNAND_MODULE ": rule violation: %s: chip %s block %u page %u by %s[%d]\n",
	       vnand_violation_name[violation], chip->p.name, c->block, page,
	       current->comm, task_pid_nr(current));
	dump_stack();
	if (chip->p.rules == VNAND_RULES_FATAL)
		panic(VNAND_MODULE ": rule violation: %s",
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

static struct vnand_block_facts facts_of(const struct vnand_chip *chip,
					 u32 block)
{
	const struct vnand_image_block *b = &chip->store.block[block];

	return (struct vnand_block_facts){
		.erases = le32_to_cpu(b->erases) + chip->p.worn_cycles,
		.reads_since_erase = le32_to_cpu(b->reads_since_erase),
		.shelf_hours = le32_to_cpu(b->shelf_hours),
		.next_page = le32_to_cpu(b->next_page),
		.bad = has_flag(b, VNAND_BLOCK_BAD),
		.failed = has_flag(b, VNAND_BLOCK_FAILED),
	};
}

/* --- reads --------------------------------------------------------------- */

static void copy_data(struct vnand_chip *chip, struct vnand_read *r,
		      const u8 *from)
{
	if (r->data_bytes < chip->p.page_bytes)
		vnand_copy_part(r->data, from, r->data_bytes);
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
	vnand_crash_contents(chip, r);
	/* The mark of a bad block: a zero in its first page's OOB. */
	if (r->oob && r->page % chip->p.pages_per_block == 0 &&
	    has_flag(&chip->store.block[vnand_block_of(chip, r->page)],
		     VNAND_BLOCK_BAD))
		r->oob[0] = 0;
}

/* The wrong bits of one ECC step, in what is read of it. */
static void flip_bits(struct vnand_chip *chip, struct vnand_read *r,
		      const struct vnand_block_facts *facts, u32 step)
{
	const struct vnand_age age = vnand_age_of(facts);
	u32 place[VNAND_MAX_BITFLIPS];
	u32 wrong = vnand_bitflips(&chip->p, vnand_block_of(chip, r->page),
				   r->page, step, &age, place);
	u32 i;

	for (i = 0; i < wrong; i++) {
		u32 at = step * chip->p.ecc_step_bytes + place[i] / 8;

		if (at >= r->column && at < r->column + r->data_bytes)
			r->data[at - r->column] ^= 1 << (place[i] % 8);
	}
}

static void apply_read(struct vnand_chip *chip, struct vnand_read *r,
		       const struct vnand_block_facts *facts,
		       const struct vnand_read_decision *d)
{
	struct vnand_image_block *b =
		&chip->store.block[vnand_block_of(chip, r->page)];
	struct vnand_counters *counters = &chip->counters;
	u32 step;

	copy_contents(chip, r);
	if (vnand_has_bitflips(&chip->p))
		for (step = 0; step < VNAND_MAX_STEPS; step++)
			if (vnand_step_is_wrong(d, step))
				flip_bits(chip, r, facts, step);
	r->bitflips = d->bitflips;
	r->corrected = d->corrected;
	r->uncorrectable = d->uncorrectable;
	counters->bitflips_corrected += d->corrected;
	counters->steps_uncorrectable += d->uncorrectable;
	chip->kept_page = d->kept_page;
	if (d->served) {
		counters->cached_reads++;
		return;
	}
	count(&b->reads);
	count(&b->reads_since_erase);
	counters->array_reads++;
	counters->reads_erased += d->erased;
	counters->bytes_from_chip += d->data_bytes + d->oob_bytes;
}

void vnand_chip_read(struct vnand_chip *chip, struct vnand_read *r)
{
	const struct vnand_request request = {
		.page = r->page,
		.column = r->column,
		.data_bytes = r->data ? r->data_bytes : 0,
		.oob = r->oob,
		.raw = r->raw,
	};
	const struct vnand_block_facts facts =
		facts_of(chip, vnand_block_of(chip, r->page));
	struct vnand_read_decision d =
		vnand_decide_read(&chip->p, &request,
				  &chip->store.page[r->page], &facts,
				  chip->kept_page);

	lockdep_assert_held(&chip->lock);
	vnand_crash_decide_read(chip, r, &d);
	apply_read(chip, r, &facts, &d);
	pass_time(chip, &chip->counters.read_ns, d.time);
}

/* --- changes ------------------------------------------------------------- */

/* Programming can only clear bits. */
static void clear_bits(u8 *to, const u8 *from, u32 bytes)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		to[i] &= from[i];
}

#ifdef VNOR
static bool vnand_sets_bits(struct vnand_chip *chip, u32 page, u32 column,
			    const u8 *data, u32 bytes)
{
	const u8 *have = chip->store.page[page].programs ?
			 vnand_store_page(chip, page) : NULL;

	return have && vnor_sets_bits(have + column, data, bytes);
}
#endif

static int store_payload(struct vnand_chip *chip, const struct vnand_change *c,
			 const struct vnand_payload *payload)
{
	u32 page_bytes = chip->p.page_bytes, oob_bytes = chip->p.oob_bytes;
	const u8 *data = payload->data, *oob = payload->oob;
	u8 *to = vnand_store_page_to_write(chip, c->page);

	if (!to)
		return -EIO;
	if (chip->store.page[c->page].programs) {
		if (data)
			clear_bits(to + payload->column, data, c->stored_bytes);
		if (oob)
			clear_bits(to + page_bytes, oob, oob_bytes);
		return 0;
	}
	if (!data || c->stored_bytes < page_bytes)
		vnand_fill(to, 0xff, page_bytes);
	if (data)
		vnand_copy(to + payload->column, data, c->stored_bytes);
	if (oob)
		vnand_copy(to + page_bytes, oob, oob_bytes);
	else
		vnand_fill(to + page_bytes, 0xff, oob_bytes);
	return 0;
}

static int apply_program(struct vnand_chip *chip, const struct vnand_change *c,
			 const struct vnand_payload *payload)
{
	struct vnand_image_block *b = &chip->store.block[c->block];
	int err = store_payload(chip, c, payload);

	chip->store.page[c->page] = c->state;
	b->next_page = cpu_to_le32(c->next_page);
	if (chip->kept_page == c->page)
		chip->kept_page = VNAND_NO_PAGE;
	count(&b->programs);
	chip->counters.programs++;
	chip->counters.oob_programs += !payload->data;
	chip->counters.bytes_to_chip += c->bytes_to_chip;
	chip->counters.program_failures += c->fails;
	return err;
}

static void apply_erase(struct vnand_chip *chip, const struct vnand_change *c)
{
	struct vnand_image_block *b = &chip->store.block[c->block];

	if (chip->kept_page != VNAND_NO_PAGE &&
	    vnand_block_of(chip, chip->kept_page) == c->block)
		chip->kept_page = VNAND_NO_PAGE;
	count(&b->erases);
	chip->counters.erases++;
	chip->counters.erase_failures += c->fails;
	if (c->fails)
		return;
	vnand_store_erase(chip, c->block);
	b->reads_since_erase = 0;
	b->shelf_hours = 0;
	b->next_page = cpu_to_le32(c->next_page);
}

/* Return: 0, or -EIO when there is no memory for the contents. */
static int apply_change(struct vnand_chip *chip, const struct vnand_change *c,
			const struct vnand_payload *payload)
{
	struct vnand_image_block *b = &chip->store.block[c->block];
	int err = 0;

	switch (c->kind) {
	case VNAND_PROGRAM:
		err = apply_program(chip, c, payload);
		break;
	case VNAND_ERASE:
		apply_erase(chip, c);
		break;
	case VNAND_MARK_BAD:
		set_flag(b, VNAND_BLOCK_BAD);
		break;
	}
	if (c->fails)
		set_flag(b, VNAND_BLOCK_FAILED);
	return err;
}

/* Return: 0, or -EIO when the chip reports a failure. */
static int make_change(struct vnand_chip *chip, const struct vnand_change *c,
		       const struct vnand_payload *payload)
{
	u64 *kind_ns = c->kind == VNAND_ERASE ? &chip->counters.erase_ns :
						&chip->counters.program_ns;
	int err;

	lockdep_assert_held(&chip->lock);
	err = vnand_crash_begin(chip, c);
	if (err)
		return err;
	report_violation(chip, c);
	chip->counters.changes++;
	err = apply_change(chip, c, payload);
	vnand_crash_end(chip, c, payload);
	pass_time(chip, kind_ns, c->time);
	return c->fails ? -EIO : err;
}

int vnand_chip_program(struct vnand_chip *chip, u32 page, u32 column,
		       const u8 *data, u32 data_bytes, const u8 *oob)
{
	const struct vnand_request request = {
		.page = page,
		.column = column,
		.data_bytes = data ? data_bytes : 0,
		.oob = oob,
#ifdef VNOR
		.sets_bits = vnand_sets_bits(chip, page, column, data, data_bytes),
#endif
	};
	const struct vnand_payload payload = {
		.column = column, .data = data, .oob = oob,
	};
	const struct vnand_block_facts facts =
		facts_of(chip, vnand_block_of(chip, page));
	const struct vnand_change c =
		vnand_decide_program(&chip->p, &request,
				     &chip->store.page[page], &facts);

	return make_change(chip, &c, &payload);
}

int vnand_chip_erase(struct vnand_chip *chip, u32 block)
{
	const struct vnand_block_facts facts =
		facts_of(chip, block);
	const struct vnand_change c =
		vnand_decide_erase(&chip->p, block, &facts);

	return make_change(chip, &c, NULL);
}

#ifndef VNOR
int vnand_chip_mark_bad(struct vnand_chip *chip, u32 block)
{
	const struct vnand_block_facts facts =
		facts_of(chip, block);
	const struct vnand_change c =
		vnand_decide_mark_bad(&chip->p, block, &facts);

	return make_change(chip, &c, NULL);
}
#endif
