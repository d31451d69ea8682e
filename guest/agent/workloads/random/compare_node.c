// SPDX-License-Identifier: GPL-2.0-only
/*
 * compare_node.c - one inode against the model: attributes, contents, target,
 * extended attributes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "workloads/random/history.h"

#define NS_PER_S 1000000000ll
/* What a file may occupy beyond its size: its last page, and metadata. */
#define BLOCKS_SLACK (64 * 1024 / 512)

static const char *hex(const unsigned char *data, size_t bytes)
{
	static char texts[2][3 * 16 + 1];
	static unsigned int next;
	char *text = texts[next++ % 2];
	size_t i;

	text[0] = '\0';
	for (i = 0; i < bytes && i < 16; i++)
		sprintf(text + 3 * i, "%02x ", data[i]);
	return text;
}

static void contents_differ(struct history *h, const struct node *file,
			    uint64_t offset, const unsigned char *wanted,
			    const unsigned char *found, size_t bytes,
			    const char *how)
{
	size_t first = 0, last = bytes - 1;

	while (wanted[first] == found[first])
		first++;
	while (wanted[last] == found[last])
		last--;
	differ(h, DIFF_CONTENTS, file,
	     "contents of #%u by %s, size %llu: differ from %llu to %llu; expected %s, found %s",
	     file->id, how, (unsigned long long)file->size,
	     (unsigned long long)(offset + first),
	     (unsigned long long)(offset + last),
	     hex(wanted + first, bytes - first),
	     hex(found + first, bytes - first));
}

/* @found holds what @file has at @offset; compared page by page. */
void compare_range(struct history *h, const struct node *file, uint64_t offset,
		   const unsigned char *found, size_t bytes, const char *how)
{
	unsigned char wanted[PAGE];

	while (bytes) {
		size_t part = PAGE - offset % PAGE;

		if (part > bytes)
			part = bytes;
		content_read(file, offset, wanted, part);
		if (memcmp(wanted, found, part))
			contents_differ(h, file, offset, wanted, found, part,
					how);
		offset += part;
		found += part;
		bytes -= part;
	}
}

/* Of a long hole only the ends and some places between are read. */
static uint64_t skip_hole(struct history *h, const struct node *file,
			  uint64_t offset)
{
	uint64_t hole = content_hole(file, offset);

	if (hole < 4 * BUFFER_BYTES || !rng_below(&h->aux, 4))
		return 0;
	return hole / 2 - hole / 2 % PAGE;
}

void compare_contents(struct history *h, const struct node *file, int fd)
{
	uint64_t offset = 0;

	while (offset < file->size) {
		uint64_t left = file->size - offset;
		size_t part = left < 128 * 1024 ? left : 128 * 1024;
		ssize_t done = pread(fd, h->other, part, offset);

		if (done != (ssize_t)part)
			differ(h, DIFF_UNREADABLE, file, "pread() of #%u at %llu: expected %zu, found %zd (%s)",
			     file->id, (unsigned long long)offset, part, done,
			     errno_name(done < 0 ? errno : 0));
		compare_range(h, file, offset, h->other, part, "read");
		offset += part;
		offset += skip_hole(h, file, offset);
	}
	if (pread(fd, h->other, 1, file->size) != 0)
		fail(h, file, "pread() of #%u at its end: expected 0",
		     file->id);
}

static void compare_file(struct history *h, const struct node *file,
			 const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		differ(h, DIFF_UNREADABLE, file, "open() of #%u: expected success, found %s",
		     file->id, errno_name(errno));
	compare_contents(h, file, fd);
	close(fd);
}

static void compare_target(struct history *h, const struct node *node,
			   const char *path)
{
	char target[PATH_BYTES];
	ssize_t length = readlink(path, target, sizeof(target));

	if (length != (ssize_t)node->size ||
	    memcmp(target, node->target, node->size))
		differ(h, DIFF_ATTRIBUTE, node, "readlink() of #%u: expected %llu bytes, found %zd or other ones",
		     node->id, (unsigned long long)node->size, length);
}

static void compare_xattr(struct history *h, const struct node *node,
			  const char *path, const struct xattr *xattr)
{
	ssize_t bytes = lgetxattr(path, xattr->name, h->other, BUFFER_BYTES);

	if (bytes != (ssize_t)xattr->bytes ||
	    memcmp(h->other, xattr->value, xattr->bytes))
		differ(h, DIFF_ATTRIBUTE, node, "getxattr(%s) of #%u: expected %zu bytes, found %zd (%s) or other ones",
		     show_name(xattr->name), node->id, xattr->bytes, bytes,
		     errno_name(bytes < 0 ? errno : 0));
}

/* Names that the file system or a security module adds are not ours. */
static bool foreign(const char *name)
{
	return !strncmp(name, "system.", 7) ||
	       !strcmp(name, "security.selinux");
}

