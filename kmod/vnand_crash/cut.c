// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a cut leaves of an operation: docs/fault-model.md, "Kinds".
 *
 * The entry of the operation has what was there and what was meant. A cut is an
 * entry of its own in the level's undo log, so it is taken back like the recovery
 * from it. Where bits are neither the one nor the other the page gets a weak
 * place: what the ECC makes of it (place.c). NOR flash has no ECC, and reads as its
 * bits are; there a page is weak that will read otherwise.
 */

#include <linux/moduleparam.h>
#include <linux/string.h>

#include "crash.h"

/* Pages of a chip with several levels per cell lie so far apart; 0: one level. */
static uint paired_distance_pages;
module_param(paired_distance_pages, uint, 0444);
MODULE_PARM_DESC(paired_distance_pages, "a cut program spoils the page so many before it; 0: none");

static u64 seed_of(const struct vnand_chip *chip, u32 page, u64 variant)
{
	return vnand_hash(chip->p.seed, 1000, page, variant,
			  crash_level(chip)->position);
}

static u32 units_of(const struct vnand_chip *chip, const struct crash_entry *e)
{
	return e->bytes / crash_unit_bytes(chip);
}

/* --- weak places ---------------------------------------------------------- */

static struct vnand_place *new_place(struct vnand_chip *chip, u32 page)
{
	struct vnand_place *place =
		crash_log_place(chip, &crash_level(chip)->undo);

	if (!place)
		return NULL;
	place->page = page;
	place->boot = chip->crash->boot;
	return place;
}

/*
 * Of each ECC step the nearer of what was there and what was meant is its codeword;
 * what was weak already has the codeword that it had.
 */
static void choose_codewords(struct vnand_chip *chip, struct vnand_place *place,
			     const u8 *before, const u8 *after, const u8 *now)
{
	const struct vnand_place *old = chip->crash->place[place->page];
	u32 bytes = chip->p.ecc_step_bytes, step;

	vnand_copy(place->good, now, crash_raw_bytes(chip));
	for (step = 0; step < chip->p.page_bytes / bytes; step++) {
		u32 at = step * bytes;
		const u8 *was = old && old->errors[step] ? old->good : before;
		u32 to_was = vnand_bits_differ(was + at, now + at, bytes);
		u32 to_after = vnand_bits_differ(after + at, now + at, bytes);

		vnand_copy(place->good + at,
			   (to_after <= to_was ? after : was) + at, bytes);
		place->errors[step] = min(to_was, to_after);
	}
}

static bool has_errors(const struct vnand_chip *chip,
		       const struct vnand_place *place)
{
	u32 step;

	for (step = 0; step < chip->p.page_bytes / chip->p.ecc_step_bytes; step++)
		if (place->errors[step])
			return true;
	return false;
}

/* The page holds @now, between @before and @after: does that make it weak? */
static int weaken(struct vnand_chip *chip, u32 page, const u8 *before,
		  const u8 *after)
{
	u8 *now = vnand_store_page(chip, page);
	struct vnand_place *place = new_place(chip, page);

	if (!place)
		return -ENOSPC;
	choose_codewords(chip, place, before, after, now);
	chip->crash->place[page] = has_errors(chip, place) ? place : NULL;
	return 0;
}

/* The page reads as it is until power was off; then most of its steps do not. */
static int make_unstable(struct vnand_chip *chip, u32 page, u64 seed)
{
	u32 bytes = chip->p.ecc_step_bytes;
	u32 steps = chip->p.page_bytes / bytes, step;
	struct vnand_place *place = new_place(chip, page);
	u8 *now = vnand_store_page(chip, page);

	if (!place)
		return -ENOSPC;
	place->unstable = true;
	vnand_copy(place->good, now, crash_raw_bytes(chip));
	for (step = 0; step < steps; step++) {
		u64 draw = vnand_hash(seed, 1001, step, 0, 0);
		u32 wrong = chip->p.ecc_strength_bits + 1 + (draw >> 8) % 8;

		if (step != seed % steps && draw & 1)
			continue;
		tear_flip(now + step * bytes, bytes, wrong, draw);
		place->errors[step] = wrong;
	}
	chip->crash->place[page] = place;
	return 0;
}

/* --- kinds ---------------------------------------------------------------- */

