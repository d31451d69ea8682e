// SPDX-License-Identifier: GPL-2.0-only
/*
 * One power cut after the other on one flash: see crash_keep().
 *
 * Weak places live as long as the log in whose memory they are, and the flash
 * keeps them for longer now: those that are in use go into the log that stays.
 */

#include "crash.h"

/* Of the level that is forgotten. */
static bool is_going(const struct vnand_crash *crash, u32 home)
{
	const struct crash_level *below = &crash->level[crash->depth - 1];

	return home == below->log.id || home == below->undo.id;
}

static void move_place(struct vnand_chip *chip, struct vnand_place **at)
{
	struct vnand_place *old = *at, *copy;

	if (!old || !is_going(chip->crash, old->home))
		return;
	if (!old->moved) {
		copy = crash_log_place(chip, &crash_level(chip)->log);
		if (!copy)
			return;
		vnand_place_copy(&chip->p, old, copy);
		old->moved = copy;
	}
	*at = old->moved;
}

static void move_places(struct vnand_chip *chip)
{
	u32 page, pages = chip->p.blocks * chip->p.pages_per_block;

	for (page = 0; page < pages; page++)
		move_place(chip, &chip->crash->place[page]);
	crash_log_places(chip, &crash_level(chip)->log, move_place);
	crash_log_places(chip, &crash_level(chip)->undo, move_place);
}

int crash_keep(struct vnand_chip *chip)
{
	struct vnand_crash *crash = chip->crash;
	struct crash_level *level = crash_level(chip);

	if (!crash->depth || level->logging)
		return -EINVAL;
	if (crash_is_full(chip))
		return -ENOSPC;
	move_places(chip);
	/* Without memory some are in the old log still, which stays then. */
	if (crash_is_full(chip))
		return -ENOSPC;
	swap(crash->level[crash->depth - 1], *level);
	crash_log_reset(&level->log);
	crash_log_reset(&level->undo);
	crash->depth--;
	return 0;
}
