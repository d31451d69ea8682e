// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contents of files: the page cache, which is written back.
 *
 * A page is a block. write(2) and stores through mappings make pages dirty; they go to
 * the log when the kernel writes them back, in its order. Who makes a page dirty has room
 * reserved for it first, so that writing back does not fail for lack of it: "no room" is
 * said to who writes. A page with such a promise has PagePrivate, until it was written or
 * is dropped.
 *
 * What is behind the end of the file in its last page is zero when it is written.
 *
 * Limits: no direct I/O, no fallocate. No read-ahead: MTD's backing device has none, and
 * the flash would not read faster. A full partition refuses what would only replace data,
 * since these become free with a commit, not before.
 */

#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/writeback.h>

#include "vfs.h"

/* What PagePrivate stands for is counted by the core, so the value is of no account. */
#define LOGFS_RESERVED	1

/* Both with the page locked. */
static void logfs_page_keep(struct page *page)
{
	attach_page_private(page, (void *)LOGFS_RESERVED);
}

static void logfs_page_release(struct page *page)
{
	if (!PagePrivate(page))
		return;
	detach_page_private(page);
	logfs_unreserve(logfs_dev_of(page->mapping->host), 1);
}

/* ---- reading ---- */

/* Behind the end of the file are zeros. */
static int logfs_fill_page(struct inode *inode, struct page *page)
{
	struct logfs_device *dev = logfs_dev_of(inode);
	u8 *to = compat_map(page);
	int err;

	logfs_lock(dev);
	err = logfs_block_read(logfs_node_of(inode), compat_index(page), to);
	logfs_unlock(dev);
	compat_unmap(to);
	return flashfs_filled(page, err);
}

static int logfs_read_page(struct file *file, struct compat_read *unit)
{
	return flashfs_read_page(unit, logfs_fill_page);
}

/* ---- writing ---- */

/* Not in place: it is rarely called, from here and from inode.c. */
noinline void logfs_zero_tail(struct inode *inode, loff_t size)
{
	flashfs_zero_tail(inode, size);
}

static int logfs_write_begin(COMPAT_WRITER_PARAM struct address_space *mapping,
			     loff_t pos, unsigned int len, COMPAT_FLAGS_PARAM
			     struct compat_begun **begun, void **fsdata)
{
	struct inode *inode = mapping->host;
	loff_t size = i_size_read(inode);
	struct page *page;
	int err;

	err = logfs_reserve_page(inode);
	if (err)
		return flashfs_user_error(err);
	if (pos > size)
		logfs_zero_tail(inode, size);

	page = compat_grab_page(mapping, pos >> PAGE_SHIFT);
	err = page ? flashfs_prepare_page(inode, page, pos, len, logfs_fill_page) : -ENOMEM;
	if (err || PagePrivate(page))
		logfs_unreserve(logfs_dev_of(inode), 1);
	if (!err) {
		if (!PagePrivate(page))
			logfs_page_keep(page);
		*begun = (struct compat_begun *)page;
	} else if (page) {
		unlock_page(page);
		put_page(page);
	}
	return err;
}

static int logfs_write_end(COMPAT_WRITER_PARAM struct address_space *mapping,
			   loff_t pos, unsigned int len, unsigned int copied,
			   struct compat_begun *begun, void *fsdata)
{
	struct page *page = compat_page(begun);
	struct inode *inode = mapping->host;

	copied = flashfs_usable_bytes(page, len, copied);
	if (copied) {
		SetPageUptodate(page);
		set_page_dirty(page);
		if (pos + copied > i_size_read(inode)) {
			i_size_write(inode, pos + copied);
			mark_inode_dirty(inode);
		}
	} else if (!PageDirty(page)) {
		logfs_page_release(page);
	}
	unlock_page(page);
	put_page(page);
	return copied;
}

/* ---- writing back ---- */

static int logfs_write_block(struct inode *inode, struct page *page, loff_t size)
{
	struct logfs_device *dev = logfs_dev_of(inode);
	loff_t end = min(size, page_offset(page) + (loff_t)PAGE_SIZE);
	u8 *from = compat_map(page);
	int err;

	memset(from + (end - page_offset(page)), 0, page_offset(page) + PAGE_SIZE - end);
	err = logfs_begin_write(dev, 0);
	if (!err) {
		err = logfs_block_write(logfs_node_of(inode), compat_index(page), from, end);
		logfs_unlock(dev);
	}
	compat_unmap(from);
	return err;
}

