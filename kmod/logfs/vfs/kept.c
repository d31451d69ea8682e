// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flash that was read, in the page cache of an inode without a name.
 *
 * Inodes and dentries are small, those made together lie together, and each is wanted by itself:
 * without this, listing a directory reads each page of flash again for each name in it. So is a
 * pointer that is wanted without its neighbours. Data and whole blocks of pointers are kept
 * elsewhere. The kernel takes pages back when it is short of memory, and dropping caches drops
 * them.
 *
 * Memory for a page is only taken if it is there: who waited for reclaim would wait with the lock,
 * which reclaim needs to evict inodes.
 *
 * A page of the cache has a page of flash, even if that is half as large: of what lies about the
 * wanted bytes little is wanted at once.
 *
 * No page is here of what is not programmed yet: the core has that, and asks itself first.
 */

#include <linux/log2.h>
#include <linux/pagemap.h>

#include "vfs.h"

static int kept_read(void *arg, u64 place, void *to, u32 bytes)
{
	struct inode *inode = arg;
	const u32 piece_bytes = logfs_piece_bytes(logfs_dev_of(inode));
	const u32 within = (u32)place & (piece_bytes - 1);
	struct page *page;
	u8 *from;
	int err = 0;

	page = find_or_create_page(inode->i_mapping, place >> ilog2(piece_bytes),
				   GFP_NOWAIT | __GFP_NOWARN);
	if (!page)
		return -ENOMEM;
	from = compat_map(page);
	if (!PageUptodate(page)) {
		err = logfs_flash_read(logfs_dev_of(inode), place - within, from,
				       piece_bytes);
		if (!err)
			SetPageUptodate(page);
	}
	memcpy(to, from + within, bytes);
	compat_unmap(from);
	unlock_page(page);
	put_page(page);
	return err;
}

static void kept_forget(void *arg, u64 place, u64 bytes)
{
	struct inode *inode = arg;
	const u32 shift = PAGE_SHIFT - ilog2(logfs_piece_bytes(logfs_dev_of(inode)));

	truncate_inode_pages_range(inode->i_mapping, place << shift,
				   ((place + bytes) << shift) - 1);
}

static const struct logfs_keeper logfs_kept = {
	.read = kept_read,
	.forget = kept_forget,
};

int logfs_kept_begin(struct super_block *sb)
{
	struct inode *inode = new_inode(sb);

	if (!inode)
		return -ENOMEM;
	logfs_keep(sb->s_fs_info, &logfs_kept, inode);
	return 0;
}

void logfs_kept_end(struct super_block *sb)
{
	iput(logfs_keep(sb->s_fs_info, NULL, NULL));
}
