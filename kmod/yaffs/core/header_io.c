// SPDX-License-Identifier: GPL-2.0-only
/*
 * Object headers to and from flash. A header is never changed in place: each change
 * of a name or an attribute writes a page, and the page before it dies.
 *
 * What lies behind the 512 bytes are extended attributes. They are carried over from
 * the old page, which is read for that only if the object is known to have some.
 *
 * The size in a header is the stored size: data that only the cache holds are not
 * promised by it.
 *
 * A header may contradict the tags, by which the object is known already: then it is
 * read as one of that object, so that name, attributes and data are not lost. Only one
 * that is no header at all leaves its object without a name.
 */

#include "yaffs.h"

static u8 *xattr_area(u8 *page)
{
	return page + YAFFS_HEADER_BYTES;
}

static u32 xattr_bytes(const struct yaffs_device *dev)
{
	return dev->chunk_bytes - YAFFS_HEADER_BYTES;
}

int yaffs_header_read_chunk(struct yaffs_object *obj, u8 *page)
{
	struct yaffs_device *dev = obj->dev;

	if (obj->hdr_chunk)
		return yaffs_nand_read(dev, obj->hdr_chunk, page, NULL);
	memset(page, 0xff, dev->chunk_bytes);
	return 0;
}

/* Header of @obj on @page; what contradicts the tags is corrected on the page. */
static int decode_header(const struct yaffs_object *obj, u8 *page,
			 struct yaffs_header *h)
{
	struct yaffs_header_media *m = (void *)page;
	u64 max_size = obj->dev->max_file_bytes;
	struct yaffs_header known = {
		.type = obj->type,
		.parent_id = obj->parent_id,
	};
	int err = yaffs_header_decode(m, max_size, h);

	if (!err && h->type == obj->type)
		return 0;
	if (!yaffs_header_has_name(m))
		return -EUCLEAN;
	if (obj->type == YAFFS_TYPE_FILE)
		known.size = obj->file.stored_size;
	else if (obj->type == YAFFS_TYPE_HARDLINK)
		known.link_target = obj->hardlink.target_id;
	yaffs_header_reconcile(m, &known, max_size);
	return yaffs_header_decode(m, max_size, h);
}

/* ---- writing ---- */

static const char *name_to_write(const struct yaffs_object *obj, u32 parent_id)
{
	if (parent_id == YAFFS_ID_DELETED)
		return "deleted";
	if (parent_id == YAFFS_ID_UNLINKED)
		return "unlinked";
	return obj->name ? obj->name : "";
}

static void fill_header(const struct yaffs_object *obj,
			const struct yaffs_header_change *change,
			struct yaffs_header *h)
{
	memset(h, 0, sizeof(*h));
	h->type = obj->type;
	h->parent_id = change->parent_id ? change->parent_id : obj->parent_id;
	h->name = (const u8 *)name_to_write(obj, h->parent_id);
	h->name_bytes = strlen((const char *)h->name);
	h->shadowed_id = change->shadowed_id;
	h->is_shrink = change->is_shrink;
	if (obj->type == YAFFS_TYPE_HARDLINK) {
		h->link_target = obj->hardlink.target_id;
		return;
	}
	h->mode = obj->mode;
	h->uid = obj->uid;
	h->gid = obj->gid;
	h->rdev = obj->rdev;
	h->atime_s = obj->atime_s;
	h->mtime_s = obj->mtime_s;
	h->ctime_s = obj->ctime_s;
	if (obj->type == YAFFS_TYPE_FILE &&
	    h->parent_id != YAFFS_ID_UNLINKED &&
	    h->parent_id != YAFFS_ID_DELETED)
		h->size = obj->file.stored_size;
	if (obj->type == YAFFS_TYPE_SYMLINK && obj->symlink) {
		h->symlink = (const u8 *)obj->symlink;
		h->symlink_bytes = strlen(obj->symlink);
	}
}

static void fill_tags(const struct yaffs_object *obj,
		      const struct yaffs_header *h, struct yaffs_tags *tags)
{
	memset(tags, 0, sizeof(*tags));
	tags->obj_id = obj->id;
	tags->extended = true;
	tags->type = obj->type;
	tags->parent_id = h->parent_id;
	tags->is_shrink = h->is_shrink;
	tags->shadows = h->shadowed_id != 0;
	tags->size = h->size;
	tags->link_target = h->link_target;
}

/* Puts into the page what follows the header. */
static int fill_xattr(struct yaffs_object *obj,
		      const struct yaffs_header_change *change, u8 *page)
{
	struct yaffs_device *dev = obj->dev;
	int err;

	if (change->xattr) {
		memcpy(xattr_area(page), change->xattr, xattr_bytes(dev));
		return 0;
	}
	if (change->parent_id == YAFFS_ID_DELETED || !obj->has_xattr) {
		memset(xattr_area(page), 0xff, xattr_bytes(dev));
		return 0;
	}
	err = yaffs_header_read_chunk(obj, page);
	return err;
}

