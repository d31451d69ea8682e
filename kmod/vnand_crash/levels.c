// SPDX-License-Identifier: GPL-2.0-only
/*
 * Moments of a log, and logs upon logs: see crash.h.
 */

#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "crash.h"

/* Nothing that was looked at or kept before is true of the flash any more. */
static void flash_has_moved(struct vnand_chip *chip)
{
	chip->kept_page = VNAND_NO_PAGE;
}

static void take_back(struct vnand_chip *chip, struct crash_level *level)
{
	while (level->undo.n)
		crash_entry_give(chip, level->undo.entry[--level->undo.n],
				 CRASH_BEFORE);
	crash_log_reset(&level->undo);
	level->cut = NULL;
	chip->crash->boot = level->boot;
	flash_has_moved(chip);
}

static void move(struct vnand_chip *chip, struct crash_level *level, u32 to)
{
	for (; level->position < to; level->position++)
		crash_entry_give(chip, level->log.entry[level->position],
				 CRASH_AFTER);
	while (level->position > to)
		crash_entry_give(chip, level->log.entry[--level->position],
				 CRASH_BEFORE);
}

static void begin_level(struct vnand_chip *chip, struct crash_level *level)
{
	level->logging = true;
	level->position = 0;
	level->boot = chip->crash->boot;
	level->cut = NULL;
}

bool crash_is_full(const struct vnand_chip *chip)
{
	u32 i;

	for (i = 0; i <= chip->crash->depth; i++)
		if (chip->crash->level[i].log.full ||
		    chip->crash->level[i].undo.full)
			return true;
	return false;
}

int crash_begin_log(struct vnand_chip *chip, u64 limit_mib)
{
	u32 pages = chip->p.blocks * chip->p.pages_per_block;
	struct vnand_crash *crash;
	u32 i;

	if (chip->crash)
		return -EBUSY;
	if (!limit_mib || limit_mib > 1 << 20)
		return -EINVAL;
	crash = kzalloc(sizeof(*crash), GFP_KERNEL);
	if (!crash)
		return -ENOMEM;
	crash->place = vzalloc(array_size(pages, sizeof(*crash->place)));
	crash->touched_page = vzalloc(array_size(pages, sizeof(u32)));
	crash->touched_block = vzalloc(array_size(chip->p.blocks, sizeof(u32)));
	crash->mixed_page = vzalloc(array_size(pages, sizeof(u32)));
	crash->mixed_block = vzalloc(array_size(chip->p.blocks, sizeof(u32)));
	crash->limit_bytes = (size_t)limit_mib << 20;
	crash->halt_at = U32_MAX;
	crash->era = 1;
	for (i = 0; i < CRASH_LEVELS; i++) {
		crash->level[i].log.id = 2 * i;
		crash->level[i].undo.id = 2 * i + 1;
	}
	chip->crash = crash;
	if (!crash->place || !crash->touched_page || !crash->touched_block ||
	    !crash->mixed_page || !crash->mixed_block) {
		crash_off(chip);
		return -ENOMEM;
	}
	begin_level(chip, &crash->level[0]);
	return 0;
}

void crash_off(struct vnand_chip *chip)
{
	struct vnand_crash *crash = chip->crash;
	u32 i;

	if (!crash)
		return;
	for (i = 0; i < CRASH_LEVELS; i++) {
		crash_log_free(chip, &crash->level[i].log);
		crash_log_free(chip, &crash->level[i].undo);
	}
	vfree(crash->place);
	vfree(crash->touched_page);
	vfree(crash->touched_block);
	vfree(crash->mixed_page);
	vfree(crash->mixed_block);
	kfree(crash);
	chip->crash = NULL;
	flash_has_moved(chip);
}

int crash_stop(struct vnand_chip *chip)
{
	struct crash_level *level = crash_level(chip);

	if (!level->logging)
		return -EINVAL;
	if (crash_is_full(chip))
		return -ENOSPC;
	level->logging = false;
	level->position = level->log.n;
	chip->crash->halt_at = U32_MAX;
	return 0;
}

int crash_back(struct vnand_chip *chip)
{
	struct crash_level *level = crash_level(chip);

	if (level->logging)
		return -EINVAL;
	if (crash_is_full(chip))
		return -ENOSPC;
	take_back(chip, level);
	return 0;
}

int crash_at(struct vnand_chip *chip, u64 position)
{
	struct crash_level *level = crash_level(chip);
	int err;

	if (!level->logging && position > level->log.n)
		return -ERANGE;
	err = crash_back(chip);
	if (err)
		return err;
	move(chip, level, position);
	chip->crash->era++;
	return 0;
}

int crash_push(struct vnand_chip *chip)
{
	struct vnand_crash *crash = chip->crash;

	if (crash_level(chip)->logging || crash->depth + 1 == CRASH_LEVELS)
		return -EINVAL;
	crash->depth++;
	begin_level(chip, crash_level(chip));
	return 0;
}

int crash_pop(struct vnand_chip *chip)
{
	struct vnand_crash *crash = chip->crash;
	struct crash_level *level = crash_level(chip);

	if (!crash->depth)
		return -EINVAL;
	if (crash_is_full(chip))
		return -ENOSPC;
	if (level->logging) {
		level->logging = false;
		level->position = level->log.n;
	}
	take_back(chip, level);
	move(chip, level, 0);
	crash_log_reset(&level->log);
	crash->depth--;
	return 0;
}

int crash_cycle(struct vnand_chip *chip)
{
	chip->crash->boot++;
	flash_has_moved(chip);
	return 0;
}

int crash_halt(struct vnand_chip *chip, u64 operation)
{
	if (!crash_level(chip)->logging || operation < crash_level(chip)->log.n)
		return -EINVAL;
	if (operation >= U32_MAX)
		return -ERANGE;
	chip->crash->halt_at = operation;
	return 0;
}

bool crash_touched(const struct vnand_chip *chip, const struct crash_entry *e)
{
	const struct vnand_crash *crash = chip->crash;
	u32 i;

	if (crash->touched_block[e->block] == crash->era)
		return true;
	/* A bad-block mark is looked at through the block alone. */
	for (i = 0; i < e->pages; i++)
		if (crash->touched_page[e->first + i] == crash->era)
			return true;
	return false;
}
