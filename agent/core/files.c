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

/* Read until the end of the file. Return: 0 or an errno. */
static int read_to_end(int fd, char **text, size_t limit, size_t *bytes)
{
	size_t room = 0;

	*bytes = 0;
	for (;;) {
		ssize_t n;

		if (room - *bytes < 2) {
			char *larger = realloc(*text, room ? 2 * room : 4096);

			if (!larger)
				return ENOMEM;
			*text = larger;
			room = room ? 2 * room : 4096;
		}
		n = read(fd, *text + *bytes, room - *bytes - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if (n == 0)
			break;
		*bytes += (size_t)n;
		if (*bytes > limit)
			return EFBIG;
	}
	(*text)[*bytes] = '\0';
	return 0;
}

char *file_read(const char *path, size_t limit, size_t *bytes,
		struct ffs_error *error)
{
	char *text = NULL;
	size_t length;
	int result;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

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
	int fd = open(path, O_WRONLY | O_CLOEXEC);

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
