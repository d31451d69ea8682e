// SPDX-License-Identifier: GPL-2.0-only
/*
 * file.c - see file.h.
 */
#include <errno.h>
#include <unistd.h>

#include "history/file.h"

int close_after(int fd, int failed)
{
	if (close(fd) && !failed)
		return errno;
	return failed;
}

int write_all(int fd, const unsigned char *data, uint64_t bytes,
	      uint64_t offset)
{
	while (bytes) {
		ssize_t n = pwrite(fd, data, bytes, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? errno : EIO;
		data += n;
		bytes -= (uint64_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}