/* An entry for the pages of the operation, with contents, to be taken back. */
static struct crash_entry *open_cut(struct vnand_chip *chip,
				    const struct crash_entry *e)
{
	return crash_log_add(chip, &crash_level(chip)->undo, e->kind, e->first,
			     e->pages, e->pages > 0);
}

static void programmed(struct vnand_chip *chip, const struct crash_entry *e)
{
	chip->store.page[e->first] = *crash_entry_state(e, 0, CRASH_AFTER);
	chip->store.block[e->block] = e->state[CRASH_AFTER];
}

/* What the page held before, as bits: a blank one has ones, whatever is stored. */
static void bits_before(struct vnand_chip *chip, const struct crash_entry *e,
			u32 i, u8 *to)
{
	if (crash_entry_state(e, i, CRASH_BEFORE)->programs)
		vnand_copy(to, vnand_store_page(chip, e->first + i),
			   crash_raw_bytes(chip));
	else
		vnand_fill(to, 0xff, crash_raw_bytes(chip));
}

static int cut_prefix(struct vnand_chip *chip, const struct crash_entry *e,
		      u64 variant)
{
	u32 unit = crash_unit_bytes(chip), page = e->first;
	const u8 *after = crash_entry_page(chip, e, 0, CRASH_AFTER);
	u8 *now = vnand_store_page(chip, page);
	bool oob;
	u32 units = tear_prefix(variant, units_of(chip, e), e->oob, &oob);

	bits_before(chip, e, 0, now);
	vnand_copy(now + e->column, after + e->column, units * unit);
	if (oob)
		vnand_copy(now + chip->p.page_bytes, after + chip->p.page_bytes,
			   chip->p.oob_bytes);
	programmed(chip, e);
	/* The ECC of all steps is in the OOB: what is missing does not fit it. */
	return oob ? weaken(chip, page, after, after) : 0;
}

/* Was it blank, and reads as if nothing had been programmed? */
static bool reads_blank(const struct vnand_chip *chip,
			const struct crash_entry *e)
{
	const struct vnand_place *place = chip->crash->place[e->first];
	const u8 *now = vnand_store_page(chip, e->first);
	u32 page_bytes = chip->p.page_bytes, step;

	if (crash_entry_state(e, 0, CRASH_BEFORE)->programs)
		return false;
	for (step = 0; place && step < page_bytes / chip->p.ecc_step_bytes;
	     step++)
		if (place->errors[step] > chip->p.ecc_strength_bits)
			return false;
	return !memchr_inv(place ? place->good : now, 0xff, page_bytes) &&
	       !memchr_inv(now + page_bytes, 0xff, chip->p.oob_bytes);
}

/* Nobody can tell such a page from a blank one, so it may be programmed like one. */
static void forget_program(struct vnand_chip *chip,
			   const struct crash_entry *e)
{
	chip->store.page[e->first] = *crash_entry_state(e, 0, CRASH_BEFORE);
	chip->store.block[e->block].next_page =
		e->state[CRASH_BEFORE].next_page;
}

static int cut_bits(struct vnand_chip *chip, const struct crash_entry *e,
		    u64 variant)
{
	u64 seed = seed_of(chip, e->first, variant);
	u32 page_bytes = chip->p.page_bytes, oob_bytes = chip->p.oob_bytes;
	const u8 *after = crash_entry_page(chip, e, 0, CRASH_AFTER);
	u8 *now = vnand_store_page(chip, e->first);
	u8 *before = crash_log_alloc(chip, &crash_level(chip)->undo,
				     crash_raw_bytes(chip));

	if (!before)
		return -ENOSPC;
	bits_before(chip, e, 0, before);
	vnand_copy(now, before, crash_raw_bytes(chip));
	tear_bits(now, after, page_bytes, seed);
	switch ((seed >> 32) % 3) {
	case 0:
		vnand_copy(now + page_bytes, after + page_bytes, oob_bytes);
		break;
	case 1:
		tear_bits(now + page_bytes, after + page_bytes, oob_bytes,
			  seed + 1);
		break;
	}
	programmed(chip, e);
	if (weaken(chip, e->first, before, after))
		return -ENOSPC;
	if (reads_blank(chip, e))
		forget_program(chip, e);
	return 0;
}

