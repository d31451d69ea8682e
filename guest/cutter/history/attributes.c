// SPDX-License-Identifier: GPL-2.0-only
/*
 * attributes.c - see attributes.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "history/attributes.h"
#include "history/file.h"

static int open_path(int root, const struct op *op)
{
	return openat(root, op->path,
		      O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
}

int attribute_change(int root, const struct op *op)
{
	const struct timespec times[] = {
		{ .tv_nsec = UTIME_OMIT },
		{ .tv_sec = (time_t)op->bytes },
	};
	int fd;

	if (op->kind == OP_CHMOD)
		return fchmodat(root, op->path, (mode_t)op->bytes, 0) ? errno : 0;
	if (op->kind == OP_SETMTIME)
		return utimensat(root, op->path, times, AT_SYMLINK_NOFOLLOW) ?
			       errno : 0;
	fd = open_path(root, op);
	if (fd < 0)
		return errno;
	return close_after(fd, fremovexattr(fd, op->attribute) ? errno : 0);
}

int attribute_set(int root, const struct op *op, const void *value)
{
	int fd = open_path(root, op);

	if (fd < 0)
		return errno;
	return close_after(fd, fsetxattr(fd, op->attribute, value, op->bytes, 0) ?
				       errno : 0);
}
