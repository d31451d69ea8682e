// SPDX-License-Identifier: GPL-2.0-only
/*
 * A number that stands for what is on the flash: see crash.h.
 *
 * Not for an adversary, like the digests of observations (guest/cutter/text/text.h).
 */

#include "crash.h"

static u64 mixed(u64 digest, const void *from, size_t bytes)
{
	const u8 *at = from;

	for (; bytes >= 8; at += 8, bytes -= 8) {
		u64 word;

		memcpy(&word, at, 8);
		digest = (digest ^ word) * 0x9e3779b97f4a7c15ULL;
		digest ^= digest >> 29;
	}
	while (bytes--)
		digest = (digest ^ *at++) * 0x9e3779b97f4a7c15ULL;
	return digest;
}

static u64 mixed_block(const struct vnand_chip *chip, u32 block, u64 digest)
{
	const struct vnand_image_block *b = &chip->store.block[block];
	const __le32 facts[] = { b->erases, b->programs, b->next_page,
				 b->flags };

	return mixed(digest, facts, sizeof(facts));
}

/* A page with its true bits. */
static u64 mixed_page(struct vnand_chip *chip, u32 page, u64 digest)
{
	const struct vnand_page_state *state = &chip->store.page[page];

	digest = mixed(digest, &page, sizeof(page));
	digest = mixed(digest, state, sizeof(*state));
	return mixed(digest, vnand_store_page(chip, page),
		     crash_raw_bytes(chip));
}

u64 crash_digest(struct vnand_chip *chip)
{
	u32 pages = chip->p.blocks * chip->p.pages_per_block, i;
	u64 digest = 0;

	for (i = 0; i < chip->p.blocks; i++)
		digest = mixed_block(chip, i, digest);
	for (i = 0; i < pages; i++)
		if (chip->store.page[i].programs)
			digest = mixed_page(chip, i, digest);
	return digest;
}

/* What will be read of a page that is weak. */
static u64 mixed_place(const struct vnand_chip *chip,
		       const struct vnand_place *place, u64 digest)
{
	const u64 facts[] = { place->unstable, chip->crash->boot - place->boot };

	digest = mixed(digest, facts, sizeof(facts));
	digest = mixed(digest, place->errors, sizeof(place->errors));
	return mixed(digest, place->good, crash_raw_bytes(chip));
}

/* Each block and page adds a digest of its own, so their order does not matter. */
static u64 difference_of(struct vnand_chip *chip, const struct crash_entry *e)
{
	struct vnand_crash *crash = chip->crash;
	u64 sum = 0;
	u32 i;

	if (crash->mixed_block[e->block] != crash->mixing) {
		crash->mixed_block[e->block] = crash->mixing;
		sum += mixed_block(chip, e->block, mixed(1, &e->block, 4));
	}
	for (i = e->first; i < e->first + e->pages; i++) {
		u64 digest = 2;

		if (crash->mixed_page[i] == crash->mixing)
			continue;
		crash->mixed_page[i] = crash->mixing;
		if (chip->store.page[i].programs || crash->place[i])
			digest = mixed_page(chip, i, digest);
		else
			digest = mixed(digest, &i, sizeof(i));
		if (crash->place[i])
			digest = mixed_place(chip, crash->place[i], digest);
		sum += digest;
	}
	return sum;
}

u64 crash_difference(struct vnand_chip *chip)
{
	const struct crash_level *level = crash_level(chip);
	u32 operations = level->logging ? level->log.n : level->position, i;
	u64 sum = 0;

	chip->crash->mixing++;
	for (i = 0; i < operations; i++)
		sum += difference_of(chip, level->log.entry[i]);
	for (i = 0; i < level->undo.n; i++)
		sum += difference_of(chip, level->undo.entry[i]);
	return sum;
}
