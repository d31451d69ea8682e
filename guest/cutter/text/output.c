// SPDX-License-Identifier: GPL-2.0-only
/*
 * output.c - see output.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include "text/output.h"

int output_open(const char *path, struct ffs_error *error)
{
	struct termios mode;
	int fd;

	if (!path)
		return STDOUT_FILENO;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_CLOEXEC,
		  0644);
	if (fd < 0) {
		ffs_fail(error, errno, "cannot open %s", path);
		return -1;
	}
	/* A serial line is not to change what is written to it. */
	if (isatty(fd) && !tcgetattr(fd, &mode)) {
		cfmakeraw(&mode);
		tcsetattr(fd, TCSANOW, &mode);
	}
	return fd;
}
