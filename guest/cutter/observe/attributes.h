/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * attributes.h - mode, mtime and extended attributes of an entry; for observe.c.
 *
 *	attributes PATH MODE MTIME XATTRS
 *
 * MODE in octal digits; MTIME in seconds if a call set it to a time before 2017, else "-";
 * XATTRS those of users, NAME=SIZE:CRC32 by name with commas between, "-" for none, and
 * !ERRNO for one, or a list, that cannot be read. An entry that is as calls make it (0644,
 * 0755 for a directory) has no such line; nor have the root and symbolic links.
 */
#ifndef FFSCRASH_OBSERVE_ATTRIBUTES_H
#define FFSCRASH_OBSERVE_ATTRIBUTES_H

#include <linux/limits.h>
#include <stdbool.h>

#include "observe/crc32.h"
#include "observe/tree.h"
#include "text/text.h"

struct attributes {
	struct crc32 crc32;
	char names[XATTR_LIST_MAX];
	char value[XATTR_SIZE_MAX];
	struct text text;
};

void attributes_init(struct attributes *attributes);
void attributes_free(struct attributes *attributes);

/** attributes_put() - the line of @entry. Return: whether it has one. */
bool attributes_put(struct attributes *attributes, const struct entry *entry,
		    struct text *text);

#endif
