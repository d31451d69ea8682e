// SPDX-License-Identifier: GPL-2.0-only
/*
 * files.c - see files.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/calls.h"
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

/* What begins a file: two reads, of which the second mostly finds its end. */
struct beginning {
	char text[2 * FIRST_BYTES];
	size_t bytes;
	int fd;		/* the file, if there may be more of it; else -1 */
};

/*
 * A file's text is read when the flash is counted, again and again: all in one
 * round trip if the file ends with the first read.
 *
 * Return: 0 or an errno; @opened says whether it was not for opening it.
 */
static int read_beginning(const char *path, struct beginning *beginning,
			  bool *opened)
{
	char *text = beginning->text;
	struct calls_few few;
	struct calls calls;
	size_t done, second;
	int failed;

	calls_use(&calls, &few);
	calls_open(&calls, 0, AT_FDCWD, path, O_RDONLY);
	calls_read_some(&calls, 0, CALLS_OPENED, text, FIRST_BYTES);
	calls_read_some(&calls, 0, CALLS_OPENED, text + FIRST_BYTES,
			FIRST_BYTES);
	calls_end_unless_zero(&calls);
	calls_close(&calls, 0, CALLS_OPENED);
	failed = calls_run(&calls, &done);
	*opened = done > 0;
	if (failed && done < 3)
		return failed;
	beginning->bytes = (size_t)calls.queue[1].result;
	second = (size_t)calls.queue[2].result;
	memmove(text + beginning->bytes, text + FIRST_BYTES, second);
	beginning->bytes += second;
	calls_clear(&calls);
	beginning->fd = second ? calls.fd : -1;
	return 0;
}

/* The rest of @fd behind @text, whose room is @room. Return: 0 or an errno. */
static int read_rest(int fd, char **text, size_t room, size_t limit,
		     size_t *bytes)
{
	int failed = read_some(fd, *text, room, bytes);

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

/* Return: 0 or an errno; *@text is to be freed either way. */
static int read_to_end(const char *path, char **text, size_t limit,
		       size_t *bytes, bool *opened)
{
	struct beginning beginning;
	size_t room;
	int failed = read_beginning(path, &beginning, opened);

	if (failed)
		return failed;
	*bytes = beginning.bytes;
	room = beginning.fd < 0 ? *bytes : sizeof(beginning.text);
	*text = malloc(room + 1);
	if (*text) {
		memcpy(*text, beginning.text, *bytes);
		if (beginning.fd >= 0)
			failed = read_rest(beginning.fd, text, room, limit,
					   bytes);
	} else {
		failed = ENOMEM;
	}
	if (beginning.fd >= 0)
		close(beginning.fd);
	if (!failed && *bytes > limit)
		failed = EFBIG;
	if (!failed)
		(*text)[*bytes] = '\0';
	return failed;
}

char *file_read(const char *path, size_t limit, size_t *bytes,
		struct ffs_error *error)
{
	bool opened = false;
	char *text = NULL;
	size_t length;
	int failed = read_to_end(path, &text, limit, &length, &opened);

	if (failed) {
		free(text);
		ffs_fail(error, failed, "cannot %s %s",
			 opened ? "read" : "open", path);
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
