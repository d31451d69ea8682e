// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of a directory, as far as they need the flash. The first operation that asks for
 * names reads the headers of the children whose names are not known yet.
 *
 * Changes of a directory's times are written later, by the background thread or by
 * sync: a thousand files created in a row are one header of their directory.
 */

#include "names.h"
#include "pages.h"

int yaffs_directory_load(struct yaffs_object *dir)
{
	struct yaffs_object *obj, *next;

	yaffs_assert_locked(dir->dev);
	list_for_each_entry_safe(obj, next, &dir->dir.unnamed, unnamed)
		if (yaffs_object_load(obj) == -ENOMEM)
			return -ENOMEM;
	return 0;
}

struct yaffs_object *yaffs_directory_find(struct yaffs_object *dir,
					  const char *name, u32 bytes)
{
	if (yaffs_directory_load(dir))
		return ERR_PTR(-ENOMEM);
	return yaffs_directory_named(dir, name, bytes);
}

void yaffs_directory_touch(struct yaffs_object *dir)
{
	struct yaffs_device *dev = dir->dev;

	yaffs_assert_locked(dev);
	dir->mtime_s = yaffs_now_s();
	dir->ctime_s = dir->mtime_s;
	/*
	 * Of the four without a header only the root gets one for this. A header
	 * that could not be read must not be replaced by one that is made up.
	 */
	if (dev->read_only || dir->damaged || (dir->fake && dir != dev->root))
		return;
	dir->dirty = true;
	if (list_empty(&dir->dir.dirty))
		list_add_tail(&dir->dir.dirty, &dev->dirty_directories);
}

int yaffs_directories_sync(struct yaffs_device *dev, u32 most)
{
	struct yaffs_object *dir;
	int err = 0;

	yaffs_assert_locked(dev);
	while (!err && most-- && !list_empty(&dev->dirty_directories)) {
		dir = list_first_entry(&dev->dirty_directories,
				       struct yaffs_object, dir.dirty);
		list_del_init(&dir->dir.dirty);
		if (dir->dirty && !dir->deleted)
			err = yaffs_header_write(dir, NULL);
		if (err)
			list_add(&dir->dir.dirty, &dev->dirty_directories);
	}
	return err;
}
