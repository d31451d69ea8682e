// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the header of an object is: in a page, and as tags.
 *
 * The size in a header is the stored size: data that only the cache holds are not
 * promised by it.
 *
 * A header may contradict the tags, by which the object is known already: then it is
 * read as one of that object, so that name, attributes and data are not lost. Only one
 * that is no header at all leaves its object without a name.
 */

#include "objects.h"

int yaffs_header_parse(const struct yaffs_object *obj, u8 *page,
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

/* ---- from memory ---- */

static const char *name_to_write(const struct yaffs_object *obj, u32 parent_id)
{
	if (parent_id == YAFFS_ID_DELETED)
		return "deleted";
	if (parent_id == YAFFS_ID_UNLINKED)
		return "unlinked";
	return obj->name ? obj->name : "";
}

/* A file that is on its way out is written as empty. */
static bool has_size(const struct yaffs_object *obj,
		     const struct yaffs_header *h)
{
	return obj->type == YAFFS_TYPE_FILE && !yaffs_is_grave(h->parent_id);
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
	/* There the index says what is dead. */
	h->is_shrink = change->is_shrink && !yaffs_is_segregated(obj->dev);
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
	if (has_size(obj, h))
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

bool yaffs_header_fill(const struct yaffs_object *obj,
		       const struct yaffs_header_change *change, u8 *page,
		       struct yaffs_tags *tags)
{
	struct yaffs_header h;

	fill_header(obj, change, &h);
	yaffs_header_encode(&h, obj->dev->options.inband_tags, (void *)page);
	fill_tags(obj, &h, tags);
	return yaffs_is_segregated(obj->dev) &&
	       yaffs_map_fill_header(obj, h.parent_id == YAFFS_ID_DELETED, page);
}

/* ---- for the collector ---- */

int yaffs_header_refresh(struct yaffs_object *obj, u8 *page,
			 struct yaffs_tags *tags)
{
	struct yaffs_device *dev = obj->dev;
	struct yaffs_header_media *m = (void *)page;
	struct yaffs_header h;
	int err = yaffs_header_parse(obj, page, &h);

	if (err)
		return err;
	h.is_shrink = false;
	h.shadowed_id = 0;
	if (has_size(obj, &h))
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
 * If its contents are not in memory either, the page holds no header, as the one that
 * it replaces did not: the tags keep the object, damaged, where it is. Extended
 * attributes were in the old page alone.
 */
bool yaffs_header_replace(struct yaffs_object *obj, u8 *page,
			  struct yaffs_tags *tags)
{
	static const struct yaffs_header_change nothing_special;
	struct yaffs_device *dev = obj->dev;
	struct yaffs_header h;

	memset(page, 0, dev->chunk_bytes);
	if (obj->loaded && !obj->damaged) {
		fill_header(obj, &nothing_special, &h);
		yaffs_header_encode(&h, dev->options.inband_tags, (void *)page);
		memset(yaffs_xattr_area(dev, page), 0xff, yaffs_xattr_bytes(dev));
		obj->has_xattr = false;
	}
	yaffs_header_tags(obj, tags);
	return yaffs_is_segregated(dev) && obj->loaded && !obj->damaged &&
	       yaffs_map_fill_header(obj, false, page);
}
