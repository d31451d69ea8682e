// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files and directories. Directories are the VFS's own cache of names, as in
 * ramfs. Files write through: a page that write() has filled or changed is in
 * a slot of the flash when write() returns, and the slot it was in before is
 * dropped. So pages of the page cache are never dirty and can be dropped at
 * any time.
 *
 * Not there: symbolic links, device nodes, writing to mapped memory.
 */
#include <linux/highmem.h>
#include <linux/pagemap.h>

#include "scratchfs.h"

/* Fills a page of the page cache from its slot, or with zeroes. */
static int fill_page(struct inode *inode, struct page *page)
{
	void *slot = xa_load(&scratchfs_i(inode)->slots, page->index);
	void *data = kmap_local_page(page);
	int err = 0;

	if (slot)
		err = scratchfs_read(scratchfs_space(inode->i_sb),
				     xa_to_value(slot), data);
	else
		clear_page(data);
	kunmap_local(data);
	flush_dcache_page(page);
	if (!err)
		SetPageUptodate(page);
	return err;
}

/* Writes a page of the page cache into a new slot. */
static int store_page(struct inode *inode, struct page *page)
{
	struct scratchfs_space *space = scratchfs_space(inode->i_sb);
	void *data = kmap_local_page(page);
	void *before;
	u32 slot;
	int err;

	err = scratchfs_write(space, data, &slot);
	kunmap_local(data);
	if (err)
		return err;
	before = xa_store(&scratchfs_i(inode)->slots, page->index,
			  xa_mk_value(slot), GFP_NOFS);
	if (xa_is_err(before)) {
		scratchfs_drop(space, slot);
		return xa_err(before);
	}
	if (before)
		scratchfs_drop(space, xa_to_value(before));
	return 0;
}

/**
 * scratchfs_drop_pages() - drops the slots of the end of a file
 * @inode: the file
 * @from: index of its first page to be dropped
 */
void scratchfs_drop_pages(struct inode *inode, pgoff_t from)
{
	struct scratchfs_inode *file = scratchfs_i(inode);
	unsigned long index;
	void *slot;

	xa_for_each_start(&file->slots, index, slot, from) {
		xa_erase(&file->slots, index);
		scratchfs_drop(scratchfs_space(inode->i_sb), xa_to_value(slot));
	}
}

static int read_folio(struct file *file, struct folio *folio)
{
	int err = fill_page(folio->mapping->host, &folio->page);

	folio_unlock(folio);
	return err;
}

static int write_begin(struct file *file, struct address_space *mapping,
		       loff_t pos, unsigned int len, struct page **found,
		       void **data)
{
	struct page *page;
	int err;

	page = grab_cache_page_write_begin(mapping, pos >> PAGE_SHIFT);
	if (!page)
		return -ENOMEM;
	if (!PageUptodate(page) && len != PAGE_SIZE) {
		err = fill_page(mapping->host, page);
		if (err) {
			unlock_page(page);
			put_page(page);
			return err;
		}
	}
	*found = page;
	return 0;
}

static int write_end(struct file *file, struct address_space *mapping,
		     loff_t pos, unsigned int len, unsigned int copied,
		     struct page *page, void *data)
{
	struct inode *inode = mapping->host;
	int result = copied;
	int err;

	if (!PageUptodate(page) && copied < len) {
		/* The rest of the page was not read: try again. */
		result = 0;
		goto out_page;
	}
	err = store_page(inode, page);
	if (err) {
		/* What the flash has is read again. */
		ClearPageUptodate(page);
		result = err;
		goto out_page;
	}
	SetPageUptodate(page);
	if (pos + copied > i_size_read(inode))
		i_size_write(inode, pos + copied);

out_page:
	unlock_page(page);
	put_page(page);
	return result;
}

static const struct address_space_operations scratchfs_mapping = {
	.read_folio = read_folio,
	.write_begin = write_begin,
	.write_end = write_end,
	.dirty_folio = noop_dirty_folio,
};

