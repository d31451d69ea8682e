// SPDX-License-Identifier: GPL-2.0-only
/*
 * The flash in slots: each holds one page of memory, is written once, and is
 * dropped when its contents are no longer wanted.
 *
 * Slots are handed out in order within one erase block, so that pages are
 * programmed in order. When the block is full, the next one without live slots
 * is erased and taken, so that all blocks wear alike. Live slots are never
 * moved: where every block has one, there is no space, however many slots were
 * dropped. Other file systems collect garbage there.
 *
 * A block that cannot be erased is no longer used. A program that fails is an
 * error of the write; its slot is lost until the block is erased.
 */
#include <linux/slab.h>

#include "scratchfs.h"

/**
 * scratchfs_space_init() - looks for bad blocks and begins with no live slot
 * @space: to be filled
 * @mtd: the device; it stays the caller's
 *
 * Return: 0, -EINVAL for a device that slots do not fit, -ENOMEM, -ENOSPC if
 * all its blocks are bad.
 */
int scratchfs_space_init(struct scratchfs_space *space, struct mtd_info *mtd)
{
	u32 block, good = 0;

	if (mtd->writesize > PAGE_SIZE || mtd->erasesize % PAGE_SIZE ||
	    mtd->erasesize / PAGE_SIZE >= SCRATCHFS_BAD)
		return -EINVAL;
	mutex_init(&space->lock);
	space->mtd = mtd;
	space->blocks = mtd_div_by_eb(mtd->size, mtd);
	space->slots_per_block = mtd->erasesize / PAGE_SIZE;
	space->next_slot = space->slots_per_block;
	space->current_block = space->blocks - 1;
	space->live = kvcalloc(space->blocks, sizeof(*space->live), GFP_KERNEL);
	if (!space->live)
		return -ENOMEM;
	for (block = 0; block < space->blocks; block++) {
		if (mtd_block_isbad(mtd, (loff_t)block * mtd->erasesize))
			space->live[block] = SCRATCHFS_BAD;
		else
			good++;
	}
	if (good)
		return 0;
	scratchfs_space_exit(space);
	return -ENOSPC;
}

/**
 * scratchfs_space_exit() - frees what scratchfs_space_init() took
 * @space: its memory stays the caller's
 */
void scratchfs_space_exit(struct scratchfs_space *space)
{
	kvfree(space->live);
	space->live = NULL;
}

static loff_t slot_address(u32 slot)
{
	return (loff_t)slot * PAGE_SIZE;
}

/**
 * scratchfs_read() - reads a slot
 * @space: the flash
 * @slot: one that scratchfs_write() gave
 * @data: PAGE_SIZE bytes
 *
 * Return: 0, or the device's error; corrected bit errors are none.
 */
int scratchfs_read(struct scratchfs_space *space, u32 slot, void *data)
{
	size_t done;
	int err;

	err = mtd_read(space->mtd, slot_address(slot), PAGE_SIZE, &done, data);
	if (err && !mtd_is_bitflip(err))
		return err;
	return done == PAGE_SIZE ? 0 : -EIO;
}

/* Erases a block and makes it the current one. */
static int take_block(struct scratchfs_space *space, u32 block)
{
	struct erase_info erase = {
		.addr = (loff_t)block * space->mtd->erasesize,
		.len = space->mtd->erasesize,
	};
	int err = mtd_erase(space->mtd, &erase);

	if (err) {
		space->live[block] = SCRATCHFS_BAD;
		return err;
	}
	space->current_block = block;
	space->next_slot = 0;
	return 0;
}

static int take_dropped_block(struct scratchfs_space *space)
{
	u32 i;

	for (i = 1; i <= space->blocks; i++) {
		u32 block = (space->current_block + i) % space->blocks;

		if (!space->live[block] && !take_block(space, block))
			return 0;
	}
	return -ENOSPC;
}

/**
 * scratchfs_write() - writes a page of memory into a free slot
 * @space: the flash
 * @data: PAGE_SIZE bytes
 * @slot: the slot that has them now
 *
 * Return: 0, -ENOSPC if no block is without live slots, or the device's error.
 */
int scratchfs_write(struct scratchfs_space *space, const void *data, u32 *slot)
{
	size_t done;
	int err = 0;

	mutex_lock(&space->lock);
	if (space->next_slot == space->slots_per_block)
		err = take_dropped_block(space);
	if (err)
		goto out_unlock;
	*slot = space->current_block * space->slots_per_block +
		space->next_slot++;
	err = mtd_write(space->mtd, slot_address(*slot), PAGE_SIZE, &done, data);
	if (!err && done != PAGE_SIZE)
		err = -EIO;
	if (!err)
		space->live[space->current_block]++;

out_unlock:
	mutex_unlock(&space->lock);
	return err;
}

/**
 * scratchfs_drop() - the contents of a slot are no longer wanted
 * @space: the flash
 * @slot: one that scratchfs_write() gave
 */
void scratchfs_drop(struct scratchfs_space *space, u32 slot)
{
	mutex_lock(&space->lock);
	space->live[slot / space->slots_per_block]--;
	mutex_unlock(&space->lock);
}

/**
 * scratchfs_count() - counts slots
 * @space: the flash
 * @total: all that are not in bad blocks
 * @free: those without live contents
 * @available: those of them that can be written
 */
void scratchfs_count(struct scratchfs_space *space, u64 *total, u64 *free,
		     u64 *available)
{
	u32 block;

	mutex_lock(&space->lock);
	*total = 0;
	*free = 0;
	*available = space->slots_per_block - space->next_slot;
	for (block = 0; block < space->blocks; block++) {
		u16 live = space->live[block];

		if (live == SCRATCHFS_BAD)
			continue;
		*total += space->slots_per_block;
		*free += space->slots_per_block - live;
		if (!live && (block != space->current_block ||
			      space->next_slot == space->slots_per_block))
			*available += space->slots_per_block;
	}
	mutex_unlock(&space->lock);
}
