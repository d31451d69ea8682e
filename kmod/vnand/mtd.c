// SPDX-License-Identifier: GPL-2.0-only
/*
 * The MTD device of a chip: cuts requests into page operations, places OOB
 * bytes, and reports errors the way the kernel's raw NAND layer does.
 *
 * OOB layout: two bytes for the bad-block mark, free bytes, ECC bytes at the end
 * (as the kernel's software Hamming layout for large pages: 2 + 38 + 24 of 64).
 * The ECC bytes themselves are not computed: errors are decided by the fault
 * model, which knows the true contents. They read as 0xff.
 */

#include <linux/mtd/partitions.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "../compat.h"
#include "vnand.h"

static struct vnand_chip *chip_of(struct mtd_info *mtd)
{
	return mtd->priv;
}

static u32 ecc_bytes(const struct vnand_params *p)
{
	u32 steps = p->page_bytes / p->ecc_step_bytes;
	u32 per_step;

	if (!p->ecc_strength_bits)
		return 0;
	if (p->ecc_strength_bits == 1)	/* Hamming: 3 bytes for 256 */
		per_step = 3 * DIV_ROUND_UP(p->ecc_step_bytes, 256);
	else				/* BCH over a field of that size */
		per_step = DIV_ROUND_UP(p->ecc_strength_bits *
					(fls(p->ecc_step_bytes * 8 - 1) + 1), 8);
	return min(steps * per_step, p->oob_bytes - 3);
}

static int vnand_oob_ecc(struct mtd_info *mtd, int section,
			 struct mtd_oob_region *region)
{
	const struct vnand_params *p = &chip_of(mtd)->p;

	if (section || !ecc_bytes(p))
		return -ERANGE;
	region->length = ecc_bytes(p);
	region->offset = p->oob_bytes - region->length;
	return 0;
}

static int vnand_oob_free(struct mtd_info *mtd, int section,
			  struct mtd_oob_region *region)
{
	const struct vnand_params *p = &chip_of(mtd)->p;

	if (section)
		return -ERANGE;
	region->offset = 2;
	region->length = p->oob_bytes - ecc_bytes(p) - 2;
	return 0;
}

static const struct mtd_ooblayout_ops vnand_ooblayout = {
	.ecc = vnand_oob_ecc,
	.free = vnand_oob_free,
};

/* OOB bytes of a request on one page: how many, and where they start. */
static u32 oob_part(struct mtd_info *mtd, const struct mtd_oob_ops *ops,
		    u32 *start)
{
	u32 room = mtd_oobavail(mtd, (struct mtd_oob_ops *)ops);

	*start = ops->ooboffs;
	return min_t(u32, room - ops->ooboffs, ops->ooblen - ops->oobretlen);
}

static void take_oob(struct mtd_info *mtd, struct mtd_oob_ops *ops, u8 *oob)
{
	u32 start, bytes = oob_part(mtd, ops, &start);
	u8 *to = ops->oobbuf + ops->oobretlen;

	if (ops->mode == MTD_OPS_AUTO_OOB)
		mtd_ooblayout_get_databytes(mtd, to, oob, start, bytes);
	else
		memcpy(to, oob + start, bytes);
	ops->oobretlen += bytes;
}

static void put_oob(struct mtd_info *mtd, struct mtd_oob_ops *ops, u8 *oob)
{
	u32 start, bytes = oob_part(mtd, ops, &start);
	const u8 *from = ops->oobbuf + ops->oobretlen;

	memset(oob, 0xff, mtd->oobsize);
	if (ops->mode == MTD_OPS_AUTO_OOB)
		mtd_ooblayout_set_databytes(mtd, from, oob, start, bytes);
	else
		memcpy(oob + start, from, bytes);
	ops->oobretlen += bytes;
}

static bool more_to_do(const struct mtd_oob_ops *ops)
{
	return ops->retlen < ops->len || ops->oobretlen < ops->ooblen;
}

static int read_pages(struct vnand_chip *chip, loff_t from,
		      struct mtd_oob_ops *ops, u8 *oob)
{
	struct mtd_info *mtd = &chip->mtd;
	u32 page_bytes = chip->p.page_bytes;
	u32 page = div_u64(from, page_bytes), column = from & (page_bytes - 1);
	u32 bitflips = 0, uncorrectable = 0;

	while (more_to_do(ops)) {
		bool with_data = ops->retlen < ops->len;
		bool with_oob = ops->oobretlen < ops->ooblen;
		struct vnand_read r = {
			.page = page,
			.column = column,
			.data = with_data ? ops->datbuf + ops->retlen : NULL,
			.data_bytes = with_data ? min_t(size_t, page_bytes - column,
							ops->len - ops->retlen) : 0,
			.oob = with_oob ? oob : NULL,
			.raw = ops->mode == MTD_OPS_RAW,
		};

		vnand_chip_read(chip, &r);
		if (with_oob)
			take_oob(mtd, ops, oob);
		ops->retlen += r.data_bytes;
		bitflips = max(bitflips, r.bitflips);
		uncorrectable += r.uncorrectable;
		mtd->ecc_stats.corrected += r.corrected;
		mtd->ecc_stats.failed += r.uncorrectable;
		compat_tell_reader(ops, r.corrected, r.uncorrectable);
		column = 0;
		page++;
	}
	return uncorrectable ? -EBADMSG : (int)bitflips;
}

static int vnand_read_oob(struct mtd_info *mtd, loff_t from,
			  struct mtd_oob_ops *ops)
{
	struct vnand_chip *chip = chip_of(mtd);
	u8 *oob = NULL;
	int ret;

