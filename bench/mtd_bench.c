// SPDX-License-Identifier: GPL-2.0-only
/*
 * mtd_bench.c - programs and erases an MTD device in rounds.
 *
 * mtd_bench DEVICE BLOCKS PROGRAM ROUNDS: each round programs every page of the
 * first BLOCKS erase blocks, unless PROGRAM is 0, then erases these blocks. One
 * write() programs 16 blocks and one ioctl erases all: system calls, which are
 * dear in User-Mode Linux, must not hide the driver's cost. Nothing is measured
 * here: the host compares the CPU time of guests with different arguments.
 *
 * Limit: the device must be erased, and have no bad block among the first.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <mtd/mtd-user.h>

#define BLOCKS_PER_WRITE 16

static int fail(const char *what)
{
	perror(what);
	return 1;
}

/* Bytes that no driver can take for an erased page, the same in every run. */
static void fill(unsigned char *data, size_t bytes)
{
	uint32_t state = 2463534242u;
	size_t i;

	for (i = 0; i < bytes; i++) {
		state ^= state << 13;
		state ^= state >> 17;
		state ^= state << 5;
		data[i] = (unsigned char)state;
	}
}

static int run_round(int fd, const struct mtd_info_user *mtd, size_t bytes,
		     const unsigned char *data)
{
	struct erase_info_user range = { 0, (uint32_t)bytes };
	size_t part = (size_t)BLOCKS_PER_WRITE * mtd->erasesize;
	size_t at;

	for (at = 0; data && at < bytes; at += part) {
		if (part > bytes - at)
			part = bytes - at;
		if (pwrite(fd, data, part, (off_t)at) != (ssize_t)part)
			return fail("pwrite");
	}
	return ioctl(fd, MEMERASE, &range) ? fail("MEMERASE") : 0;
}

int main(int argc, char **argv)
{
	struct mtd_info_user mtd;
	unsigned long blocks, rounds;
	unsigned char *data = NULL;
	size_t bytes;
	int fd, failed = 0;

	if (argc != 5) {
		fputs("usage: mtd_bench DEVICE BLOCKS PROGRAM ROUNDS\n",
		      stderr);
		return 2;
	}
	blocks = strtoul(argv[2], NULL, 10);
	rounds = strtoul(argv[4], NULL, 10);
	fd = open(argv[1], O_RDWR);
	if (fd < 0 || ioctl(fd, MEMGETINFO, &mtd))
		return fail(argv[1]);
	if (blocks > mtd.size / mtd.erasesize) {
		fputs("mtd_bench: more blocks than the device has\n", stderr);
		return 2;
	}
	if (strtoul(argv[3], NULL, 10)) {
		bytes = (size_t)BLOCKS_PER_WRITE * mtd.erasesize;
		data = malloc(bytes);
		if (!data)
			return fail("malloc");
		fill(data, bytes);
	}
	bytes = (size_t)blocks * mtd.erasesize;
	while (rounds-- && !failed)
		failed = run_round(fd, &mtd, bytes, data);
	free(data);
	close(fd);
	return failed;
}