static int half_erased_page(struct vnand_chip *chip,
			    const struct crash_entry *e, u32 i, u64 seed,
			    u8 *blank)
{
	u32 page = e->first + i, bytes = crash_raw_bytes(chip);
	u8 *now = vnand_store_page(chip, page);
	u8 *before = crash_log_alloc(chip, &crash_level(chip)->undo, bytes);

	if (!before)
		return -ENOSPC;
	vnand_copy(before, now, bytes);
	tear_bits(now, blank, bytes, seed_of(chip, page, seed));
	return weaken(chip, page, before, blank);
}

/* One behind the last page of a block that is not blank; what a block erased to here has. */
static __le32 behind_programmed(const struct vnand_chip *chip,
				const struct crash_entry *e)
{
	u32 pages = e->pages;

	while (pages && !chip->store.page[e->first + pages - 1].programs)
		pages--;
	return cpu_to_le32(pages);
}

/* The pages are as the cut left them; and it was an erase of the block. */
static void half_erased(struct vnand_chip *chip, const struct crash_entry *e)
{
	chip->store.block[e->block].erases = e->state[CRASH_AFTER].erases;
	chip->store.block[e->block].next_page = behind_programmed(chip, e);
}

static int cut_erase(struct vnand_chip *chip, const struct crash_entry *e,
		     u64 variant)
{
	u64 seed = seed_of(chip, e->first, variant);
	u8 *blank = crash_log_alloc(chip, &crash_level(chip)->undo,
				    crash_raw_bytes(chip));
	int err = 0;
	u32 i;

	if (!blank)
		return -ENOSPC;
	vnand_fill(blank, 0xff, crash_raw_bytes(chip));
	for (i = 0; i < e->pages && !err; i++) {
		struct vnand_page_state *state = &chip->store.page[e->first + i];

		if (!state->programs)
			continue;
		switch (tear_page(seed, variant, i)) {
		case TEAR_BLANK:
			memset(state, 0, sizeof(*state));
			chip->crash->place[e->first + i] = NULL;
			break;
		case TEAR_GARBAGE:
			err = half_erased_page(chip, e, i, variant, blank);
			break;
		case TEAR_AS_BEFORE:
			break;
		}
	}
	half_erased(chip, e);
	return err;
}

/* Of NOR: a page with these bits was programmed, unless all of them are ones. */
static void note_bits(struct vnand_chip *chip, u32 page)
{
	struct vnand_page_state *state = &chip->store.page[page];

	if (!memchr_inv(vnand_store_page(chip, page), 0xff, crash_raw_bytes(chip)))
		memset(state, 0, sizeof(*state));
	else if (!state->programs)
		state->programs = 1;
	chip->crash->place[page] = NULL;
}

/* An erase programs all bits first: so far it has come with that. */
static int cut_zeroing(struct vnand_chip *chip, const struct crash_entry *e,
		       u64 variant)
{
	u64 seed = seed_of(chip, e->first, variant);
	u32 bytes = crash_raw_bytes(chip), i;
	u8 *zeros = crash_log_alloc(chip, &crash_level(chip)->undo, bytes);

	if (!zeros)
		return -ENOSPC;
	vnand_fill(zeros, 0, bytes);
	for (i = 0; i < e->pages; i++) {
		enum tear_page left = tear_zeroing(seed, e->pages, i);
		u8 *now = vnand_store_page(chip, e->first + i);

		if (left == TEAR_AS_BEFORE)
			continue;
		bits_before(chip, e, i, now);
		if (left == TEAR_GARBAGE)
			tear_bits(now, zeros, bytes, seed);
		else
			vnand_copy(now, zeros, bytes);
		note_bits(chip, e->first + i);
	}
	half_erased(chip, e);
	return 0;
}

/* And then all of them become ones together. */
static int cut_erasing(struct vnand_chip *chip, const struct crash_entry *e,
		       u64 variant)
{
	u64 seed = seed_of(chip, e->first, variant);
	u32 i;

	for (i = 0; i < e->pages; i++) {
		tear_erasing(vnand_store_page(chip, e->first + i),
			     crash_raw_bytes(chip), seed, i);
		note_bits(chip, e->first + i);
	}
	half_erased(chip, e);
	return 0;
}