	if (ops->oobbuf) {
		oob = kmalloc(mtd->oobsize, GFP_NOFS);
		if (!oob)
			return -ENOMEM;
	}
	mutex_lock(&chip->lock);
	ret = read_pages(chip, from, ops, oob);
	mutex_unlock(&chip->lock);
	kfree(oob);
	cond_resched();
	return ret;
}

static int program_pages(struct vnand_chip *chip, loff_t to,
			 struct mtd_oob_ops *ops, u8 *oob)
{
	u32 page_bytes = chip->p.page_bytes;
	u32 page = div_u64(to, page_bytes), column = to & (page_bytes - 1);
	int err = 0;

	while (more_to_do(ops) && !err) {
		bool with_data = ops->retlen < ops->len;
		bool with_oob = ops->oobretlen < ops->ooblen;
		u32 bytes = with_data ? min_t(size_t, page_bytes - column,
					      ops->len - ops->retlen) : 0;

		if (with_oob)
			put_oob(&chip->mtd, ops, oob);
		err = vnand_chip_program(chip, page, column,
					 with_data ? ops->datbuf + ops->retlen : NULL,
					 bytes, with_oob ? oob : NULL);
		if (!err)
			ops->retlen += bytes;
		column = 0;
		page++;
	}
	return err;
}

static int vnand_write_oob(struct mtd_info *mtd, loff_t to,
			   struct mtd_oob_ops *ops)
{
	struct vnand_chip *chip = chip_of(mtd);
	u32 unit = chip->p.page_bytes / chip->p.subpages;
	u8 *oob = NULL;
	int err;

	if (ops->datbuf && (((u64)to | ops->len) & (unit - 1))) {
		pr_err("vnand: %s: write of %zu bytes at %lld is not in whole sub-pages of %u\n",
		       chip->p.name, ops->len, to, unit);
		return -EINVAL;
	}
	if (ops->oobbuf) {
		oob = kmalloc(mtd->oobsize, GFP_NOFS);
		if (!oob)
			return -ENOMEM;
	}
	mutex_lock(&chip->lock);
	err = program_pages(chip, to, ops, oob);
	mutex_unlock(&chip->lock);
	kfree(oob);
	cond_resched();
	return err;
}

static int vnand_erase(struct mtd_info *mtd, struct erase_info *instr)
{
	struct vnand_chip *chip = chip_of(mtd);
	u64 addr = instr->addr, end = instr->addr + instr->len;
	int err = 0;

	if ((addr | instr->len) & (mtd->erasesize - 1))
		return -EINVAL;
	mutex_lock(&chip->lock);
	for (; addr < end && !err; addr += mtd->erasesize) {
		u32 block = div_u64(addr, mtd->erasesize);

		/* As the raw NAND layer: a bad block is refused, not erased. */
		if (vnand_chip_is_bad(chip, block))
			err = -EIO;
		else
			err = vnand_chip_erase(chip, block);
		if (err)
			instr->fail_addr = addr;
	}
	mutex_unlock(&chip->lock);
	cond_resched();
	return err;
}

static int vnand_block_isbad(struct mtd_info *mtd, loff_t offset)
{
	struct vnand_chip *chip = chip_of(mtd);
	int bad;

	/* From the table in memory that every driver keeps: no flash operation. */
	mutex_lock(&chip->lock);
	bad = vnand_chip_is_bad(chip, div_u64(offset, mtd->erasesize));
	vnand_crash_queried(chip, div_u64(offset, mtd->erasesize));
	mutex_unlock(&chip->lock);
	return bad;
}

static int vnand_block_markbad(struct mtd_info *mtd, loff_t offset)
{
	struct vnand_chip *chip = chip_of(mtd);
	u32 block = div_u64(offset, mtd->erasesize);
	int err = 0;

	mutex_lock(&chip->lock);
	if (!vnand_chip_is_bad(chip, block)) {
		err = vnand_chip_mark_bad(chip, block);
		mtd->ecc_stats.badblocks++;
	}
	mutex_unlock(&chip->lock);
	return err;
}

static void fill_mtd(struct vnand_chip *chip)
{
	const struct vnand_params *p = &chip->p;
	struct mtd_info *mtd = &chip->mtd;
	u32 block;

	mtd->name = p->name;
	mtd->owner = THIS_MODULE;
	mtd->priv = chip;
	mtd->type = MTD_NANDFLASH;
	mtd->flags = MTD_CAP_NANDFLASH;
	mtd->writesize = p->page_bytes;
	mtd->writebufsize = p->page_bytes;
	mtd->oobsize = p->oob_bytes;
	mtd->erasesize = p->page_bytes * p->pages_per_block;
	mtd->size = (u64)mtd->erasesize * p->blocks;
	mtd->subpage_sft = ilog2(p->subpages);
	mtd->ecc_strength = p->ecc_strength_bits;
	mtd->ecc_step_size = p->ecc_step_bytes;
	mtd->bitflip_threshold = DIV_ROUND_UP(p->ecc_strength_bits * 3, 4);
	mtd->_read_oob = vnand_read_oob;
	mtd->_write_oob = vnand_write_oob;
	mtd->_erase = vnand_erase;
	mtd->_block_isbad = vnand_block_isbad;
	mtd->_block_markbad = vnand_block_markbad;
	mtd_set_ooblayout(mtd, &vnand_ooblayout);
	mtd->oobavail = mtd_ooblayout_count_freebytes(mtd);
	for (block = 0; block < p->blocks; block++)
		mtd->ecc_stats.badblocks += vnand_chip_is_bad(chip, block);
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
