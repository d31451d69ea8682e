// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long objects live: until they are deleted from flash. One that an inode uses
 * lives on without a name until the inode goes (yaffs_object_hold, _release). Its id
 * is free only then, so an inode number never means two files at a time.
 */

#include "alloc.h"
#include "contents.h"
#include "names.h"
#include "pages.h"

static void drop_contents(struct yaffs_object *obj)
{
	if (obj->type == YAFFS_TYPE_FILE)
		yaffs_file_drop(obj);
}

int yaffs_object_delete(struct yaffs_object *obj)
{
	static const struct yaffs_header_change last = {
		.parent_id = YAFFS_ID_DELETED,
		.is_shrink = true,
	};
	int err = yaffs_header_write(obj, &last);

	if (err == -ENOSPC) {
		/* The pages that it gives back may be the only ones. */
		drop_contents(obj);
		err = yaffs_header_write(obj, &last);
	}
	if (err)
		return err;
	drop_contents(obj);
	if (obj->hdr_chunk)
		yaffs_chunk_dead(obj->dev, obj->hdr_chunk);
	obj->hdr_chunk = 0;
	yaffs_directory_remove(obj);
	obj->deleted = true;
	yaffs_ids_remove(obj->dev, obj->id);
	obj->dirty = false;
	return 0;
}

void yaffs_object_hold(struct yaffs_object *obj)
{
	WRITE_ONCE(obj->in_use, true);
}

/*
 * Whether all that is left to do for an object that loses its inode is to note that.
 * No lock is needed: what changes it takes the inode.
 */
bool yaffs_object_stays(const struct yaffs_object *obj)
{
	return !obj->unlinked && !obj->deleted;
}

void yaffs_object_release(struct yaffs_object *obj)
{
	struct yaffs_device *dev = obj->dev;

	if (!yaffs_object_stays(obj))
		yaffs_assert_locked(dev);
	WRITE_ONCE(obj->in_use, false);
	if (obj->unlinked && !obj->deleted && !dev->read_only &&
	    yaffs_object_delete(obj)) {
		/* It stays under "unlinked"; the next mount deletes it. */
		pr_warn("yaffs2: %s: object %u could not be deleted\n",
			dev->mtd->name, obj->id);
		return;
	}
	if (obj->deleted)
		yaffs_object_free(obj);
}

static bool has_flash(const struct yaffs_object *obj)
{
	return !obj->deleted && !obj->dev->read_only;
}

static int sync_header(struct yaffs_object *obj)
{
	return obj->dirty && !obj->unlinked ? yaffs_header_write(obj, NULL) : 0;
}

int yaffs_object_sync(struct yaffs_object *obj, bool data_only)
{
	int err = 0;

	yaffs_assert_locked(obj->dev);
	if (!has_flash(obj))
		return 0;
	if (obj->type == YAFFS_TYPE_FILE)
		err = yaffs_cache_flush(obj);
	return err || data_only ? err : sync_header(obj);
}

int yaffs_object_sync_page(struct yaffs_object *obj)
{
	int ret = 0;

	yaffs_assert_locked(obj->dev);
	if (!has_flash(obj))
		return 0;
	if (obj->type == YAFFS_TYPE_FILE)
		ret = yaffs_cache_flush_one(obj);
	return ret ? ret : sync_header(obj);
}
