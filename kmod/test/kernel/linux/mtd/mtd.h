/* SPDX-License-Identifier: GPL-2.0-only */
/* Stand-in: an MTD device, whose functions are the chip's of the test. */
#ifndef USER_LINUX_MTD_MTD_H
#define USER_LINUX_MTD_MTD_H

#include <linux/types.h>

struct mtd_info {
	const char *name;
	u64 size;
	u32 erasesize;
	u32 writesize;
};

struct erase_info {
	u64 addr;
	u64 len;
};

int mtd_read(struct mtd_info *mtd, loff_t from, size_t bytes, size_t *done,
	     u8 *to);
int mtd_write(struct mtd_info *mtd, loff_t to, size_t bytes, size_t *done,
	      const u8 *from);
int mtd_erase(struct mtd_info *mtd, struct erase_info *erase);
void mtd_sync(struct mtd_info *mtd);
int mtd_block_isbad(struct mtd_info *mtd, loff_t at);
int mtd_block_markbad(struct mtd_info *mtd, loff_t at);

static inline u32 mtd_div_by_eb(u64 bytes, const struct mtd_info *mtd)
{
	return (u32)(bytes / mtd->erasesize);
}

#endif