static int cut_unstable(struct vnand_chip *chip, const struct crash_entry *e,
			u64 variant)
{
	u32 i;
	int err;

	crash_entry_give(chip, e, CRASH_AFTER);
	for (i = 0; i < e->pages; i++) {
		u64 seed = seed_of(chip, e->first + i, variant);

		if (e->kind == VNAND_ERASE) {
			if (seed & 1)
				continue;
			/* Its bytes are those of before until it is programmed. */
			vnand_fill(vnand_store_page(chip, e->first + i), 0xff,
				   crash_raw_bytes(chip));
		}
		err = make_unstable(chip, e->first + i, seed >> 1);
		if (err)
			return err;
	}
	return 0;
}

/*
 * The page reads as it is until power was off; then some of its bits are as in
 * @other, where it is other than that.
 */
static int make_weak_bits(struct vnand_chip *chip, u32 page, const u8 *other,
			  u64 seed)
{
	u32 steps = chip->p.page_bytes / chip->p.ecc_step_bytes;
	u8 *now = vnand_store_page(chip, page);
	struct vnand_place *place = new_place(chip, page);

	if (!place)
		return -ENOSPC;
	place->unstable = true;
	vnand_copy(place->good, now, crash_raw_bytes(chip));
	tear_weaken(now, other, chip->p.page_bytes, 1 + (seed >> 8) % 8, seed);
	vnand_place_count(&chip->p, place, now, 0, steps - 1);
	chip->crash->place[page] = place;
	return 0;
}

static int cut_weak_bits(struct vnand_chip *chip, const struct crash_entry *e,
			 u64 variant)
{
	u32 bytes = crash_raw_bytes(chip), i;
	u8 *other = crash_log_alloc(chip, &crash_level(chip)->undo, bytes);
	int err = 0;

	if (!other)
		return -ENOSPC;
	vnand_fill(other, 0, bytes);
	if (e->kind == VNAND_PROGRAM)
		bits_before(chip, e, 0, other);
	crash_entry_give(chip, e, CRASH_AFTER);
	for (i = 0; i < e->pages && !err; i++) {
		u64 seed = seed_of(chip, e->first + i, variant);

		if (e->kind == VNAND_ERASE) {
			if (seed & 1)
				continue;
			/* Its bytes are those of before until it is programmed. */
			vnand_fill(vnand_store_page(chip, e->first + i), 0xff,
				   bytes);
		}
		err = make_weak_bits(chip, e->first + i, other, seed >> 1);
	}
	return err;
}

/*
 * All pages read as blank, and stay so. But some cells of some pages become zeros as soon
 * as the page is programmed: the true bits have these zeros now, and no ECC step counts
 * them yet.
 */
static int cut_weak_erase(struct vnand_chip *chip, const struct crash_entry *e,
			  u64 variant)
{
	u32 bytes = chip->p.ecc_step_bytes, steps = chip->p.page_bytes / bytes;
	u32 i, step;

	crash_entry_give(chip, e, CRASH_AFTER);
	for (i = 0; i < e->pages; i++) {
		u64 seed = seed_of(chip, e->first + i, variant);
		u8 *now = vnand_store_page(chip, e->first + i);
		struct vnand_place *place;

		if (seed & 1)
			continue;
		place = new_place(chip, e->first + i);
		if (!place)
			return -ENOSPC;
		vnand_fill(now, 0xff, crash_raw_bytes(chip));
		vnand_copy(place->good, now, crash_raw_bytes(chip));
		for (step = 0; step < steps; step++) {
			u64 draw = vnand_hash(seed >> 1, 1002, step, 0, 0);
			u32 times = 1 + (draw >> 8) % 4;

			tear_flip(now + step * bytes, bytes,
				  times * (chip->p.ecc_strength_bits + 1), draw);
		}
		chip->crash->place[e->first + i] = place;
	}
	return 0;
}

static int cut_paired(struct vnand_chip *chip, const struct crash_entry *e,
		      u64 variant)
{
	u32 partner = e->first - paired_distance_pages;
	struct crash_entry *undo;
	u64 seed = seed_of(chip, partner, variant);
	u32 bytes = crash_raw_bytes(chip);
	u8 *before, *now;
	int err = cut_bits(chip, e, variant);

	if (err)
		return err;
	undo = crash_log_add(chip, &crash_level(chip)->undo, VNAND_PROGRAM,
			     partner, 1, true);
	before = undo ? crash_log_alloc(chip, &crash_level(chip)->undo, bytes) :
			NULL;
	if (!before)
		return -ENOSPC;
	now = vnand_store_page(chip, partner);
	vnand_copy(before, now, bytes);
	tear_noise(now, chip->p.page_bytes, seed);
	return weaken(chip, partner, before, before);
}

