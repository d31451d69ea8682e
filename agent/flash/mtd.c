// SPDX-License-Identifier: GPL-2.0-only
/*
 * mtd.c - MTD devices through /proc/mtd, sysfs and the MEM* ioctls; see mtd.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <mtd/mtd-user.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/files.h"
#include "flash/mtd.h"

/* A line of /proc/mtd reads: mtd0: 06400000 00020000 "name" */
static int match_line(const char *line, const char *name)
{
	const char *quote = strchr(line, '"');
	size_t length = strlen(name);
	int number, parsed = 0;

	if (sscanf(line, "mtd%d:%n", &number, &parsed) != 1 || !parsed ||
	    !quote || strncmp(quote + 1, name, length) ||
	    quote[1 + length] != '"')
		return -1;
	return number;
}

int mtd_find(const char *name, struct ffs_error *error)
{
	char *text = file_read("/proc/mtd", 1 << 20, NULL, error);
	char *rest = text, *line;
	int number = -1;

	if (!text)
		return -1;
	while (number < 0 && (line = strsep(&rest, "\n")))
		number = match_line(line, name);
	free(text);
	if (number < 0)
		ffs_fail(error, ENODEV,
			 "no MTD device is named '%s'; see /proc/mtd (is its driver loaded, is the partition defined?)",
			 name);
	return number;
}

static int64_t attribute(int number, const char *name)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/class/mtd/mtd%d/%s", number, name);
	return file_read_number(path);
}

int64_t mtd_page_bytes(const char *name)
{
	int number = mtd_find(name, NULL);
	int64_t bytes = number < 0 ? 0 : attribute(number, "writesize");

	return bytes < 0 ? 0 : bytes;
}

int mtd_open(int number, int flags, struct ffs_error *error)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/dev/mtd%d", number);
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0)
		ffs_fail(error, errno, "cannot open %s", path);
	return fd;
}

/* Kernels before 5.0 lack the attribute; the ioctl is as old as NAND. */
static int64_t bad_blocks(int number)
{
	int64_t count = attribute(number, "bad_blocks");
	struct mtd_ecc_stats stats;
	int fd;

	if (count >= 0)
		return count;
	fd = mtd_open(number, O_RDONLY, NULL);
	if (fd < 0)
		return 0;
	count = ioctl(fd, ECCGETSTATS, &stats) ? 0 : stats.badblocks;
	close(fd);
	return count;
}

int mtd_record(const char *name, struct record_sink *sink,
	       struct ffs_error *error)
{
	int number = mtd_find(name, error);
	int64_t size, block;

	if (number < 0)
		return -1;
	size = attribute(number, "size");
	block = attribute(number, "erasesize");
	if (size < 0 || block <= 0)
		return ffs_fail(error, ENOENT,
				"/sys/class/mtd/mtd%d does not describe the device; is sysfs mounted?",
				number);
	record_begin(sink, "mtd");
	record_string(sink, "name", name);
	record_signed(sink, "size_bytes", size);
	record_signed(sink, "erase_block_bytes", block);
	record_signed(sink, "page_bytes", attribute(number, "writesize"));
	record_signed(sink, "subpage_bytes", attribute(number, "subpagesize"));
	record_signed(sink, "oob_bytes", attribute(number, "oobsize"));
	record_signed(sink, "blocks", size / block);
	record_signed(sink, "bad_blocks", bad_blocks(number));
	record_end(sink);
	return 0;
}

int mtd_geometry_read(struct mtd_geometry *geometry, const char *name,
		      struct ffs_error *error)
{
	int number = mtd_find(name, error);
	int64_t size, block, page, oob;

	if (number < 0)
		return -1;
	size = attribute(number, "size");
	block = attribute(number, "erasesize");
	page = attribute(number, "writesize");
	oob = attribute(number, "oobsize");
	if (size <= 0 || block <= 0 || page <= 0 || oob < 0)
		return ffs_fail(error, ENOENT,
				"/sys/class/mtd/mtd%d does not describe the device; is sysfs mounted?",
				number);
	if (block % page)
		return ffs_fail(error, 0,
				"'%s' has erase blocks of %lld bytes, which are not whole pages of %lld",
				name, (long long)block, (long long)page);
	*geometry = (struct mtd_geometry){
		.number = number,
		.size_bytes = (uint64_t)size,
		.block_bytes = (uint64_t)block,
		.page_bytes = (uint64_t)page,
		.oob_bytes = (uint64_t)oob,
	};
	return 0;
}

int mtd_block_is_bad(int fd, uint64_t offset, const char *name,
		     struct ffs_error *error)
{
	__kernel_loff_t position = (__kernel_loff_t)offset;
	int bad;

	do
		bad = ioctl(fd, MEMGETBADBLOCK, &position);
	while (bad < 0 && errno == EINTR);
	/* NOR flash has no bad blocks and no such question. */
	if (bad < 0 && errno != EOPNOTSUPP)
		return ffs_fail(error, errno,
				"cannot ask whether the block at %llu of '%s' is bad",
				(unsigned long long)offset, name);
	return bad > 0;
}

int mtd_erase_block(int fd, uint64_t offset, uint64_t length, const char *name,
		    struct ffs_error *error)
{
	struct erase_info_user64 range = { .start = offset, .length = length };

	if (ioctl(fd, MEMERASE64, &range))
		return ffs_fail(error, errno,
				"cannot erase the block at %llu of '%s'%s",
				(unsigned long long)offset, name,
				errno == EROFS || errno == EBUSY ?
				" (is it in use or write-protected?)" : "");
	return 0;
}

int mtd_erase(const char *name, struct ffs_error *error)
{
	struct mtd_geometry g;
	uint64_t offset;
	int result = 0, fd;

	if (mtd_geometry_read(&g, name, error))
		return -1;
	fd = mtd_open(g.number, O_RDWR, error);
	if (fd < 0)
		return -1;
	for (offset = 0; !result && offset + g.block_bytes <= g.size_bytes;
	     offset += g.block_bytes) {
		result = mtd_block_is_bad(fd, offset, name, error);
		if (!result)
			result = mtd_erase_block(fd, offset, g.block_bytes,
						 name, error);
		else if (result > 0)
			result = 0;
	}
	if (close(fd) && !result)
		result = ffs_fail(error, errno, "cannot close '%s'", name);
	return result;
}
