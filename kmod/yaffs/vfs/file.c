// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contents of files, between the page cache and data.c.
 *
 * The page cache is write-through: what write(2) puts into a page goes to the object
 * before it returns, exactly the bytes that were written. The short-op cache below
 * gathers small writes into chunks. So pages are clean, errors are reported to who
 * wrote, and after an error a page with data that the flash does not have is dropped
 * from the cache. Only stores through shared mappings make pages dirty; these go to
 * the object when the kernel writes them back.
 *
 * Space: a flash page is never overwritten in place, but its old contents become
 * free space for the garbage collector. So writing what is there already needs no
 * space in the end, and is allowed when new data are refused. A store through a
 * mapping cannot report an error later, so the chunks of a hole are written, as
 * zeros, when a page over it is first to be written.
 *
 * The size of the inode is that of the object; both change under the inode's lock.
 * Writing back stops at the object's size: a mapping cannot extend a file.
 *
 * Limits: no direct I/O, no fallocate, holes are not reported to SEEK_HOLE. No
 * read-ahead: MTD's backing device has none, and the flash would not read faster.
 */

#include <linux/highmem.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/writeback.h>

#include "../core/blocks.h"
#include "../core/contents.h"
#include "../core/names.h"
#include "../core/pages.h"
#include "../core/request.h"
#include "vfs.h"

/* ---- chunks under a range of bytes; all of these need the lock ---- */

/* Bytes from @position to the end of its chunk, @limit at most. */
static u32 yaffs_piece(const struct yaffs_device *dev, u64 position, u32 limit,
		       u32 *chunk_id)
{
	u32 offset;

	*chunk_id = div_u64_rem(position, dev->chunk_bytes, &offset) + 1;
	return min(dev->chunk_bytes - offset, limit);
}

static bool yaffs_has_holes(struct yaffs_object *obj, u64 position, u32 bytes)
{
	u32 piece, chunk_id;

	for (; bytes; position += piece, bytes -= piece) {
		piece = yaffs_piece(obj->dev, position, bytes, &chunk_id);
		if (!yaffs_file_has_chunk(obj, chunk_id))
			return true;
	}
	return false;
}

static int yaffs_check_space(struct yaffs_object *obj, u64 position, u32 bytes)
{
	if (yaffs_free_chunks(obj->dev) > YAFFS_LOW_CHUNKS)
		return 0;
	return yaffs_has_holes(obj, position, bytes) ? -ENOSPC : 0;
}

/* Writes chunk by chunk, so that @done tells how far it came before an error. */
static int yaffs_write_pieces(struct yaffs_object *obj, u64 position,
			      const u8 *from, u32 bytes, u32 *done)
{
	u32 piece, chunk_id;
	int err;

	for (*done = 0; *done < bytes; *done += piece) {
		piece = yaffs_piece(obj->dev, position + *done, bytes - *done,
				    &chunk_id);
		err = yaffs_file_write(obj, position + *done, from + *done, piece);
		if (err)
			return err;
	}
	return 0;
}

static int yaffs_fill_holes(struct yaffs_object *obj, u64 position, const u8 *from,
			    u32 bytes)
{
	u32 piece, chunk_id;
	int err;

	for (; bytes; position += piece, from += piece, bytes -= piece) {
		piece = yaffs_piece(obj->dev, position, bytes, &chunk_id);
		if (yaffs_file_has_chunk(obj, chunk_id))
			continue;
		err = yaffs_file_write(obj, position, from, piece);
		if (err)
			return err;
	}
	return 0;
}

/* ---- reading ---- */

/* Behind the end of the file are zeros. */
static int yaffs_fill_page(struct inode *inode, struct page *page)
{
	struct yaffs_device *dev = yaffs_dev(inode);
	struct yaffs_request request;
	u8 *to = compat_map(page);
	int err;

	yaffs_enter(dev, &request, 0);
	err = yaffs_file_read(yaffs_obj(inode), page_offset(page), to, PAGE_SIZE);
	yaffs_leave(dev, &request);
	compat_unmap(to);
	return flashfs_filled(page, err);
}

static int yaffs_read_page(struct file *file, struct compat_read *unit)
{
	return flashfs_read_page(unit, yaffs_fill_page);
}

/* ---- writing ---- */

/* Not in place: it is rarely called, from here and from inode.c. */
noinline void yaffs_zero_tail(struct inode *inode, loff_t size)
{
	flashfs_zero_tail(inode, size);
}

static int yaffs_write_begin(COMPAT_WRITER_PARAM struct address_space *mapping,
			     loff_t pos, unsigned int len, COMPAT_FLAGS_PARAM
			     struct compat_begun **begun, void **fsdata)
{
	struct inode *inode = mapping->host;
	struct yaffs_device *dev = yaffs_dev(inode);
	loff_t size = i_size_read(inode);
	struct page *page;
	int err;

