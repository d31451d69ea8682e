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
 * Loading makes the two partitions, unloading removes them.
 *
 * Limit: a block device of an MTD device skips no bad block, so one below the
 * image is an error here, before a file system reads wrong data.
 */

#include <linux/kernel.h>
#include <linux/math64.h>
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

static void remove_part(struct mtd_info *whole, const char *name)
{
	struct mtd_info *part = get_mtd_device_nm(name);
	int number;

	if (IS_ERR(part))
		return;
	number = part->index;
	put_mtd_device(part);
	if (mtd_del_partition(whole, number))
		pr_err("mtdsplit: cannot remove '%s': it is in use\n", name);
}

static int check_blocks(struct mtd_info *whole, u64 bytes)
{
	u64 at;

	for (at = 0; at < bytes; at += whole->erasesize) {
		if (mtd_block_isbad(whole, at) <= 0)
			continue;
		pr_err("mtdsplit: block %llu of '%s' is bad and below the SquashFS image: a block device of MTD skips none. Choose another seed or other bad blocks, or SquashFS on UBI (overlay-ubifs)\n",
		       div_u64(at, whole->erasesize), whole->name);
		return -EBADMSG;
	}
	return 0;
}

/* Return: 0 with *@bytes, whole erase blocks, or a negative errno. */
static int image_bytes(struct mtd_info *whole, u64 *bytes)
{
	struct squashfs_head head;
	size_t got;
	int err;

	err = check_blocks(whole, 1);
	if (err)
		return err;
	err = mtd_read(whole, 0, sizeof(head), &got, (u8 *)&head);
	if (err && !mtd_is_bitflip(err))
		return err;
	*bytes = le64_to_cpu(head.bytes_used);
	if (got != sizeof(head) || le32_to_cpu(head.magic) != SQUASHFS_MAGIC ||
	    !*bytes || *bytes > whole->size) {
		pr_err("mtdsplit: '%s' does not begin with SquashFS\n",
		       whole->name);
		return -EINVAL;
	}
	*bytes = (u64)mtd_div_by_eb(*bytes + whole->erasesize - 1, whole) *
		 whole->erasesize;
	if (*bytes >= whole->size) {
		pr_err("mtdsplit: nothing of '%s' is left behind SquashFS\n",
		       whole->name);
		return -ENOSPC;
	}
	return check_blocks(whole, *bytes);
}

static int split(struct mtd_info *whole)
{
	u64 bytes;
	int err = image_bytes(whole, &bytes);

	if (err)
		return err;
	err = mtd_add_partition(whole, lower, 0, bytes);
	if (err)
		return err;
	err = mtd_add_partition(whole, upper, bytes, whole->size - bytes);
	if (err)
		remove_part(whole, lower);
	return err;
}

static struct mtd_info *divided;

static int __init mtdsplit_init(void)
{
	int err;

	divided = get_mtd_device_nm(mtd);
	if (IS_ERR(divided))
		return PTR_ERR(divided);
	err = split(divided);
	if (err)
		put_mtd_device(divided);
	return err;
}
module_init(mtdsplit_init);

static void __exit mtdsplit_exit(void)
{
	remove_part(divided, upper);
	remove_part(divided, lower);
	put_mtd_device(divided);
}
module_exit(mtdsplit_exit);

MODULE_DESCRIPTION("Divides an MTD partition behind its SquashFS image");
MODULE_LICENSE("GPL");
