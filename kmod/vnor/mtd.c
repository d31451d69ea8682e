// SPDX-License-Identifier: GPL-2.0-only
/*
 * The MTD device of NOR flash, as the kernel's spi-nor layer presents one: type
 * MTD_NORFLASH, single bytes may be written and bits cleared later
 * (MTD_BIT_WRITEABLE), writes are fastest in pages (writebufsize), and there is
 * no OOB area and no question about bad blocks.
 *
 * So JFFS2 writes without a buffer (without CONFIG_JFFS2_SUMMARY it marks nodes in
 * place, too), and UBI's unit is a byte; before an erase it spoils headers.
 */

#include <linux/mtd/partitions.h>
#include <linux/sched.h>

#include "../vnand/vnand.h"

static struct vnand_chip *chip_of(struct mtd_info *mtd)
{
	return mtd->priv;
}

/* The part of @left bytes at @at that is in one page: which, and where in it. */
static u32 part_of_page(const struct vnand_chip *chip, u64 at, size_t left,
			u32 *page, u32 *column)
{
	u32 page_bytes = chip->p.page_bytes;

	*page = div_u64(at, page_bytes);
	*column = at & (page_bytes - 1);
	return min_t(size_t, page_bytes - *column, left);
}

static int vnor_read(struct mtd_info *mtd, loff_t from, size_t len,
		     size_t *retlen, u_char *buf)
{
	struct vnand_chip *chip = chip_of(mtd);

	mutex_lock(&chip->lock);
	chip->kept_page = VNAND_NO_PAGE;	/* a command of its own */
	while (*retlen < len) {
		struct vnand_read r = { .data = buf + *retlen };

		r.data_bytes = part_of_page(chip, from + *retlen, len - *retlen,
					    &r.page, &r.column);
		vnand_chip_read(chip, &r);
		*retlen += r.data_bytes;
	}
	mutex_unlock(&chip->lock);
	cond_resched();
	return 0;
}

static int vnor_write(struct mtd_info *mtd, loff_t to, size_t len,
		      size_t *retlen, const u_char *buf)
{
	struct vnand_chip *chip = chip_of(mtd);
	int err = 0;

	mutex_lock(&chip->lock);
	while (*retlen < len && !err) {
		u32 page, column;
		u32 bytes = part_of_page(chip, to + *retlen, len - *retlen,
					 &page, &column);

		err = vnand_chip_program(chip, page, column, buf + *retlen,
					 bytes, NULL);
		if (!err)
			*retlen += bytes;
	}
	mutex_unlock(&chip->lock);
	cond_resched();
	return err;
}

static int vnor_erase(struct mtd_info *mtd, struct erase_info *instr)
{
	struct vnand_chip *chip = chip_of(mtd);
	u64 addr = instr->addr, end = instr->addr + instr->len;
	int err = 0;

	if ((addr | instr->len) & (mtd->erasesize - 1))
		return -EINVAL;
	mutex_lock(&chip->lock);
	for (; addr < end && !err; addr += mtd->erasesize) {
		err = vnand_chip_erase(chip, div_u64(addr, mtd->erasesize));
		if (err)
			instr->fail_addr = addr;
	}
	mutex_unlock(&chip->lock);
	cond_resched();
	return err;
}

static void fill_mtd(struct vnand_chip *chip)
{
	const struct vnand_params *p = &chip->p;
	struct mtd_info *mtd = &chip->mtd;

	mtd->name = p->name;
	mtd->owner = THIS_MODULE;
	mtd->priv = chip;
	mtd->type = MTD_NORFLASH;
	mtd->flags = MTD_CAP_NORFLASH;
	mtd->writesize = 1;
	mtd->writebufsize = p->page_bytes;
	mtd->erasesize = p->page_bytes * p->pages_per_block;
	mtd->size = (u64)mtd->erasesize * p->blocks;
	mtd->_read = vnor_read;
	mtd->_write = vnor_write;
	mtd->_erase = vnor_erase;
}

int vnand_mtd_register(struct vnand_chip *chip)
{
	const struct vnand_params *p = &chip->p;
	struct mtd_partition part[VNAND_MAX_PARTS] = {};
	u32 i;

	fill_mtd(chip);
	for (i = 0; i < p->parts; i++) {
		part[i].name = p->part[i].name;
		part[i].offset = (u64)p->part[i].first_block *
				 chip->mtd.erasesize;
		part[i].size = (u64)p->part[i].blocks * chip->mtd.erasesize;
	}
	return mtd_device_register(&chip->mtd, p->parts ? part : NULL, p->parts);
}

int vnand_mtd_unregister(struct vnand_chip *chip)
{
	return mtd_device_unregister(&chip->mtd);
}