/* All of it happened. */
static int cut_nothing(struct vnand_chip *chip, const struct crash_entry *e,
		       u64 variant)
{
	crash_entry_give(chip, e, CRASH_AFTER);
	return 0;
}

/* --- which there are ------------------------------------------------------- */

static u32 once(const struct vnand_chip *chip, const struct crash_entry *e)
{
	return 1;
}

static u32 prefixes(const struct vnand_chip *chip, const struct crash_entry *e)
{
	return tear_prefixes(units_of(chip, e), e->oob);
}

static u32 seeds(const struct vnand_chip *chip, const struct crash_entry *e)
{
	return U32_MAX;
}

static u32 seeds_with_partner(const struct vnand_chip *chip,
			      const struct crash_entry *e)
{
	u32 page = e->first % chip->p.pages_per_block;

	return paired_distance_pages && page >= paired_distance_pages &&
	       chip->store.page[e->first - paired_distance_pages].programs ?
	       U32_MAX : 0;
}

#define PROGRAMS	BIT(VNAND_PROGRAM)
#define ERASES		BIT(VNAND_ERASE)
#define ALL		(PROGRAMS | ERASES | BIT(VNAND_MARK_BAD))
#define NAND		CRASH_NAND
#define NOR		CRASH_NOR

/* A row for each kind; the host's have the same names. */
static const struct crash_kind kinds[] = {
	{ "lost",	 NAND | NOR, ALL,	once,  NULL },
	{ "done",	 NAND | NOR, ALL,	once,  cut_nothing },
	{ "torn-prefix", NAND | NOR, PROGRAMS,	prefixes, cut_prefix },
	{ "torn-bits",	 NAND | NOR, PROGRAMS,	seeds, cut_bits },
	{ "erase-half",	 NAND,	     ERASES,	seeds, cut_erase },
	{ "erase-weak",	 NAND,	     ERASES,	seeds, cut_weak_erase },
	{ "erase-zeros", NOR,	     ERASES,	seeds, cut_zeroing },
	{ "erase-bits",	 NOR,	     ERASES,	seeds, cut_erasing },
	{ "unstable",	 NAND, PROGRAMS | ERASES, seeds, cut_unstable },
	{ "weak-bits",	 NOR,  PROGRAMS | ERASES, seeds, cut_weak_bits },
	{ "paired",	 NAND, PROGRAMS, seeds_with_partner, cut_paired },
};

const struct crash_kind *crash_kind(u32 i)
{
	return i < ARRAY_SIZE(kinds) ? &kinds[i] : NULL;
}

u32 crash_variants(const struct vnand_chip *chip, const struct crash_entry *e,
		   const struct crash_kind *kind)
{
	if (!(kind->flash & CRASH_FLASH) || !(kind->cuts & BIT(e->kind)))
		return 0;
	return kind->variants(chip, e);
}

static const struct crash_kind *kind_of(const char *name)
{
	const struct crash_kind *kind;
	u32 i;

	for (i = 0; (kind = crash_kind(i)); i++)
		if (!strcmp(kind->name, name))
			break;
	return kind;
}

int crash_cut(struct vnand_chip *chip, const char *name, u64 variant)
{
	const struct crash_kind *kind = kind_of(name);
	struct crash_level *level = crash_level(chip);
	const struct crash_entry *e;

	if (!kind || level->logging || level->cut || level->undo.n)
		return -EINVAL;
	if (level->position >= level->log.n) {
		/* Of what comes behind the log, which nobody knows, nothing happened. */
		if (kind->cut)
			return -ERANGE;
		level->cut = kind->name;
		return 0;
	}
	e = level->log.entry[level->position];
	if (!crash_variants(chip, e, kind))
		return -EOPNOTSUPP;
	level->cut = kind->name;
	level->variant = variant;
	chip->kept_page = VNAND_NO_PAGE;
	if (!kind->cut)
		return 0;
	return open_cut(chip, e) ? kind->cut(chip, e, variant) : -ENOSPC;
}