/*
 * The page stays locked until all is done, so nothing else sees it in between. Lack of
 * memory can pass; other errors are the end of these data.
 */
static int logfs_write_page(struct compat_dirty *unit, struct writeback_control *wbc,
			    void *data)
{
	struct page *page = compat_page(unit);
	struct inode *inode = page->mapping->host;
	loff_t size = i_size_read(inode);
	int err = 0;

	set_page_writeback(page);
	if (page_offset(page) < size)
		err = logfs_write_block(inode, page, size);
	if (err == -ENOMEM) {
		redirty_page_for_writepage(wbc, page);
	} else {
		logfs_page_release(page);
		if (err)
			mapping_set_error(page->mapping, flashfs_user_error(err));
	}
	end_page_writeback(page);
	unlock_page(page);
	return flashfs_user_error(err);
}

static int logfs_writepages(struct address_space *mapping,
			    struct writeback_control *wbc)
{
	return compat_write_pages(mapping, wbc, logfs_write_page);
}

/* ---- pages that go unwritten ---- */

static void logfs_invalidate(struct compat_invalid *unit, COMPAT_RANGE_PARAM)
{
	if (!from && bytes >= PAGE_SIZE)
		logfs_page_release(compat_page(unit));
}

/* ---- mappings ---- */

static vm_fault_t logfs_page_mkwrite(struct vm_fault *vmf)
{
	struct inode *inode = file_inode(vmf->vma->vm_file);
	struct page *page = vmf->page;
	vm_fault_t result = VM_FAULT_LOCKED;
	int err;

	sb_start_pagefault(inode->i_sb);
	err = file_update_time(vmf->vma->vm_file);
	if (!err)
		err = logfs_reserve_page(inode);
	if (err) {
		result = err == -ENOMEM ? VM_FAULT_OOM : VM_FAULT_SIGBUS;
		goto out_end;
	}
	lock_page(page);
	if (page->mapping != inode->i_mapping ||
	    page_offset(page) >= i_size_read(inode)) {
		unlock_page(page);
		logfs_unreserve(logfs_dev_of(inode), 1);
		result = VM_FAULT_NOPAGE;
		goto out_end;
	}
	if (PagePrivate(page))
		logfs_unreserve(logfs_dev_of(inode), 1);
	else
		logfs_page_keep(page);
	set_page_dirty(page);
	compat_wait_stable(page);
out_end:
	sb_end_pagefault(inode->i_sb);
	return result;
}

static const struct vm_operations_struct logfs_vm_operations = {
	.fault = filemap_fault,
	.map_pages = filemap_map_pages,
	.page_mkwrite = logfs_page_mkwrite,
};

static int logfs_mmap(struct file *file, struct vm_area_struct *vma)
{
	file_accessed(file);
	vma->vm_ops = &logfs_vm_operations;
	return 0;
}

/* ---- to flash ---- */

/* A commit is of the whole file system. The size is the node's: data alone need no inode. */
int logfs_vfs_fsync(struct file *file, loff_t start, loff_t end, int datasync)
{
	struct inode *inode = file_inode(file);
	int err;

	err = file_write_and_wait_range(file, start, end);
	if (!err && !datasync)
		err = sync_inode_metadata(inode, 1);
	if (!err)
		err = logfs_sync(inode->i_sb);
	return flashfs_user_error(err);
}

const struct address_space_operations logfs_file_aops = {
	.compat_read_operation = logfs_read_page,
	.write_begin = logfs_write_begin,
	.write_end = logfs_write_end,
	.writepages = logfs_writepages,
	.compat_invalidate_operation = logfs_invalidate,
	COMPAT_DIRTY_OPERATION,
	COMPAT_MIGRATE_OPERATION,
	COMPAT_REMOVE_OPERATION,
};

const struct file_operations logfs_file_operations = {
	.llseek = logfs_vfs_llseek,
	.read_iter = generic_file_read_iter,
	.write_iter = generic_file_write_iter,
	.mmap = logfs_mmap,
	.open = generic_file_open,
	.fsync = logfs_vfs_fsync,
	.splice_read = compat_splice_read,
	.splice_write = iter_file_splice_write,
	COMPAT_LEASE_OPERATION
};