	yaffs_lock(dev);
	err = yaffs_check_space(yaffs_obj(inode), pos, len);
	yaffs_unlock(dev);
	if (err)
		return err;
	if (pos > size)
		yaffs_zero_tail(inode, size);

	page = compat_grab_page(mapping, pos >> PAGE_SHIFT);
	if (!page)
		return -ENOMEM;
	err = flashfs_prepare_page(inode, page, pos, len, yaffs_fill_page);
	if (err) {
		unlock_page(page);
		put_page(page);
		return err;
	}
	*begun = (struct compat_begun *)page;
	return 0;
}

/* To the object; returns how many bytes got there, or an error if none did. */
static int yaffs_write_through(struct inode *inode, struct page *page, loff_t pos,
			       u32 bytes)
{
	struct yaffs_device *dev = yaffs_dev(inode);
	struct yaffs_object *obj = yaffs_obj(inode);
	u8 *from = compat_map(page);
	loff_t size;
	u32 done;
	int err;

	yaffs_lock(dev);
	err = yaffs_write_pieces(obj, pos, from + offset_in_page(pos), bytes, &done);
	size = obj->file.size;
	yaffs_unlock(dev);
	compat_unmap(from);
	if (size != i_size_read(inode)) {
		i_size_write(inode, size);
		mark_inode_dirty(inode);
	}
	return done ? done : flashfs_user_error(err);
}

static int yaffs_write_end(COMPAT_WRITER_PARAM struct address_space *mapping,
			   loff_t pos, unsigned int len, unsigned int copied,
			   struct compat_begun *begun, void *fsdata)
{
	struct page *page = compat_page(begun);
	int done = 0;

	copied = flashfs_usable_bytes(page, len, copied);
	if (copied)
		done = yaffs_write_through(mapping->host, page, pos, copied);
	if (copied && done == copied)
		SetPageUptodate(page);
	else if (copied && !PageDirty(page))
		compat_remove_page(mapping, page);
	unlock_page(page);
	put_page(page);
	return done;
}

/* ---- writing back what mappings changed ---- */

/* Lack of memory or space can pass; other errors are the end of these data. */
static void yaffs_page_failed(struct page *page, struct writeback_control *wbc,
			      int err)
{
	if (err != -ENOMEM)
		mapping_set_error(page->mapping, flashfs_user_error(err));
	if (err == -ENOMEM || err == -ENOSPC)
		redirty_page_for_writepage(wbc, page);
}

/* The page stays locked until all is done, so nothing else sees it in between. */
static int yaffs_write_page(struct compat_dirty *unit, struct writeback_control *wbc,
			    void *data)
{
	struct page *page = compat_page(unit);
	struct inode *inode = page->mapping->host;
	struct yaffs_device *dev = yaffs_dev(inode);
	struct yaffs_object *obj = yaffs_obj(inode);
	u64 position = page_offset(page);
	u8 *from = compat_map(page);
	u32 inside, done;
	int err;

	set_page_writeback(page);
	yaffs_lock(dev);
	inside = flashfs_bytes_inside(obj->file.size, position);
	err = yaffs_write_pieces(obj, position, from, inside, &done);
	yaffs_unlock(dev);
	memset(from + inside, 0, PAGE_SIZE - inside);
	compat_unmap(from);
	if (err)
		yaffs_page_failed(page, wbc, err);
	end_page_writeback(page);
	unlock_page(page);
	if (wbc->sync_mode == WB_SYNC_NONE)
		yaffs_let_others(dev);
	return flashfs_user_error(err);
}

static int yaffs_writepages(struct address_space *mapping,
			    struct writeback_control *wbc)
{
	return compat_write_pages(mapping, wbc, yaffs_write_page);
}

/* ---- mappings ---- */

/* Makes sure that the page can be written back: has space, and no hole under it. */
static int yaffs_reserve_page(struct inode *inode, struct page *page)
{
	struct yaffs_device *dev = yaffs_dev(inode);
	struct yaffs_request request;
	struct yaffs_object *obj = yaffs_obj(inode);
	u64 position = page_offset(page);
	u8 *from = compat_map(page);
	u32 inside;
	int err;

	yaffs_enter(dev, &request, 2);
	inside = flashfs_bytes_inside(obj->file.size, position);
	err = yaffs_check_space(obj, position, inside);
	if (!err)
		err = yaffs_fill_holes(obj, position, from, inside);
	yaffs_leave(dev, &request);
	compat_unmap(from);
	return err;
}

