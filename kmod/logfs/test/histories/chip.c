// SPDX-License-Identifier: GPL-2.0-only
/*
 * The chip of the histories. A program that power does not last for does nothing, all, or
 * leaves a page that ECC gives up on; an erase does nothing, or leaves a block of such pages.
 */

#include <linux/slab.h>

#include "../harness.h"
#include "chip.h"

enum page_state { ERASED, PROGRAMMED, TORN };

static struct chip *chip_of(struct mtd_info *mtd)
{
	return (struct chip *)((char *)mtd - offsetof(struct chip, mtd));
}

static void obey(bool good, const char *rule, u64 place)
{
	if (good)
		return;
	fprintf(stderr, "chip: at %#llx: %s\n", (unsigned long long)place, rule);
	abort();
}

static void *memory(size_t n, size_t bytes)
{
	void *zeros = calloc(n, bytes);

	if (!zeros)
		abort();
	return zeros;
}

void chip_make(struct chip *chip, u32 page_bytes, u32 block_bytes, u32 blocks)
{
	const u64 bytes = (u64)block_bytes * blocks;

	memset(chip, 0, sizeof(*chip));
	chip->mtd.name = "chip";
	chip->mtd.size = bytes;
	chip->mtd.erasesize = block_bytes;
	chip->mtd.writesize = page_bytes;
	chip->bytes = memory(bytes, 1);
	memset(chip->bytes, 0xff, bytes);
	chip->pages = memory(bytes / page_bytes, 1);
	chip->is_bad = memory(blocks, sizeof(*chip->is_bad));
	chip->erased = memory(blocks, sizeof(*chip->erased));
}

void chip_free(struct chip *chip)
{
	free(chip->bytes);
	free(chip->pages);
	free(chip->is_bad);
	free(chip->erased);
}

u64 chip_digest(const struct chip *chip)
{
	const u64 n = chip->mtd.size / sizeof(u64);
	u64 digest = 0, word, i;

	for (i = 0; i < n; i++) {
		memcpy(&word, chip->bytes + i * sizeof(word), sizeof(word));
		digest = (digest ^ word) * 0x9e3779b97f4a7c15ull;
		digest ^= digest >> 29;
	}
	return digest;
}

void chip_tear(struct chip *chip, u64 place, u32 bytes)
{
	const u32 page_bytes = chip->mtd.writesize;
	u32 i;

	memset(chip->pages + place / page_bytes, TORN, bytes / page_bytes);
	for (i = 0; i < bytes; i += 8)
		chip->bytes[place + i] ^= 0x10;
}

static bool falls(struct chip *chip, u32 one_of)
{
	return one_of && !draw_below(&chip->random, one_of);
}

/* Power goes with this program or erase. */
static bool is_cut(struct chip *chip)
{
	if (!chip->cut_in || --chip->cut_in)
		return false;
	chip->is_off = true;
	return true;
}

/* Drivers need memory, and do not know who calls. They have it always. */
static void work(void)
{
	kernel_allocates(GFP_KERNEL | __GFP_NOFAIL);
}

int mtd_read(struct mtd_info *mtd, loff_t from, size_t bytes, size_t *done,
	     u8 *to)
{
	struct chip *chip = chip_of(mtd);
	u64 page, last = (from + bytes - 1) / mtd->writesize;

	work();
	obey(bytes && (u64)from + bytes <= mtd->size, "read outside", from);
	if (chip->is_off || (chip->fail_read && !--chip->fail_read))
		return -EIO;
	memcpy(to, chip->bytes + from, bytes);
	*done = bytes;
	for (page = from / mtd->writesize; page <= last; page++)
		if (chip->pages[page] == TORN)
			return -EBADMSG;
	return falls(chip, chip->correct) ? -EUCLEAN : 0;
}

static void store(struct chip *chip, u64 page, const u8 *from, u32 bytes,
		  enum page_state state)
{
	memcpy(chip->bytes + page * chip->mtd.writesize, from, bytes);
	chip->pages[page] = state;
}

