// SPDX-License-Identifier: GPL-2.0-only
/*
 * Object headers to and from flash. A header is never changed in place: each change
 * of a name or an attribute writes a page, and the page before it dies.
 *
 * What lies behind the 512 bytes are extended attributes. They are carried over from
 * the old page, which is read for that only if the object is known to have some. In the
 * segregated layout the index of the file comes with them: see map.c.
 */

#include "alloc.h"
#include "gc.h"
#include "nand.h"
#include "pages.h"

/* The page of the newest header, as it is. */
static int read_page(struct yaffs_object *obj, u8 *page)
{
	const struct yaffs_identity id = { .obj_id = obj->id };

	return yaffs_nand_read_known(obj->dev, obj->hdr_chunk, page, &id);
}

int yaffs_header_read_chunk(struct yaffs_object *obj, u8 *page)
{
	struct yaffs_device *dev = obj->dev;
	int err;

	yaffs_assert_locked(dev);
	if (!obj->hdr_chunk) {
		memset(page, 0xff, dev->chunk_bytes);
		return 0;
	}
	err = read_page(obj, page);
	return err || !yaffs_is_segregated(dev) ? err :
						  yaffs_map_trim_xattr(dev, page);
}

/* ---- writing ---- */

/* In the segregated layout what follows is filled in later. */
static void set_no_xattr(const struct yaffs_device *dev, u8 *page)
{
	if (yaffs_is_segregated(dev))
		yaffs_map_end_xattr(dev, page, 0);
	else
		memset(yaffs_xattr_area(dev, page), 0xff,
		       yaffs_xattr_bytes(dev));
}

/* Puts into the page what follows the header. */
static int fill_xattr(struct yaffs_object *obj,
		      const struct yaffs_header_change *change, u8 *page)
{
	struct yaffs_device *dev = obj->dev;

	if (change->xattr) {
		memcpy(yaffs_xattr_area(dev, page), change->xattr,
		       yaffs_xattr_bytes(dev));
		return 0;
	}
	if (change->parent_id == YAFFS_ID_DELETED || !obj->has_xattr) {
		set_no_xattr(dev, page);
		return 0;
	}
	return yaffs_header_read_chunk(obj, page);
}

static int prepare_map(struct yaffs_object *obj,
		       const struct yaffs_header_change *change, u8 *page,
		       enum yaffs_writer by)
{
	if (change->parent_id == YAFFS_ID_DELETED)
		return 0;
	return yaffs_map_before_header(obj, yaffs_map_xattr_used(obj->dev, page),
				       by);
}

static int write_header(struct yaffs_object *obj,
			const struct yaffs_header_change *change,
			enum yaffs_writer by)
{
	struct yaffs_device *dev = obj->dev;
	u8 *page = dev->hdr_page;
	struct yaffs_tags tags;
	bool has_index;
	u32 chunk, old;
	int err;

	yaffs_assert_locked(dev);
	yaffs_gc_before_write(dev);
	err = fill_xattr(obj, change, page);
	if (!err && yaffs_is_segregated(dev))
		err = prepare_map(obj, change, page, by);
	if (err)
		return err;
	has_index = yaffs_header_fill(obj, change, page, &tags);
	if (change->parent_id != YAFFS_ID_DELETED)
		yaffs_ids_add(dev, obj->id);
	err = yaffs_chunk_write(dev, page, &tags, by, &chunk);
	if (err)
		return err;
	dev->stats.header_writes++;
	yaffs_map_header_written(obj, has_index);
	if (change->is_shrink)
		dev->blocks[yaffs_block_of(dev, chunk)].has_shrink = true;
	old = obj->hdr_chunk;
	obj->hdr_chunk = chunk;
	obj->dirty = false;
	if (change->xattr)
		obj->has_xattr = yaffs_xattr_any(change->xattr,
						 yaffs_xattr_bytes(dev));
	if (old)
		yaffs_chunk_dead(dev, old);
	return 0;
}

