// SPDX-License-Identifier: GPL-2.0-only
/*
 * ops_xattr.c - extended attributes: set, replaced by smaller and larger
 * values, removed, refused.
 *
 * A node's names and values stay within --xattr-max together, for a file
 * system that keeps them all in one page.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/xattr.h>

#include "workloads/random/history.h"

#define REFUSED_MAX 65536

static void choose_xattr_name(struct history *h, const struct node *node,
			      char *name)
{
	static const char *const spaces[] = { "user.", "trusted.",
					      "security." };
	bool user = S_ISREG(node->mode) || S_ISDIR(node->mode);
	unsigned int last = h->opt.no_security ? 1 : 2;
	unsigned int which = draw_below(h, 12);
	size_t used;

	/* Of other kinds of files the kernel itself refuses user.*. */
	strcpy(name, spaces[draw_between(h, user ? 0 : 1, last)]);
	used = strlen(name);
	/* A few names, so that they meet again; one is the longest. */
	if (which == 11 && h->opt.xattr_max >= 1024) {
		memset(name + used, 'x', 255 - used);
		name[255] = '\0';
	} else {
		name[used++] = 'a' + which;
		memset(name + used, 'n', which * 2);
		name[used + which * 2] = '\0';
	}
}

static struct entry *pick_for_xattr(struct history *h)
{
	if (h->opt.no_xattr)
		return NULL;
	return pick_entry(h, h->opt.xattr_files_only ? KIND_FILE | KIND_DIR :
						       KIND_ANY);
}

static size_t choose_value_bytes(struct history *h)
{
	unsigned int kind = draw_below(h, 100);

	if (kind < 10)
		return 0;
	if (kind < 70)
		return draw_between(h, 1, 100);
	return draw_between(h, 1, h->opt.xattr_max);
}

void op_setxattr(struct history *h)
{
	struct entry *entry = pick_for_xattr(h);
	char path[PATH_BYTES], name[256];
	struct xattr *old;
	size_t bytes, after;
	int flags = 0, wanted = 0;

	if (!entry)
		return;
	choose_xattr_name(h, entry->node, name);
	bytes = choose_value_bytes(h);
	old = xattr_find(entry->node, name);
	after = entry->node->xattr_bytes + strlen(name) + bytes;
	if (old)
		after -= strlen(name) + old->bytes;
	if (after > h->opt.xattr_max)
		return;
	if (chance(h, 30))
		flags = chance(h, 50) ? XATTR_CREATE : XATTR_REPLACE;
	if (flags == XATTR_CREATE && old)
		wanted = EEXIST;
	if (flags == XATTR_REPLACE && !old)
		wanted = ENODATA;
	fill_data(h, h->buffer, bytes);
	entry_path(h, entry, path);
	describe(h, entry->node, NULL, "setxattr %s %s %zu bytes%s%s",
		 show_path(h, entry->dir, entry->name), show_name(name), bytes,
		 flags == XATTR_CREATE ? ", XATTR_CREATE" :
		 flags ? ", XATTR_REPLACE" : "", old ? ", which is there" : "");
	CALL(h, wanted, lsetxattr(path, name, h->buffer, bytes, flags));
	if (wanted)
		return;
	if (old && old->bytes == bytes && !memcmp(old->value, h->buffer, bytes))
		touch_perhaps(h, entry->node, CHANGED);
	else
		touch_unless_lax(h, entry->node, CHANGED);
	xattr_set(entry->node, name, h->buffer, bytes);
}

static void set_too_large(struct history *h, const struct entry *entry,
			  const char *path, const char *name)
{
	static const unsigned char value[REFUSED_MAX];
	int found;

	describe(h, entry->node, NULL, "setxattr %s %s %llu bytes, too many",
		 show_path(h, entry->dir, entry->name), show_name(name),
		 (unsigned long long)h->opt.xattr_refused);
	if (!h->live)
		return;
	found = lsetxattr(path, name, value, h->opt.xattr_refused, 0) ?
		errno : 0;
	if (found != ENOSPC && found != E2BIG && found != ERANGE)
		fail(h, entry->node,
		     "setxattr(): expected ENOSPC, E2BIG or ERANGE, found %s",
		     errno_name(found));
}

void op_removexattr(struct history *h)
{
	struct entry *entry = pick_for_xattr(h);
	char path[PATH_BYTES], name[256];
	struct xattr *old;

	if (!entry)
		return;
	entry_path(h, entry, path);
	choose_xattr_name(h, entry->node, name);
	if (h->opt.xattr_refused && chance(h, 15)) {
		set_too_large(h, entry, path, name);
		return;
	}
	if (entry->node->xattrs && chance(h, 80))
		strcpy(name, entry->node->xattrs->name);
	old = xattr_find(entry->node, name);
	describe(h, entry->node, NULL, "removexattr %s %s%s",
		 show_path(h, entry->dir, entry->name), show_name(name),
		 old ? "" : ", which is not there");
	CALL(h, old ? 0 : ENODATA, lremovexattr(path, name));
	if (!old)
		return;
	xattr_remove(entry->node, name);
	touch_unless_lax(h, entry->node, CHANGED);
}
