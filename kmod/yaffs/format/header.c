// SPDX-License-Identifier: GPL-2.0-only
/*
 * Object headers: everything about an object that is not its data. Directories
 * have no contents on flash; an object is in the directory that its newest header
 * names as its parent. So a header is written whole for every change of an
 * attribute, and a rename is nothing but a header.
 *
 * The structure grew: what was found to be too small has a second, wider field
 * further back, and all ones there mean that it was never written. Both forms of
 * the times are written, so that old readers are served too.
 *
 * What is read is not trusted. A header whose type, parent, target or size cannot
 * be is refused. The tags say some of that too: where they contradict the header they
 * are believed, since they have an ECC of their own, and what only the header knows
 * is still taken from it. A name that could not be looked up is shortened to what can be,
 * for the object's data are worth more than its name. An object without a name is
 * therefore valid, and gets one from its number when it is attached to a directory.
 *
 * Limits: times before 1970 cannot be written, since the high word of the nearest
 * ones is the mark for "not set": they come back as the low word only. The in-band
 * copies of shadow and shrink are written but not read. The original leaves one of
 * them unset, and after a collection of garbage they may be older than the fields
 * they copy; a shadow taken from there would delete an object that got the id since.
 */

#include "codec.h"

static void put_time(struct yaffs_time_media *m, u64 time_s)
{
	m->low = cpu_to_le32((u32)time_s);
	m->high = cpu_to_le32((u32)(time_s >> 32));
}

static u64 get_time(const struct yaffs_time_media *m, __le32 time_low)
{
	u32 high = le32_to_cpu(m->high);

	if (high == YAFFS_HEADER_UNSET)
		return le32_to_cpu(time_low);
	return (u64)high << 32 | le32_to_cpu(m->low);
}

/* A text in a field that is zero to its end, with one NUL at least. */
static void put_text(u8 *field, u32 field_bytes, const u8 *text, u32 bytes)
{
	bytes = min_t(u32, bytes, field_bytes - 1);
	if (bytes)
		memcpy(field, text, bytes);
	memset(field + bytes, 0, field_bytes - bytes);
}

/* Mode, owner, times and device; a hard link has those of its target. */
static void encode_attributes(const struct yaffs_header *h,
			      struct yaffs_header_media *m)
{
	m->mode = cpu_to_le32(h->mode);
	m->uid = cpu_to_le32(h->uid);
	m->gid = cpu_to_le32(h->gid);
	m->atime_low = cpu_to_le32((u32)h->atime_s);
	m->mtime_low = cpu_to_le32((u32)h->mtime_s);
	m->ctime_low = cpu_to_le32((u32)h->ctime_s);
	m->rdev = cpu_to_le32(h->type == YAFFS_TYPE_SPECIAL ? h->rdev : 0);
	put_time(&m->ctime, h->ctime_s);
	put_time(&m->atime, h->atime_s);
	put_time(&m->mtime, h->mtime_s);
}

/* What only objects of one type have. */
static void encode_variant(const struct yaffs_header *h,
			   struct yaffs_header_media *m)
{
	switch (h->type) {
	case YAFFS_TYPE_FILE:
		m->size_low = cpu_to_le32((u32)h->size);
		m->size_high = cpu_to_le32((u32)(h->size >> 32));
		break;
	case YAFFS_TYPE_HARDLINK:
		m->link_target = cpu_to_le32(h->link_target);
		break;
	case YAFFS_TYPE_SYMLINK:
		put_text(m->symlink, sizeof(m->symlink), h->symlink,
			 h->symlink_bytes);
		break;
	}
}

void yaffs_header_encode(const struct yaffs_header *h, bool inband,
			 struct yaffs_header_media *m)
{
	static const struct yaffs_header of_a_link;

	memset(m, 0xff, sizeof(*m));
	m->type = cpu_to_le32(h->type);
	m->parent_id = cpu_to_le32(h->parent_id);
	/* The field has one byte more than the longest name and its NUL. */
	put_text(m->name, sizeof(m->name), h->name,
		 min_t(u32, h->name_bytes, YAFFS_NAME_MAX));
	encode_attributes(h->type == YAFFS_TYPE_HARDLINK ? &of_a_link : h, m);
	encode_variant(h, m);
	m->shadowed_id = cpu_to_le32(h->shadowed_id);
	m->is_shrink = cpu_to_le32((u32)h->is_shrink);
	if (inband) {
		m->inband_shadowed_id = m->shadowed_id;
		m->inband_is_shrink = m->is_shrink;
	}
}