static void check_order(const struct chip *chip, u64 page)
{
	const u32 pages = chip->mtd.erasesize / chip->mtd.writesize;
	const u64 end = (page / pages + 1) * pages;
	u64 later;

	obey(chip->pages[page] == ERASED, "programmed twice", page);
	for (later = page + 1; later < end; later++)
		obey(chip->pages[later] == ERASED, "programmed out of order",
		     page);
}

static int program_page(struct chip *chip, u64 page, const u8 *from)
{
	const u32 bytes = chip->mtd.writesize;
	u32 how;

	if (chip->is_off)
		return -EIO;
	check_order(chip, page);
	chip->programs++;
	if (is_cut(chip)) {
		how = draw_below(&chip->random, 4);
		if (how == 1)
			store(chip, page, from, bytes, PROGRAMMED);
		else if (how)
			store(chip, page, from, bytes / 2, TORN);
		return -EIO;
	}
	if (falls(chip, chip->fail_program)) {
		store(chip, page, from, bytes / 2, TORN);
		return -EIO;
	}
	store(chip, page, from, bytes, PROGRAMMED);
	return 0;
}

int mtd_write(struct mtd_info *mtd, loff_t to, size_t bytes, size_t *done,
	      const u8 *from)
{
	struct chip *chip = chip_of(mtd);
	size_t at;
	int err;

	work();
	obey(!(to % mtd->writesize) && !(bytes % mtd->writesize) &&
	     (u64)to + bytes <= mtd->size, "programmed outside of pages", to);
	obey(!chip->is_bad[to / mtd->erasesize], "programmed a bad block", to);
	for (at = 0; at < bytes; at += mtd->writesize) {
		err = program_page(chip, (to + at) / mtd->writesize, from + at);
		if (err)
			return err;
	}
	*done = bytes;
	return 0;
}

static int erase_block(struct chip *chip, u32 block)
{
	const u32 pages = chip->mtd.erasesize / chip->mtd.writesize;
	u8 *bytes = chip->bytes + (u64)block * chip->mtd.erasesize;

	if (chip->is_off)
		return -EIO;
	obey(!chip->is_bad[block], "erased a bad block", block);
	chip->erases++;
	if (is_cut(chip)) {
		if (!draw_below(&chip->random, 2))
			return -EIO;
		memset(bytes, 0xff, chip->mtd.erasesize / 2);
		memset(chip->pages + (u64)block * pages, TORN, pages);
		return -EIO;
	}
	if (falls(chip, chip->fail_erase) ||
	    (chip->endurance && chip->erased[block] >= chip->endurance))
		return -EIO;
	chip->erased[block]++;
	memset(bytes, 0xff, chip->mtd.erasesize);
	memset(chip->pages + (u64)block * pages, ERASED, pages);
	return 0;
}

int mtd_erase(struct mtd_info *mtd, struct erase_info *erase)
{
	struct chip *chip = chip_of(mtd);
	u64 at;
	int err;

	work();
	obey(!(erase->addr % mtd->erasesize) && !(erase->len % mtd->erasesize),
	     "erased a part of a block", erase->addr);
	for (at = erase->addr; at < erase->addr + erase->len;
	     at += mtd->erasesize) {
		err = erase_block(chip, at / mtd->erasesize);
		if (err)
			return err;
	}
	return 0;
}

void mtd_sync(struct mtd_info *mtd)
{
	(void)mtd;
}

int mtd_block_isbad(struct mtd_info *mtd, loff_t at)
{
	return chip_of(mtd)->is_bad[at / mtd->erasesize];
}

int mtd_block_markbad(struct mtd_info *mtd, loff_t at)
{
	struct chip *chip = chip_of(mtd);

	if (chip->is_off)
		return -EIO;
	chip->is_bad[at / mtd->erasesize] = true;
	return 0;
}
