/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels that modules are built against, 5.10 to 7.3: the
 * only place that asks for a version. Names are ours, since stable kernels take over
 * names of later ones. Each goes when its kernels do.
 *
 * Some words stand for parameters that not every kernel has, with the comma behind
 * them, others for the name of a structure or a member. With 6.1, the lab's, all
 * become what was there before this file: the modules are the same instructions.
 * Where a name is gone by 7.3, its successor is used from 6.13 on, which has it.
 *
 * The page cache of a file has no folios of more than one page, since nothing asks
 * for larger ones: what is given a folio works on its first and only page.
 */
#ifndef FFSLAB_COMPAT_H
#define FFSLAB_COMPAT_H

#include <linux/fs.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/version.h>
#include <linux/writeback.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 10, 0)
#error "this module needs Linux 5.10"
#endif

/* ---- operations on inodes ---- */

/* How the mount changes owners: not at all, since the module does not allow it. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 12, 0)
#define COMPAT_IDMAP_PARAM
#define COMPAT_IDMAP
#elif LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
#define COMPAT_IDMAP_PARAM struct user_namespace *idmap,
#define COMPAT_IDMAP idmap,
#else
#define COMPAT_IDMAP_PARAM struct mnt_idmap *idmap,
#define COMPAT_IDMAP idmap,
#endif

/* Of a file that is made. All are new: before, the VFS said whether they had to be. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 3, 0)
#define COMPAT_CREATE_PARAM umode_t mode, bool excl
#else
#define COMPAT_CREATE_PARAM umode_t mode
#endif

/* What the VFS is told of a new directory: the error alone, as it keeps its dentry. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
#define compat_made int
#define compat_made_or(err) (err)
#else
#define compat_made struct dentry *
#define compat_made_or(err) ERR_PTR(err)
#endif

/* The time that an inode is to get, of which later kernels leave the choice. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
#define COMPAT_FILL_MASK
#define COMPAT_TIME_PARAM struct timespec64 *time,
#define COMPAT_TIME(inode) time
#else
#define COMPAT_FILL_MASK mask,
#define COMPAT_TIME_PARAM
#define COMPAT_TIME(inode) ((struct timespec64[]){ current_time(inode) })
#endif

/* Which of its times that are: later kernels set those of a change together. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
#define COMPAT_WHICH_PARAM int which
#define COMPAT_IS_ATIME (which & S_ATIME)
#define COMPAT_IS_MTIME (which & S_MTIME)
#define COMPAT_IS_CTIME (which & S_CTIME)
#else
#define COMPAT_WHICH_PARAM enum fs_update_time which, unsigned int flags
#define COMPAT_IS_ATIME (which == FS_UPD_ATIME)
#define COMPAT_IS_MTIME (which == FS_UPD_CMTIME)
#define COMPAT_IS_CTIME (which == FS_UPD_CMTIME)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
#define compat_ctime(inode) ((inode)->i_ctime)
#define compat_set_ctime(inode, time) ((inode)->i_ctime = (time))
#else
#define compat_ctime(inode) inode_get_ctime(inode)
#define compat_set_ctime(inode, time) inode_set_ctime_to_ts(inode, time)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
#define compat_atime(inode) ((inode)->i_atime)
#define compat_mtime(inode) ((inode)->i_mtime)
#define compat_set_atime(inode, time) ((inode)->i_atime = (time))
#define compat_set_mtime(inode, time) ((inode)->i_mtime = (time))
#else
#define compat_atime(inode) inode_get_atime(inode)
#define compat_mtime(inode) inode_get_mtime(inode)
#define compat_set_atime(inode, time) inode_set_atime_to_ts(inode, time)
#define compat_set_mtime(inode, time) inode_set_mtime_to_ts(inode, time)
#endif

/* Whether iget_locked() made the inode, which is to be set up then. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 19, 0)
#define compat_is_new(inode) ((inode)->i_state & I_NEW)
#else
#define compat_is_new(inode) (inode_state_read_once(inode) & I_NEW)
#endif

/* What a file without a name is opened by: struct compat_unnamed. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#define compat_unnamed dentry
#define compat_finish_unnamed(unnamed, err) (err)
#else
#define compat_unnamed file
#define compat_finish_unnamed(unnamed, err) finish_open_simple(unnamed, err)
#endif

/*
 * Flags of files as chattr(1) sets them: struct compat_flags; before, each file system
 * had its own ioctl.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 13, 0)
#define COMPAT_FLAGS_OPERATIONS(get, set)
#else
#include <linux/fileattr.h>
#define COMPAT_HAS_FLAGS
#define COMPAT_FLAGS_OPERATIONS(get, set) .fileattr_get = (get), .fileattr_set = (set),
#endif
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define compat_flags fileattr
#else
#define compat_flags file_kattr
#endif

/* Leases of files (fcntl(2)), which every file system had that said nothing. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#define COMPAT_LEASE_OPERATION
#else
#include <linux/filelock.h>
#define COMPAT_LEASE_OPERATION .setlease = generic_setlease,
#endif

/* ---- pages of files ---- */

/* The page that compat_read, compat_begun or compat_dirty is, or begins with. */
#define compat_page(unit) ((struct page *)(unit))