static const struct file_operations scratchfs_file = {
	.llseek = generic_file_llseek,
	.read_iter = generic_file_read_iter,
	.write_iter = generic_file_write_iter,
	.mmap = generic_file_readonly_mmap,
	.splice_read = generic_file_splice_read,
	.splice_write = iter_file_splice_write,
	.fsync = noop_fsync,
};

/* Behind the new end of a file, its last page reads as zeroes from now on. */
static int clear_behind(struct inode *inode, loff_t size)
{
	unsigned int offset = offset_in_page(size);
	struct page *page;
	int err;

	if (!offset)
		return 0;
	page = read_mapping_page(inode->i_mapping, size >> PAGE_SHIFT, NULL);
	if (IS_ERR(page))
		return PTR_ERR(page);
	lock_page(page);
	zero_user_segment(page, offset, PAGE_SIZE);
	err = store_page(inode, page);
	if (err)
		ClearPageUptodate(page);
	unlock_page(page);
	put_page(page);
	return err;
}

static int set_attributes(struct user_namespace *users, struct dentry *dentry,
			  struct iattr *attr)
{
	struct inode *inode = d_inode(dentry);
	int err = setattr_prepare(users, dentry, attr);

	if (err)
		return err;
	if (attr->ia_valid & ATTR_SIZE) {
		if (attr->ia_size < i_size_read(inode)) {
			err = clear_behind(inode, attr->ia_size);
			if (err)
				return err;
		}
		truncate_setsize(inode, attr->ia_size);
		scratchfs_drop_pages(inode, DIV_ROUND_UP_ULL(attr->ia_size,
							     PAGE_SIZE));
	}
	setattr_copy(users, inode, attr);
	return 0;
}

static const struct inode_operations scratchfs_file_inode = {
	.setattr = set_attributes,
	.getattr = simple_getattr,
};

static int make(struct inode *dir, struct dentry *dentry, umode_t mode)
{
	struct inode *inode = scratchfs_new_inode(dir->i_sb, dir, mode);

	if (!inode)
		return -ENOMEM;
	d_instantiate(dentry, inode);
	/* Nothing but memory has the name: it must not be given up. */
	dget(dentry);
	dir->i_mtime = current_time(dir);
	dir->i_ctime = dir->i_mtime;
	return 0;
}

static int create(struct user_namespace *users, struct inode *dir,
		  struct dentry *dentry, umode_t mode, bool excl)
{
	return make(dir, dentry, mode | S_IFREG);
}

static int make_directory(struct user_namespace *users, struct inode *dir,
			  struct dentry *dentry, umode_t mode)
{
	int err = make(dir, dentry, mode | S_IFDIR);

	if (!err)
		inc_nlink(dir);
	return err;
}

static const struct inode_operations scratchfs_directory_inode = {
	.create = create,
	.lookup = simple_lookup,
	.link = simple_link,
	.unlink = simple_unlink,
	.mkdir = make_directory,
	.rmdir = simple_rmdir,
	.rename = simple_rename,
};

/**
 * scratchfs_new_inode() - a new file or directory without a name
 * @sb: the file system
 * @dir: its directory; NULL for the root
 * @mode: permissions, and S_IFREG or S_IFDIR
 *
 * Return: the inode, NULL if memory is short.
 */
struct inode *scratchfs_new_inode(struct super_block *sb, struct inode *dir,
				  umode_t mode)
{
	struct inode *inode = new_inode(sb);

	if (!inode)
		return NULL;
	inode->i_ino = get_next_ino();
	inode_init_owner(&init_user_ns, inode, dir, mode);
	inode->i_atime = current_time(inode);
	inode->i_mtime = inode->i_atime;
	inode->i_ctime = inode->i_atime;
	if (S_ISDIR(mode)) {
		inode->i_op = &scratchfs_directory_inode;
		inode->i_fop = &simple_dir_operations;
		inc_nlink(inode);
	} else {
		inode->i_op = &scratchfs_file_inode;
		inode->i_fop = &scratchfs_file;
		inode->i_mapping->a_ops = &scratchfs_mapping;
	}
	return inode;
}