static int write_header(struct yaffs_object *obj,
			const struct yaffs_header_change *change, bool reserve)
{
	struct yaffs_device *dev = obj->dev;
	u8 *page = dev->hdr_page;
	struct yaffs_header h;
	struct yaffs_tags tags;
	u32 chunk, old;
	int err;

	yaffs_gc_before_write(dev);
	err = fill_xattr(obj, change, page);
	if (err)
		return err;
	fill_header(obj, change, &h);
	yaffs_header_encode(&h, dev->options.inband_tags, (void *)page);
	fill_tags(obj, &h, &tags);
	err = yaffs_chunk_write(dev, page, &tags, reserve, &chunk);
	if (err)
		return err;
	dev->stats.header_writes++;
	if (h.is_shrink)
		dev->blocks[yaffs_block_of(dev, chunk)].has_shrink = true;
	old = obj->hdr_chunk;
	obj->hdr_chunk = chunk;
	obj->dirty = false;
	if (change->xattr)
		obj->has_xattr = yaffs_xattr_any(change->xattr,
						 xattr_bytes(dev));
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
	return write_header(obj, change ? change : &nothing_special, true);
}

int yaffs_header_write_new(struct yaffs_object *obj)
{
	static const struct yaffs_header_change nothing_special;

	return write_header(obj, &nothing_special, false);
}

int yaffs_header_refresh(struct yaffs_object *obj, u8 *page,
			 struct yaffs_tags *tags)
{
	struct yaffs_device *dev = obj->dev;
	struct yaffs_header_media *m = (void *)page;
	struct yaffs_header h;
	int err = decode_header(obj, page, &h);

	if (err)
		return err;
	h.is_shrink = false;
	h.shadowed_id = 0;
	if (obj->type == YAFFS_TYPE_FILE &&
	    h.parent_id != YAFFS_ID_UNLINKED &&
	    h.parent_id != YAFFS_ID_DELETED)
		h.size = obj->file.stored_size;
	m->is_shrink = cpu_to_le32(0);
	m->shadowed_id = cpu_to_le32(0);
	if (dev->options.inband_tags) {
		m->inband_is_shrink = cpu_to_le32(0);
		m->inband_shadowed_id = cpu_to_le32(0);
	}
	if (obj->type == YAFFS_TYPE_FILE) {
		m->size_low = cpu_to_le32(lower_32_bits(h.size));
		m->size_high = cpu_to_le32(upper_32_bits(h.size));
	}
	fill_tags(obj, &h, tags);
	return 0;
}

void yaffs_header_tags(const struct yaffs_object *obj, struct yaffs_tags *tags)
{
	static const struct yaffs_header_change nothing_special;
	struct yaffs_header h;

	fill_header(obj, &nothing_special, &h);
	fill_tags(obj, &h, tags);
}

/*
 * If its contents are not in memory either, the page holds no header, as the one that it
 * replaces did not: the tags keep the object, damaged, where it is. Extended attributes
 * were in the old page alone.
 */
void yaffs_header_replace(struct yaffs_object *obj, u8 *page,
			  struct yaffs_tags *tags)
{
	static const struct yaffs_header_change nothing_special;
	struct yaffs_device *dev = obj->dev;
	struct yaffs_header h;

	memset(page, 0, dev->chunk_bytes);
	if (obj->loaded && !obj->damaged) {
		fill_header(obj, &nothing_special, &h);
		yaffs_header_encode(&h, dev->options.inband_tags, (void *)page);
		memset(xattr_area(page), 0xff, xattr_bytes(dev));
		obj->has_xattr = false;
	}
	yaffs_header_tags(obj, tags);
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

static int load_header(struct yaffs_object *obj)
{
	struct yaffs_device *dev = obj->dev;
	u8 *page = dev->hdr_page;
	struct yaffs_header h;
	int err, name_err = 0;

	if (!obj->hdr_chunk)
		return -EUCLEAN;
	err = yaffs_header_read_chunk(obj, page);
	if (err)
		return err;
	err = decode_header(obj, page, &h);
	if (!err)
		err = take_attributes(obj, &h);
	if (err == -ENOMEM)
		return err;
	/* The name is good whatever else is not. */
	if (!err || yaffs_header_has_name((void *)page))
		name_err = name_from_header(obj, &h);
	if (err || name_err)
		return err ? err : name_err;
	obj->has_xattr = yaffs_xattr_any(xattr_area(page), xattr_bytes(dev));
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
