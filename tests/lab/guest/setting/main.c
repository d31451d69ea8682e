// SPDX-License-Identifier: GPL-2.0-only
/*
 * setting FILE VALUE - writes VALUE to FILE, a setting of the kernel such as those of
 * tracefs; `echo VALUE > FILE` in a guest that has no shell.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	size_t length;
	int fd;

	if (argc != 3) {
		fputs("usage: setting FILE VALUE\n", stderr);
		return 2;
	}
	length = strlen(argv[2]);
	fd = open(argv[1], O_WRONLY);
	if (fd < 0 || write(fd, argv[2], length) != (ssize_t)length ||
	    close(fd)) {
		perror(argv[1]);
		return 1;
	}
	return 0;
}
