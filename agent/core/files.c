// SPDX-License-Identifier: GPL-2.0-only
/*
 * files.c - see files.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files.h"

/* Most files that are read are smaller than this. */
#define FIRST_BYTES ((size_t)16 << 10)

/*
 * open() of the C library sets O_CLOEXEC by a second system call, which in the
 * lab costs the host as much as the first.
 */
static int open_file(const char *path, int flags)
{
	return openat(AT_FDCWD, path, flags | O_CLOEXEC);
}

/* Read until @room bytes are full or the file ends. Return: 0 or an errno. */
static int read_some(int fd, char *text, size_t room, size_t *bytes)
{
	while (*bytes < room) {
		ssize_t n = read(fd, text + *bytes, room - *bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? errno : 0;
		*bytes += (size_t)n;
	}
	return 0;
}

/* What @first could not hold. Return: 0 or an errno. */
static int read_rest(int fd, char **text, size_t limit, size_t *bytes)
{
	size_t room = *bytes;
	int failed = 0;

	while (!failed && *bytes == room) {
		char *larger;

		if (*bytes > limit)
			return EFBIG;
		room *= 4;
		larger = realloc(*text, room + 1);
		if (!larger)
			return ENOMEM;
		*text = larger;
		failed = read_some(fd, *text, room, bytes);
	}
	return failed;
}

/* Read until the end of the file. Return: 0 or an errno. */
static int read_to_end(int fd, char **text, size_t limit, size_t *bytes)
{
	char first[FIRST_BYTES];
	int failed;

	*bytes = 0;
	failed = read_some(fd, first, sizeof(first), bytes);
	if (failed)
		return failed;
	*text = malloc(*bytes + 1);
	if (!*text)
		return ENOMEM;
	memcpy(*text, first, *bytes);
	if (*bytes == sizeof(first))
		failed = read_rest(fd, text, limit, bytes);
	if (!failed && *bytes > limit)
		failed = EFBIG;
	(*text)[*bytes] = '\0';
	return failed;
}

char *file_read(const char *path, size_t limit, size_t *bytes,
		struct ffs_error *error)
{
	char *text = NULL;
	size_t length;
	int result;
	int fd = open_file(path, O_RDONLY);

	if (fd < 0) {
		ffs_fail(error, errno, "cannot open %s", path);
		return NULL;
	}
	result = read_to_end(fd, &text, limit, &length);
	close(fd);
	if (result) {
		free(text);
		ffs_fail(error, result, "cannot read %s", path);
		return NULL;
	}
	if (bytes)
		*bytes = length;
	return text;
}

int file_write_text(const char *path, const char *text,
		    struct ffs_error *error)
{
	size_t length = strlen(text);
	ssize_t n;
	int failed = 0;
	int fd = open_file(path, O_WRONLY);

	if (fd < 0)
		return ffs_fail(error, errno, "cannot open %s", path);
	do
		n = write(fd, text, length);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)length)
		failed = n < 0 ? errno : EIO;
	if (close(fd) && !failed)
		failed = errno;
	if (failed)
		return ffs_fail(error, failed, "cannot write '%s' to %s", text,
				path);
	return 0;
}

int64_t file_read_number(const char *path)
{
	char *text = file_read(path, 4096, NULL, NULL);
	int64_t number = -1;

	if (text && *text >= '0' && *text <= '9')
		number = strtoll(text, NULL, 10);
	free(text);
	return number;
}

int make_directories(const char *path, struct ffs_error *error)
{
	char part[PATH_MAX];
	size_t length = strlen(path), i;

	if (length >= sizeof(part))
		return ffs_fail(error, ENAMETOOLONG, "cannot create %s", path);
	for (i = 1; i <= length; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		/* A read-only root says EROFS for what exists, too. */
		if (mkdir(part, 0755) && errno != EEXIST &&
		    access(part, F_OK))
			return ffs_fail(error, errno, "cannot create %s", part);
	}
	return 0;
}
