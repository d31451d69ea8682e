// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the chip calls: ../vnand/crash_hooks.h.
 */

#include "crash.h"

static void touch_page(struct vnand_chip *chip, u32 page)
{
	chip->crash->touched_page[page] = chip->crash->era;
}

/* Changes go to the log that is being made, or to what can be taken back. */
static struct crash_log *present_log(struct vnand_chip *chip)
{
	struct crash_level *level = crash_level(chip);

	return level->logging ? &level->log : &level->undo;
}

int vnand_crash_begin(struct vnand_chip *chip, const struct vnand_change *c)
{
	struct vnand_crash *crash = chip->crash;
	u32 pages = chip->p.pages_per_block, first = c->block * pages;

	if (!crash)
		return 0;
	if (crash_level(chip)->logging &&
	    crash_level(chip)->log.n >= crash->halt_at)
		return -EIO;
	if (c->kind == VNAND_PROGRAM)
		touch_page(chip, c->page);
	else
		crash->touched_block[c->block] = crash->era;
	switch (c->kind) {
	case VNAND_PROGRAM:
		crash->pending = crash_log_add(chip, present_log(chip),
					       c->kind, c->page, 1, true);
		break;
	case VNAND_ERASE:
		crash->pending = crash_log_add(chip, present_log(chip),
					       c->kind, first, pages, false);
		break;
	case VNAND_MARK_BAD:
		crash->pending = crash_log_add(chip, present_log(chip),
					       c->kind, first, 0, false);
		break;
	}
	return 0;
}

/* The weak page was programmed once more, without an erase. */
static void program_place(struct vnand_chip *chip, const struct vnand_change *c,
			  const struct vnand_payload *payload,
			  struct crash_entry *e)
{
	struct vnand_place *before = chip->crash->place[c->page], *after;
	struct crash_log *log = present_log(chip);
	const u8 *was = crash_entry_page(chip, e, 0, CRASH_BEFORE);
	u8 *now = vnand_store_page(chip, c->page);
	u32 i;

	after = crash_log_place(chip, log);
	if (!after)
		return;
	/* Bits only clear, those of a page too that counts as blank. */
	for (i = 0; i < crash_raw_bytes(chip); i++)
		now[i] &= was[i];
	if (vnand_place_program(&chip->p, before, payload->column,
				c->stored_bytes, payload->data, payload->oob,
				now, after))
		chip->crash->place[c->page] = after;
	else
		chip->crash->place[c->page] = NULL;
}

void vnand_crash_end(struct vnand_chip *chip, const struct vnand_change *c,
		     const struct vnand_payload *payload)
{
	struct vnand_crash *crash = chip->crash;
	struct crash_entry *e;
	u32 i;

	if (!crash)
		return;
	e = crash->pending;
	crash->pending = NULL;
	if (!e)
		return;
	if (c->kind == VNAND_PROGRAM) {
		e->column = payload->column;
		e->bytes = payload->data ? c->stored_bytes : 0;
		e->oob = payload->oob;
		if (crash->place[c->page])
			program_place(chip, c, payload, e);
	}
	if (c->kind == VNAND_ERASE && !c->fails)
		for (i = 0; i < e->pages; i++)
			crash->place[e->first + i] = NULL;
	crash_entry_take(chip, e, CRASH_AFTER);
}

void vnand_crash_decide_read(struct vnand_chip *chip,
			     const struct vnand_read *r,
			     struct vnand_read_decision *d)
{
	const struct vnand_request request = {
		.page = r->page,
		.column = r->column,
		.data_bytes = r->data ? r->data_bytes : 0,
		.oob = r->oob,
		.raw = r->raw,
	};

	if (!chip->crash)
		return;
	touch_page(chip, r->page);
	if (chip->crash->place[r->page])
		vnand_place_decide(&chip->p, chip->crash->place[r->page],
				   chip->crash->boot, &request, d);
}

void vnand_crash_contents(struct vnand_chip *chip, struct vnand_read *r)
{
	const struct vnand_params *p = &chip->p;
	const struct vnand_place *place =
		chip->crash ? chip->crash->place[r->page] : NULL;
	u32 boot = chip->crash ? chip->crash->boot : 0;
	const u8 *now;
	u32 i;

	if (!place)
		return;
	now = vnand_store_page(chip, r->page);
	for (i = 0; r->data && i < r->data_bytes; i++) {
		u32 at = r->column + i;

		r->data[i] = vnand_place_corrects(p, place, boot,
						  at / p->ecc_step_bytes,
						  r->raw) ?
			     place->good[at] : now[at];
	}
	if (!r->oob)
		return;
	vnand_copy(r->oob, (vnand_place_sleeps(place, boot) ? place->good : now) +
			   p->page_bytes, p->oob_bytes);
}

void vnand_crash_queried(struct vnand_chip *chip, u32 block)
{
	/* Whether it is bad is no part of what another operation changed. */
	if (chip->crash && crash_level(chip)->position <
			   crash_level(chip)->log.n &&
	    crash_level(chip)->log.entry[crash_level(chip)->position]->kind ==
	    VNAND_MARK_BAD)
		chip->crash->touched_block[block] = chip->crash->era;
}

bool vnand_crash_keeps(const struct vnand_chip *chip)
{
	return chip->crash;
}

void vnand_crash_close(struct vnand_chip *chip)
{
	crash_off(chip);
}