/* Where it is in its file, in pages. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#define compat_index(page) ((page)->index)
#else
#define compat_index(page) (page_folio(page)->index)
#endif

/* To be read: struct compat_read. Only file systems give flags, to themselves. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 19, 0)
#define compat_read page
#define compat_read_operation readpage
#define compat_unlock(unit) unlock_page(unit)
#define COMPAT_FLAGS_PARAM unsigned int flags,
#else
#define compat_read folio
#define compat_read_operation read_folio
#define compat_unlock(unit) folio_unlock(unit)
#define COMPAT_FLAGS_PARAM
#endif

/* The page to be written to, locked; NULL if there is no memory for it. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 19, 0)
#define compat_grab_page(mapping, index) \
	grab_cache_page_write_begin(mapping, index, 0)
#elif LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#define compat_grab_page(mapping, index) \
	grab_cache_page_write_begin(mapping, index)
#else
static inline struct page *compat_grab_page(struct address_space *mapping, pgoff_t index)
{
	struct folio *folio = __filemap_get_folio(mapping, index, FGP_WRITEBEGIN,
						  mapping_gfp_mask(mapping));

	return IS_ERR(folio) ? NULL : folio_page(folio, 0);
}
#endif

/* Who writes, if it is no part of the kernel. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define COMPAT_WRITER_PARAM struct file *file,
#else
#define COMPAT_WRITER_PARAM const struct kiocb *iocb,
#endif

/* Between the beginning and the end of a write: struct compat_begun. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#define compat_begun page
#else
#define compat_begun folio
#endif

/* To be written back: struct compat_dirty. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
#define compat_dirty page
#else
#define compat_dirty folio
#endif

/* Writes back with @write, which gets each page locked, and unlocks it. */
static inline int
compat_write_pages(struct address_space *mapping, struct writeback_control *wbc,
		   int (*write)(struct compat_dirty *unit,
				struct writeback_control *wbc, void *data))
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
	return write_cache_pages(mapping, wbc, write, NULL);
#else
	struct compat_dirty *unit = NULL;
	int err;

	while ((unit = writeback_iter(mapping, wbc, unit, &err)))
		err = write(unit, wbc, NULL);
	return err;
#endif
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
#define compat_remove_page(mapping, page) generic_error_remove_page(mapping, page)
#define COMPAT_REMOVE_OPERATION .error_remove_page = generic_error_remove_page
#else
#define compat_remove_page(mapping, page) \
	generic_error_remove_folio(mapping, page_folio(page))
#define COMPAT_REMOVE_OPERATION .error_remove_folio = generic_error_remove_folio
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 18, 0)
#define COMPAT_DIRTY_OPERATION .set_page_dirty = __set_page_dirty_nobuffers
#else
#define COMPAT_DIRTY_OPERATION .dirty_folio = filemap_dirty_folio
#endif

/* A page is no longer of its file, or only its first @from bytes are. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 18, 0)
#define compat_invalid page
#define compat_invalidate_operation invalidatepage
#define COMPAT_RANGE_PARAM unsigned int from, unsigned int bytes
#else
#define compat_invalid folio
#define compat_invalidate_operation invalidate_folio
#define COMPAT_RANGE_PARAM size_t from, size_t bytes
#endif

/* Where it is not set, the kernel itself moves pages that are clean. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 0, 0)
#define COMPAT_MIGRATE_OPERATION .migratepage = NULL
#else
#define COMPAT_MIGRATE_OPERATION .migrate_folio = filemap_migrate_folio
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
#define compat_splice_read generic_file_splice_read
#else
#define compat_splice_read filemap_splice_read
#endif

/* Before a page changes: until no device reads it. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#define compat_wait_stable(page) wait_for_stable_page(page)
#else
#define compat_wait_stable(page) folio_wait_stable(page_folio(page))
#endif

/* An address of a page that is given back by address, and may be held while waiting. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 11, 0)
#define compat_map(page) kmap(page)
#define compat_unmap(address) kunmap(kmap_to_page(address))
#else
#define compat_map(page) kmap_local_page(page)
#define compat_unmap(address) kunmap_local(address)
#endif

/* ---- memory ---- */

/* Earlier kernels warn if there is nothing to be freed. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#define compat_free_bulk(cache, n, objects)				\
	do {								\
		if (n)							\
			kmem_cache_free_bulk(cache, n, objects);	\
	} while (0)
#else
#define compat_free_bulk(cache, n, objects) kmem_cache_free_bulk(cache, n, objects)
#endif

/* ---- files of /proc ---- */

/* What the file was made with. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 17, 0)
#define compat_proc_data(inode) PDE_DATA(inode)
#else
#define compat_proc_data(inode) pde_data(inode)
#endif

/* ---- flash ---- */

/* Who reads is told of errors; before, there are only the sums of the device. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#define compat_tell_reader(ops, corrected, uncorrectable)
#else
#define compat_tell_reader(ops, corrected, uncorrectable)		\
	do {								\
		if ((ops)->stats) {					\
			(ops)->stats->corrected_bitflips += (corrected);	\
			(ops)->stats->uncorrectable_errors += (uncorrectable);	\
		}							\
	} while (0)
#endif

#endif
