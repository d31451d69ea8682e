// SPDX-License-Identifier: GPL-2.0-only
/*
 * mtdsplit: divides an MTD partition behind the SquashFS image at its beginning.
 *
 * Routers whose root file system is SquashFS below JFFS2 have one partition for
 * both.  The image says how long it is; the writable file system gets what is
 * behind it, from the next erase block on.  So the firmware may grow without a
 * new partition table.  Mainline has no such splitter; this one does what the
 * field's do, from the published format alone (fs/squashfs/squashfs_fs.h).
 *
 * The image lies in good blocks, as who flashes NAND writes it (nandwrite, a
 * boot loader).  A block device of an MTD device skips no bad block, so the
 * lower partition does: it is read-only, and as long as its good blocks.
 *
 * Loading makes the two partitions, unloading removes them.
 */

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mtd/mtd.h>
#include <linux/mtd/partitions.h>

#define SQUASHFS_MAGIC 0x73717368

/* The beginning of SquashFS's superblock. */
struct squashfs_head {
	__le32 magic;
	__le32 skipped[9];
	__le64 bytes_used;
} __packed;

static_assert(sizeof(struct squashfs_head) == 48);

static char *mtd = "data";
module_param(mtd, charp, 0444);
MODULE_PARM_DESC(mtd, "the MTD partition that begins with SquashFS");

static char *lower = "rootfs";
module_param(lower, charp, 0444);
MODULE_PARM_DESC(lower, "the name of the new partition with the image");

static char *upper = "rootfs_data";
module_param(upper, charp, 0444);
MODULE_PARM_DESC(upper, "the name of the new partition behind it");

/**
 * struct division - the partition and its two halves
 * @whole: the partition that is divided, held
 * @lower: the image's good blocks
 * @good: @lower's n-th block is the @good[n]-th of @whole
 */
struct division {
	struct mtd_info *whole;
	struct mtd_info lower;
	u32 *good;
};

static struct division divided;

/* Reads one run within an erase block of the lower partition. */
static int read_within(struct division *d, loff_t from, size_t len, size_t *got,
		       u8 *to)
{
	u32 block = mtd_div_by_eb(from, d->whole);
	u64 at = (u64)d->good[block] * d->whole->erasesize +
		 mtd_mod_by_eb(from, d->whole);
	int err = mtd_read(d->whole, at, len, got, to);

	return mtd_is_bitflip(err) ? 0 : err;
}

static int lower_read(struct mtd_info *mtd, loff_t from, size_t len,
		      size_t *retlen, u_char *to)
{
	size_t run, got;
	int err;

	for (*retlen = 0; *retlen < len; *retlen += got) {
		run = min_t(size_t, len - *retlen,
			    mtd->erasesize - mtd_mod_by_eb(from + *retlen, mtd));
		err = read_within(mtd->priv, from + *retlen, run, &got,
				  to + *retlen);
		if (err)
			return err;
	}
	return 0;
}

/*
 * find_good - list the first @wanted good blocks
 *
 * Return: the number of the block behind the last of them, or a negative errno.
 */
static int find_good(struct mtd_info *whole, u32 *good, u32 wanted)
{
	u32 blocks = mtd_div_by_eb(whole->size, whole), block, found = 0;
	int bad;

	for (block = 0; found < wanted; block++) {
		if (block == blocks) {
			pr_err("mtdsplit: '%s' has %u good blocks, SquashFS needs %u\n",
			       whole->name, found, wanted);
			return -ENOSPC;
		}
		bad = mtd_block_isbad(whole, (u64)block * whole->erasesize);
		if (bad < 0)
			return bad;
		if (!bad)
			good[found++] = block;
	}
	return block;
}

/* Return: 0 with *@bytes as SquashFS's superblock says, or a negative errno. */
static int image_bytes(struct mtd_info *whole, u64 *bytes)
{
	struct squashfs_head head;
	size_t got;
	u32 first;
	int err;

	err = find_good(whole, &first, 1);
	if (err < 0)
		return err;
	err = mtd_read(whole, (u64)first * whole->erasesize, sizeof(head), &got,
		       (u8 *)&head);
	if (err && !mtd_is_bitflip(err))
		return err;
	*bytes = le64_to_cpu(head.bytes_used);
	if (le32_to_cpu(head.magic) != SQUASHFS_MAGIC || !*bytes ||
	    *bytes > whole->size) {
		pr_err("mtdsplit: '%s' does not begin with SquashFS\n",
		       whole->name);
		return -EINVAL;
	}
	return 0;
}

static int register_lower(struct division *d, u32 blocks)
{
	struct mtd_info *mtd = &d->lower;

	mtd->name = lower;
	mtd->type = MTD_NANDFLASH;
	mtd->flags = MTD_NO_ERASE;
	mtd->size = (u64)blocks * d->whole->erasesize;
	mtd->erasesize = d->whole->erasesize;
	mtd->writesize = d->whole->writesize;
	mtd->writebufsize = d->whole->writebufsize;
	mtd->owner = THIS_MODULE;
	mtd->priv = d;
	mtd->_read = lower_read;
	return mtd_device_register(mtd, NULL, 0);
}

/* Makes the partitions of an image of @bytes. Return: 0 or a negative errno. */
static int split(struct division *d, u64 bytes)
{
	u32 erasesize = d->whole->erasesize;
	u32 blocks = div_u64(bytes + erasesize - 1, erasesize);
	int behind, err;
	u64 at;

	d->good = kvmalloc_array(blocks, sizeof(*d->good), GFP_KERNEL);
	if (!d->good)
		return -ENOMEM;
	behind = find_good(d->whole, d->good, blocks);
	if (behind < 0)
		return behind;
	at = (u64)behind * erasesize;
	if (at >= d->whole->size) {
		pr_err("mtdsplit: nothing of '%s' is left behind SquashFS\n",
		       d->whole->name);
		return -ENOSPC;
	}
	err = register_lower(d, blocks);
	if (err)
		return err;
	err = mtd_add_partition(d->whole, upper, at, d->whole->size - at);
	if (err)
		mtd_device_unregister(&d->lower);
	return err;
}

static void release(struct division *d)
{
	kvfree(d->good);
	put_mtd_device(d->whole);
}

static int __init mtdsplit_init(void)
{
	u64 bytes;
	int err;

	divided.whole = get_mtd_device_nm(mtd);
	if (IS_ERR(divided.whole)) {
		pr_err("mtdsplit: there is no partition '%s'\n", mtd);
		return PTR_ERR(divided.whole);
	}
	err = image_bytes(divided.whole, &bytes);
	if (!err)
		err = split(&divided, bytes);
	if (err)
		release(&divided);
	return err;
}
module_init(mtdsplit_init);

static void __exit mtdsplit_exit(void)
{
	struct mtd_info *part = get_mtd_device_nm(upper);

	if (!IS_ERR(part)) {
		int number = part->index;

		put_mtd_device(part);
		if (mtd_del_partition(divided.whole, number))
			pr_err("mtdsplit: cannot remove '%s'\n", upper);
	}
	if (mtd_device_unregister(&divided.lower))
		pr_err("mtdsplit: cannot remove '%s'\n", lower);
	release(&divided);
}
module_exit(mtdsplit_exit);

MODULE_DESCRIPTION("Divides an MTD partition behind its SquashFS image");
MODULE_LICENSE("GPL");