static bool id_valid(u32 id)
{
	return id - 1 < YAFFS_MAX_OBJECT_ID;
}

/* Bytes before the first NUL or slash, at most YAFFS_NAME_MAX. */
static u32 name_length(const u8 *name)
{
	u32 bytes = (u32)strnlen((const char *)name, YAFFS_NAME_MAX);
	const u8 *slash = memchr(name, '/', bytes);

	if (slash)
		bytes = (u32)(slash - name);
	/* These two mean other things in every directory. */
	if ((bytes == 1 && name[0] == '.') ||
	    (bytes == 2 && name[0] == '.' && name[1] == '.'))
		bytes = 0;
	return bytes;
}

bool yaffs_header_has_name(const struct yaffs_header_media *m)
{
	u32 bytes = (u32)strnlen((const char *)m->name, sizeof(m->name));
	u32 i;

	if (!bytes || bytes > YAFFS_NAME_MAX || name_length(m->name) != bytes)
		return false;
	for (i = bytes; i < sizeof(m->name); i++)
		if (m->name[i])
			return false;
	return true;
}

void yaffs_header_reconcile(struct yaffs_header_media *m,
			    const struct yaffs_header *known, u64 max_size)
{
	u64 size = (u64)le32_to_cpu(m->size_high) << 32 |
		   le32_to_cpu(m->size_low);

	if (le32_to_cpu(m->type) != known->type || size > max_size) {
		m->size_low = cpu_to_le32((u32)known->size);
		m->size_high = cpu_to_le32((u32)(known->size >> 32));
	}
	m->type = cpu_to_le32(known->type);
	if (!id_valid(le32_to_cpu(m->parent_id)))
		m->parent_id = cpu_to_le32(known->parent_id);
	if (known->type == YAFFS_TYPE_HARDLINK)
		m->link_target = cpu_to_le32(known->link_target);
}

static int decode_variant(const struct yaffs_header_media *m, u64 max_size,
			  struct yaffs_header *h)
{
	u32 size_high = le32_to_cpu(m->size_high);

	switch (h->type) {
	case YAFFS_TYPE_FILE:
		if (size_high == YAFFS_HEADER_UNSET)
			size_high = 0;
		h->size = (u64)size_high << 32 | le32_to_cpu(m->size_low);
		return h->size > max_size ? -EUCLEAN : 0;
	case YAFFS_TYPE_HARDLINK:
		h->link_target = le32_to_cpu(m->link_target);
		return id_valid(h->link_target) ? 0 : -EUCLEAN;
	case YAFFS_TYPE_SYMLINK:
		h->symlink = m->symlink;
		h->symlink_bytes = (u32)strnlen((const char *)m->symlink,
						sizeof(m->symlink));
		return h->symlink_bytes > YAFFS_SYMLINK_MAX ? -EUCLEAN : 0;
	case YAFFS_TYPE_SPECIAL:
		h->rdev = le32_to_cpu(m->rdev);
		return 0;
	case YAFFS_TYPE_DIRECTORY:
		return 0;
	}
	return -EUCLEAN;
}

int yaffs_header_decode(const struct yaffs_header_media *m, u64 max_size,
			struct yaffs_header *h)
{
	*h = (struct yaffs_header) {
		.type = le32_to_cpu(m->type),
		.parent_id = le32_to_cpu(m->parent_id),
		.name = m->name,
		.name_bytes = name_length(m->name),
		.mode = le32_to_cpu(m->mode),
		.uid = le32_to_cpu(m->uid),
		.gid = le32_to_cpu(m->gid),
		.atime_s = get_time(&m->atime, m->atime_low),
		.mtime_s = get_time(&m->mtime, m->mtime_low),
		.ctime_s = get_time(&m->ctime, m->ctime_low),
		.shadowed_id = le32_to_cpu(m->shadowed_id),
		.is_shrink = le32_to_cpu(m->is_shrink) == 1,
	};
	/* Not set, or not an id: it shadows nothing. */
	if (!id_valid(h->shadowed_id))
		h->shadowed_id = 0;
	/* The root has neither parent nor name. */
	if (!id_valid(h->parent_id) &&
	    (h->parent_id || h->name_bytes || h->type != YAFFS_TYPE_DIRECTORY))
		return -EUCLEAN;
	return decode_variant(m, max_size, h);
}