static vm_fault_t yaffs_page_mkwrite(struct vm_fault *vmf)
{
	struct inode *inode = file_inode(vmf->vma->vm_file);
	struct page *page = vmf->page;
	vm_fault_t result = VM_FAULT_LOCKED;
	int err;

	sb_start_pagefault(inode->i_sb);
	err = file_update_time(vmf->vma->vm_file);
	lock_page(page);
	if (page->mapping != inode->i_mapping ||
	    page_offset(page) >= i_size_read(inode)) {
		result = VM_FAULT_NOPAGE;
		goto out_unlock;
	}
	if (!err)
		err = yaffs_reserve_page(inode, page);
	if (err) {
		result = err == -ENOMEM ? VM_FAULT_OOM : VM_FAULT_SIGBUS;
		goto out_unlock;
	}
	set_page_dirty(page);
	compat_wait_stable(page);
	sb_end_pagefault(inode->i_sb);
	return result;

out_unlock:
	unlock_page(page);
	sb_end_pagefault(inode->i_sb);
	return result;
}

static const struct vm_operations_struct yaffs_vm_operations = {
	.fault = filemap_fault,
	.map_pages = filemap_map_pages,
	.page_mkwrite = yaffs_page_mkwrite,
};

static int yaffs_mmap(struct file *file, struct vm_area_struct *vma)
{
	file_accessed(file);
	vma->vm_ops = &yaffs_vm_operations;
	return 0;
}

/* ---- to flash ---- */

/* What a call writes that empties the cache: a header beside. */
static u32 yaffs_pages_to_sync(const struct yaffs_device *dev)
{
	return READ_ONCE(dev->n_dirty_slots) + 1;
}

int yaffs_vfs_fsync(struct file *file, loff_t start, loff_t end, int datasync)
{
	struct inode *inode = file_inode(file);
	struct yaffs_device *dev = yaffs_dev(inode);
	struct yaffs_request request;
	int err;

	yaffs_request_begin(dev, &request, yaffs_pages_to_sync(dev));
	err = file_write_and_wait_range(file, start, end);
	if (!err) {
		yaffs_lock(dev);
		err = yaffs_object_sync(yaffs_obj(inode), datasync);
		yaffs_unlock(dev);
	}
	yaffs_request_end(dev, &request);
	return flashfs_user_error(err);
}

/* Closing a file that was open for writing writes the header, and tells errors. */
static int yaffs_flush(struct file *file, fl_owner_t id)
{
	struct inode *inode = file_inode(file);
	struct yaffs_device *dev = yaffs_dev(inode);
	struct yaffs_request request;
	int err;

	if (!(file->f_mode & FMODE_WRITE) || !inode->i_nlink)
		return 0;
	yaffs_enter(dev, &request, yaffs_pages_to_sync(dev));
	err = yaffs_object_sync(yaffs_obj(inode), false);
	yaffs_leave(dev, &request);
	return flashfs_user_error(err);
}

/* ---- calls that take the lock for each page ---- */

static ssize_t yaffs_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct yaffs_device *dev = yaffs_dev(file_inode(iocb->ki_filp));
	struct yaffs_request request;
	ssize_t done;

	yaffs_request_begin(dev, &request, 0);
	done = generic_file_read_iter(iocb, to);
	yaffs_request_end(dev, &request);
	return done;
}

/* The part of a chunk that was written last may push another out of the cache. */
static ssize_t yaffs_write_iter(struct kiocb *iocb, struct iov_iter *from)
{
	struct yaffs_device *dev = yaffs_dev(file_inode(iocb->ki_filp));
	u32 pages = iov_iter_count(from) / dev->chunk_bytes + 1;
	struct yaffs_request request;
	ssize_t done;

	yaffs_request_begin(dev, &request, pages);
	done = generic_file_write_iter(iocb, from);
	yaffs_request_end(dev, &request);
	return done;
}

const struct address_space_operations yaffs_file_aops = {
	.compat_read_operation = yaffs_read_page,
	.write_begin = yaffs_write_begin,
	.write_end = yaffs_write_end,
	.writepages = yaffs_writepages,
	COMPAT_DIRTY_OPERATION,
	COMPAT_MIGRATE_OPERATION,
	COMPAT_REMOVE_OPERATION,
};

const struct file_operations yaffs_file_operations = {
	.llseek = generic_file_llseek,
	.read_iter = yaffs_read_iter,
	.write_iter = yaffs_write_iter,
	.mmap = yaffs_mmap,
	.open = generic_file_open,
	.flush = yaffs_flush,
	.fsync = yaffs_vfs_fsync,
	.splice_read = compat_splice_read,
	.splice_write = iter_file_splice_write,
	COMPAT_LEASE_OPERATION
};
