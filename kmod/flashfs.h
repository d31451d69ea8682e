/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the file systems do alike between the VFS and their own layers: pages of files
 * that are read or begun to be written, positions in a directory, errors.
 *
 * What is the file system's own is handed in as a function. The compiler puts it in
 * place, so that none of this costs a call: the code of a file system is time.
 */
#ifndef FFSLAB_FLASHFS_H
#define FFSLAB_FLASHFS_H

#include <linux/fs.h>
#include <linux/highmem.h>
#include <linux/pagemap.h>

#include "compat.h"

/*
 * Errors of the layers below as the user gets them: data beyond ECC are an I/O error
 * to programs, as on every disk. Contents that break the format stay -EUCLEAN.
 */
static inline int flashfs_user_error(int err)
{
	return err == -EBADMSG ? -EIO : err;
}

/* ---- directories ---- */

/* Positions of entries begin behind those of "." and "..". */
#define FLASHFS_FIRST_POSITION	2

/* Positions are no offsets: the largest file does not limit them. */
static inline loff_t flashfs_dir_llseek(struct file *file, loff_t offset, int whence)
{
	return generic_file_llseek_size(file, offset, whence, LLONG_MAX,
					i_size_read(file_inode(file)));
}

/* ---- pages of files ---- */

/* Bytes of a page at @position that are inside a file of @size bytes. */
static inline u32 flashfs_bytes_inside(u64 size, u64 position)
{
	return size <= position ? 0 : min_t(u64, size - position, PAGE_SIZE);
}

/* What was read into @page is valid if there was no error. */
static inline int flashfs_filled(struct page *page, int err)
{
	if (err)
		return flashfs_user_error(err);
	flush_dcache_page(page);
	SetPageUptodate(page);
	return 0;
}

/* Reads the page with @fill, which makes it valid. */
static inline int flashfs_read_page(struct compat_read *unit,
				    int (*fill)(struct inode *inode, struct page *page))
{
	struct page *page = compat_page(unit);
	int err = fill(page->mapping->host, page);

	compat_unlock(unit);
	return err;
}

/*
 * Zeroes what a mapping left behind the end in the page that holds it. Before a
 * file grows from @size bytes: else that would become part of it.
 */
static inline void flashfs_zero_tail(struct inode *inode, loff_t size)
{
	unsigned int offset = offset_in_page(size);
	struct page *page;

	if (!offset)
		return;
	page = find_lock_page(inode->i_mapping, size >> PAGE_SHIFT);
	if (!page)
		return;
	zero_user_segment(page, offset, PAGE_SIZE);
	unlock_page(page);
	put_page(page);
}

/*
 * Makes the bytes of @page valid that are not to be overwritten. Nothing is read if
 * these are all behind the end of the file; the page is valid after the write then.
 */
static inline int flashfs_prepare_page(struct inode *inode, struct page *page,
				       loff_t pos, unsigned int len,
				       int (*fill)(struct inode *inode, struct page *page))
{
	u32 inside = flashfs_bytes_inside(i_size_read(inode), page_offset(page));
	unsigned int from = offset_in_page(pos);

	if (PageUptodate(page) || len == PAGE_SIZE)
		return 0;
	if (inside && (from || len < inside))
		return fill(inode, page);
	zero_user_segments(page, 0, from, from + len, PAGE_SIZE);
	return 0;
}

/*
 * Of @copied bytes those to be taken over. A page that was not read, and of which the
 * user's buffer gave only a part, is not used: the VFS tries again with that part.
 */
static inline unsigned int flashfs_usable_bytes(struct page *page, unsigned int len,
						unsigned int copied)
{
	return copied < len && !PageUptodate(page) ? 0 : copied;
}

#endif
