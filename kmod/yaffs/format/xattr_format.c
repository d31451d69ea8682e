// SPDX-License-Identifier: GPL-2.0-only
/*
 * Extended attributes: records behind the header, in the same page. They cost no
 * page of their own and are read and written with the header; in exchange all
 * attributes of an object must fit into what is left of one page.
 *
 * A record is its length in 32 bits (including these), the name with its prefix
 * and a NUL, and the value. A length of zero or less, or one that leads out of the
 * area, ends the list. The area of a header that never had attributes is all ones,
 * which is such a length.
 *
 * What is read is not trusted. A record that has a length but no name within it is
 * passed over, and kept: it can do no harm. What lies behind the end of the list is
 * not looked at, and is zeroed by the first change, for otherwise a longer list
 * would make records of it. Of several records of one name the first counts, and a
 * change removes them all.
 *
 * Limits: searching is linear, over at most a page. A value must not lie within
 * the area it is stored to.
 */

#include "codec.h"

#define LENGTH_BYTES	((u32)sizeof(__le32))

/* One record. Name and value are within it; no name: it is not well-formed. */
struct record {
	u32 start;
	u32 bytes;
	const char *name;
	u32 name_bytes;
	const u8 *value;
	u32 size;
};

/* Reads the record at @start. False at the end of the list. */
static bool record_at(const u8 *area, u32 bytes, u32 start, struct record *r)
{
	const u8 *name, *nul;
	__le32 length;
	u32 room;

	if (bytes - start < LENGTH_BYTES)
		return false;
	__builtin_memcpy(&length, area + start, LENGTH_BYTES);
	*r = (struct record) { .start = start, .bytes = le32_to_cpu(length) };
	/* A negative length is more than there is, too. */
	if (r->bytes < LENGTH_BYTES || r->bytes > bytes - start)
		return false;
	name = area + start + LENGTH_BYTES;
	room = r->bytes - LENGTH_BYTES;
	nul = memchr(name, '\0', room);
	if (!nul || nul == name)
		return true;
	r->name = (const char *)name;
	r->name_bytes = (u32)(nul - name);
	r->value = nul + 1;
	r->size = room - r->name_bytes - 1;
	return true;
}

static bool is_named(const struct record *r, const char *name, u32 name_bytes)
{
	return r->name && r->name_bytes == name_bytes &&
	       !memcmp(r->name, name, name_bytes);
}

u32 yaffs_xattr_used(const u8 *area, u32 bytes)
{
	struct record r;
	u32 at;

	for (at = 0; record_at(area, bytes, at, &r); at += r.bytes)
		;
	return at;
}

bool yaffs_xattr_any(const u8 *area, u32 bytes)
{
	struct record r;
	u32 at;

	for (at = 0; record_at(area, bytes, at, &r); at += r.bytes)
		if (r.name)
			return true;
	return false;
}

int yaffs_xattr_find(const u8 *area, u32 bytes, const char *name,
		     void *value, u32 size)
{
	u32 name_bytes = (u32)strlen(name);
	struct record r;
	u32 at;

	for (at = 0; record_at(area, bytes, at, &r); at += r.bytes) {
		if (!is_named(&r, name, name_bytes))
			continue;
		if (!size)
			return (int)r.size;
		if (size < r.size)
			return -ERANGE;
		memcpy(value, r.value, r.size);
		return (int)r.size;
	}
	return -ENODATA;
}

int yaffs_xattr_each(const u8 *area, u32 bytes,
		     int (*emit)(void *context, const char *name, u32 name_bytes,
				 const u8 *value, u32 size), void *context)
{
	struct record r;
	u32 at;
	int status;

	for (at = 0; record_at(area, bytes, at, &r); at += r.bytes) {
		if (!r.name)
			continue;
		status = emit(context, r.name, r.name_bytes, r.value, r.size);
		if (status)
			return status;
	}
	return 0;
}

/* Bytes of the list, and how many of them are records of that name. */
static u32 list_bytes(const u8 *area, u32 bytes, const char *name,
		      u32 name_bytes, u32 *named_bytes)
{
	struct record r;
	u32 at;

	*named_bytes = 0;
	for (at = 0; record_at(area, bytes, at, &r); at += r.bytes)
		if (is_named(&r, name, name_bytes))
			*named_bytes += r.bytes;
	return at;
}

/* Removes the records of that name and zeroes all behind the others. */
static u32 remove_named(u8 *area, u32 bytes, const char *name, u32 name_bytes)
{
	struct record r;
	u32 at = 0;
	u32 end = 0;

	while (record_at(area, bytes, at, &r)) {
		at += r.bytes;
		if (is_named(&r, name, name_bytes))
			continue;
		if (end != r.start)
			memmove(area + end, area + r.start, r.bytes);
		end += r.bytes;
	}
	memset(area + end, 0, bytes - end);
	return end;
}

static void append(u8 *area, u32 at, const char *name, u32 name_bytes,
		   const void *value, u32 size)
{
	u32 length = LENGTH_BYTES + name_bytes + 1 + size;
	__le32 stored = cpu_to_le32(length);

	memcpy(area + at, &stored, LENGTH_BYTES);
	at += LENGTH_BYTES;
	memcpy(area + at, name, name_bytes + 1);
	at += name_bytes + 1;
	memcpy(area + at, value, size);
}

/* An empty name cannot be stored: -EINVAL. */
int yaffs_xattr_store(u8 *area, u32 bytes, const char *name, const void *value,
		      u32 size, bool create, bool replace)
{
	u32 name_bytes = (u32)strlen(name);
	u64 need = value ? LENGTH_BYTES + (u64)name_bytes + 1 + size : 0;
	u32 named, used;

	if (!name_bytes)
		return -EINVAL;
	used = list_bytes(area, bytes, name, name_bytes, &named);
	if (named && create)
		return -EEXIST;
	if (!named && (replace || !value))
		return -ENODATA;
	if (used - named + need > bytes)
		return -ENOSPC;
	used = remove_named(area, bytes, name, name_bytes);
	if (value)
		append(area, used, name, name_bytes, value, size);
	return 0;
}