int yaffs_header_write(struct yaffs_object *obj,
		       const struct yaffs_header_change *change)
{
	static const struct yaffs_header_change nothing_special;
	int err = yaffs_object_load(obj);

	/* A damaged object can still be deleted, and no more. */
	if (err && !(obj->damaged && change &&
		     change->parent_id == YAFFS_ID_DELETED))
		return err;
	return write_header(obj, change ? change : &nothing_special,
			    YAFFS_WRITE_KEPT);
}

int yaffs_header_write_new(struct yaffs_object *obj)
{
	static const struct yaffs_header_change nothing_special;

	return write_header(obj, &nothing_special, YAFFS_WRITE_NEW);
}

/* ---- reading ---- */

static int take_attributes(struct yaffs_object *obj,
			   const struct yaffs_header *h)
{
	obj->mode = h->mode;
	obj->uid = h->uid;
	obj->gid = h->gid;
	obj->rdev = h->rdev;
	obj->atime_s = h->atime_s;
	obj->mtime_s = h->mtime_s;
	obj->ctime_s = h->ctime_s;
	if (obj->type == YAFFS_TYPE_SYMLINK && !obj->symlink) {
		obj->symlink = kmemdup_nul((const char *)h->symlink,
					   h->symlink_bytes, GFP_NOFS);
		if (!obj->symlink)
			return -ENOMEM;
	}
	return 0;
}

/* A name for an object whose own cannot be read. */
static int name_by_id(struct yaffs_object *obj)
{
	char name[16];

	return yaffs_object_set_name(obj, name,
				     scnprintf(name, sizeof(name), "obj%u",
					       obj->id));
}

static int name_from_header(struct yaffs_object *obj,
			    const struct yaffs_header *h)
{
	/* The names of the four are fixed. */
	if (obj->fake)
		return 0;
	if (!h->name_bytes ||
	    (h->name[0] == '.' &&
	     (h->name_bytes == 1 || (h->name_bytes == 2 && h->name[1] == '.'))))
		return name_by_id(obj);
	return yaffs_object_set_name(obj, (const char *)h->name, h->name_bytes);
}

/* In the segregated layout also what it has of the file's index. */
static int read_with_map(struct yaffs_object *obj, u8 *page)
{
	struct yaffs_device *dev = obj->dev;
	int err;

	if (!yaffs_is_segregated(dev))
		return yaffs_header_read_chunk(obj, page);
	err = read_page(obj, page);
	return err ? err : yaffs_map_take_header(obj, page);
}

static int load_header(struct yaffs_object *obj)
{
	struct yaffs_device *dev = obj->dev;
	u8 *page = dev->hdr_page;
	struct yaffs_header h;
	int err, name_err = 0;

	if (!obj->hdr_chunk)
		return -EUCLEAN;
	err = read_with_map(obj, page);
	if (err)
		return err;
	err = yaffs_header_parse(obj, page, &h);
	if (!err)
		err = take_attributes(obj, &h);
	if (err == -ENOMEM)
		return err;
	/* The name is good whatever else is not. */
	if (!err || yaffs_header_has_name((void *)page))
		name_err = name_from_header(obj, &h);
	if (err || name_err)
		return err ? err : name_err;
	obj->has_xattr = yaffs_xattr_any(yaffs_xattr_area(dev, page),
					 yaffs_xattr_bytes(dev));
	return 0;
}

static int load_result(const struct yaffs_object *obj)
{
	if (!obj->damaged)
		return 0;
	return obj->unreadable ? -EBADMSG : -EUCLEAN;
}

int yaffs_object_load(struct yaffs_object *obj)
{
	int err;

	yaffs_assert_locked(obj->dev);
	if (obj->loaded)
		return load_result(obj);
	err = load_header(obj);
	if (err == -ENOMEM)
		return err;
	if (err) {
		if (!obj->name && !obj->fake && name_by_id(obj))
			return -ENOMEM;
		obj->damaged = true;
		obj->unreadable = err != -EUCLEAN;
	}
	obj->loaded = true;
	return load_result(obj);
}
