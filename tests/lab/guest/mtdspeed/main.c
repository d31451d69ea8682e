// SPDX-License-Identifier: GPL-2.0-only
/*
 * mtdspeed DEVICE OPERATION BLOCKS - one operation on all of the first BLOCKS
 * erase blocks of an MTD device: erase, program, read (page by page), or oob
 * (reads the OOB area of each page). It prints nothing: the time is that of the
 * plan's step, and the host knows how many operations that were.
 *
 * Limit: none of the blocks may be bad, and `program` wants them erased.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <mtd/mtd-user.h>

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static int erase(int fd, uint32_t bytes)
{
	struct erase_info_user range = { 0, bytes };

	return ioctl(fd, MEMERASE, &range) ? fail("MEMERASE") : 0;
}

static int one_page(int fd, const char *operation, uint32_t at,
		    uint32_t bytes, unsigned char *page)
{
	struct mtd_oob_buf oob = { at, 16, page };

	if (!strcmp(operation, "program"))
		return pwrite(fd, page, bytes, at) != (ssize_t)bytes;
	if (!strcmp(operation, "read"))
		return pread(fd, page, bytes, at) != (ssize_t)bytes;
	return ioctl(fd, MEMREADOOB, &oob);
}

int main(int argc, char **argv)
{
	struct mtd_info_user mtd;
	unsigned char *page;
	uint32_t bytes, at;
	int fd, failed = 0;

	if (argc != 4) {
		fputs("usage: mtdspeed DEVICE OPERATION BLOCKS\n", stderr);
		return 2;
	}
	fd = open(argv[1], O_RDWR);
	if (fd < 0 || ioctl(fd, MEMGETINFO, &mtd))
		return fail(argv[1]);
	bytes = (uint32_t)strtoul(argv[3], NULL, 10) * mtd.erasesize;
	if (!strcmp(argv[2], "erase"))
		return erase(fd, bytes);
	page = calloc(1, mtd.writesize);
	if (!page)
		return fail("calloc");
	for (at = 0; at < bytes && !failed; at += mtd.writesize)
		failed = one_page(fd, argv[2], at, mtd.writesize, page);
	return failed ? fail(argv[2]) : 0;
}