static void compare_xattrs(struct history *h, const struct node *node,
			   const char *path)
{
	const char *list = (const char *)h->other, *name;
	ssize_t bytes = llistxattr(path, (char *)h->other, BUFFER_BYTES);
	const struct xattr *xattr;
	size_t wanted = 0, found = 0;

	if (bytes < 0)
		differ(h, DIFF_UNREADABLE, node, "listxattr() of #%u: found %s", node->id,
		     errno_name(errno));
	for (name = list; name < list + bytes; name += strlen(name) + 1) {
		if (foreign(name))
			continue;
		found++;
		if (!xattr_find(node, name))
			differ(h, DIFF_ATTRIBUTE, node, "listxattr() of #%u: %s should not be there",
			     node->id, show_name(name));
	}
	for (xattr = node->xattrs; xattr; xattr = xattr->next)
		wanted++;
	if (wanted != found)
		differ(h, DIFF_ATTRIBUTE, node, "listxattr() of #%u: expected %zu names, found %zu",
		     node->id, wanted, found);
	for (xattr = node->xattrs; xattr; xattr = xattr->next)
		compare_xattr(h, node, path, xattr);
}

static void compare_time(struct history *h, const struct node *node,
			 struct time_range *wanted,
			 const struct timespec *found, const char *which,
			 bool loose)
{
	int64_t ns = found->tv_sec * NS_PER_S + found->tv_nsec;

	if (ns < wanted->low || ns > wanted->high)
		differ(h, DIFF_TIME, node, "%s of #%u: expected %lld to %lld, found %lld ns since 1970",
		     which, node->id, (long long)wanted->low,
		     (long long)wanted->high, (long long)ns);
	if (ns % (int64_t)h->opt.granularity_ns)
		differ(h, DIFF_TIME, node, "%s of #%u: %lld ns is finer than the granularity",
		     which, node->id, (long long)ns);
	if (loose)
		return;
	wanted->low = ns;
	wanted->high = ns;
}

unsigned int shown_links(const struct history *h, const struct node *node)
{
	if (S_ISDIR(node->mode) &&
	    (h->opt.one_link ||
	     (h->opt.root_one_link && node == h->model.root)))
		return node->links ? 1 : 0;
	return node->links;
}

static void compare_number(struct history *h, enum difference kind,
			   const struct node *node, const char *which, uint64_t wanted, uint64_t found)
{
	if (wanted != found)
		differ(h, kind, node, "%s of #%u: expected %llu (0%llo), found %llu (0%llo)",
		     which, node->id, (unsigned long long)wanted,
		     (unsigned long long)wanted, (unsigned long long)found,
		     (unsigned long long)found);
}

static void compare_status(struct history *h, struct node *node,
			   const struct stat *status)
{
	compare_number(h, DIFF_ATTRIBUTE, node, "mode", node->mode, status->st_mode);
	compare_number(h, DIFF_ATTRIBUTE, node, "owner", node->uid, status->st_uid);
	compare_number(h, DIFF_ATTRIBUTE, node, "group", node->gid, status->st_gid);
	compare_number(h, DIFF_ATTRIBUTE, node, "number of links", shown_links(h, node),
		       status->st_nlink);
	/* POSIX gives the size of other kinds no meaning. */
	if (S_ISREG(node->mode) || S_ISLNK(node->mode))
		compare_number(h, DIFF_SIZE, node, "size", node->size, status->st_size);
	if (S_ISCHR(node->mode) || S_ISBLK(node->mode))
		compare_number(h, DIFF_ATTRIBUTE, node, "device", node->rdev, status->st_rdev);
	if (node->ino)
		compare_number(h, DIFF_ATTRIBUTE, node, "inode number", node->ino,
			       status->st_ino);
	if (!h->opt.no_inode_numbers)
		node->ino = status->st_ino;
	if (!h->opt.no_times &&
	    (!S_ISDIR(node->mode) || !h->opt.no_dir_times)) {
		compare_time(h, node, &node->mtime, &status->st_mtim, "mtime",
			     h->opt.late_times);
		compare_time(h, node, &node->ctime, &status->st_ctim, "ctime",
			     node->ctime_loose || h->opt.late_times);
	}
	if (S_ISREG(node->mode) &&
	    (uint64_t)status->st_blocks > node->size / 512 + BLOCKS_SLACK)
		differ(h, DIFF_SPACE, node, "st_blocks of #%u, size %llu: found %llu",
		     node->id, (unsigned long long)node->size,
		     (unsigned long long)status->st_blocks);
}

/* A node with several names is compared by each of them, contents once. */
void compare_node(struct history *h, struct node *node, const char *path)
{
	struct stat status;

	if (lstat(path, &status))
		differ(h, errno == ENOENT ? DIFF_GONE : DIFF_UNREADABLE, node, "lstat() of #%u: expected success, found %s",
		     node->id, errno_name(errno));
	compare_status(h, node, &status);
	if (node->compared)
		return;
	node->compared = true;
	if (S_ISREG(node->mode))
		compare_file(h, node, path);
	if (S_ISLNK(node->mode))
		compare_target(h, node, path);
	if (!h->opt.no_xattr)
		compare_xattrs(h, node, path);
}
