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

#include "core/calls.h"
#include "core/files.h"
#include "flash/mtd.h"

/* Tests have a directory of their own. */
#ifndef MTD_ROOT
#define MTD_ROOT "/sys/class/mtd"
#endif

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

int64_t mtd_attribute(int number, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), MTD_ROOT "/mtd%d/%s", number, name);
	return file_read_number(path);
}

int64_t mtd_page_bytes(const char *name)
{
	int number = mtd_find(name, NULL);
	int64_t bytes = number < 0 ? 0 : mtd_attribute(number, "writesize");

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

int64_t mtd_bad_blocks(int fd)
{
	struct mtd_ecc_stats stats;

	return ioctl(fd, ECCGETSTATS, &stats) ? -1 : (int64_t)stats.badblocks;
}

/* Kernels before 5.0 lack the attribute; the ioctl is as old as NAND. */
static int64_t bad_blocks(int number)
{
	int64_t count = mtd_attribute(number, "bad_blocks");
	int fd;

	if (count >= 0)
		return count;
	fd = mtd_open(number, O_RDONLY, NULL);
	if (fd < 0)
		return 0;
	count = mtd_bad_blocks(fd);
	close(fd);
	return count < 0 ? 0 : count;
}

int mtd_record(const char *name, struct record_sink *sink,
	       struct ffs_error *error)
{
	int number = mtd_find(name, error);
	int64_t size, block;

	if (number < 0)
		return -1;
	size = mtd_attribute(number, "size");
	block = mtd_attribute(number, "erasesize");
	if (size < 0 || block <= 0)
		return ffs_fail(error, ENOENT,
				MTD_ROOT "/mtd%d does not describe the device; is sysfs mounted?",
				number);
	record_begin(sink, "mtd");
	record_string(sink, "name", name);
	record_signed(sink, "size_bytes", size);
	record_signed(sink, "erase_block_bytes", block);
	record_signed(sink, "page_bytes", mtd_attribute(number, "writesize"));
	record_signed(sink, "subpage_bytes", mtd_attribute(number, "subpagesize"));
	record_signed(sink, "oob_bytes", mtd_attribute(number, "oobsize"));
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
	size = mtd_attribute(number, "size");
	block = mtd_attribute(number, "erasesize");
	page = mtd_attribute(number, "writesize");
	oob = mtd_attribute(number, "oobsize");
	if (size <= 0 || block <= 0 || page <= 0 || oob < 0)
		return ffs_fail(error, ENOENT,
				MTD_ROOT "/mtd%d does not describe the device; is sysfs mounted?",
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

/* Return: -1, with @error. */
static int cannot_ask(int errnum, uint64_t offset, const char *name,
		      struct ffs_error *error)
{
	return ffs_fail(error, errnum,
			"cannot ask whether the block at %llu of '%s' is bad",
			(unsigned long long)offset, name);
}

static int cannot_erase(int errnum, uint64_t offset, const char *name,
			struct ffs_error *error)
{
	return ffs_fail(error, errnum,
			"cannot erase the block at %llu of '%s'%s",
			(unsigned long long)offset, name,
			errnum == EROFS || errnum == EBUSY ?
			" (is it in use or write-protected?)" : "");
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
		return cannot_ask(errno, offset, name, error);
	return bad > 0;
}

int mtd_erase_block(int fd, uint64_t offset, uint64_t length, const char *name,
		    struct ffs_error *error)
{
	struct erase_info_user64 range = { .start = offset, .length = length };

	if (ioctl(fd, MEMERASE64, &range))
		return cannot_erase(errno, offset, name, error);
	return 0;
}

/* Blocks that are asked for and erased in one round trip to the lab's kernel. */
#define ERASE_AT_ONCE 64u

struct erasure {
	struct calls calls;
	__kernel_loff_t positions[ERASE_AT_ONCE];
	struct erase_info_user64 ranges[ERASE_AT_ONCE];
	bool asks;	/* the device knows bad blocks */
};

/* Which block a call is about, and what it does with it. */
enum { ASKS, ERASES, ERASURE_CALLS };

/* A block that is bad ends the queue before it would be erased. */
static void put_off_erase(struct erasure *e, uint32_t i, int fd,
			  uint64_t offset, uint64_t length)
{
	uint32_t tag = i * ERASURE_CALLS;

	if (e->asks) {
		e->positions[i] = (__kernel_loff_t)offset;
		calls_ioctl(&e->calls, tag + ASKS, fd, MEMGETBADBLOCK,
			    &e->positions[i]);
		calls_end_unless_zero(&e->calls);
	}
	e->ranges[i] = (struct erase_info_user64){ .start = offset,
						   .length = length };
	calls_ioctl(&e->calls, tag + ERASES, fd, MEMERASE64, &e->ranges[i]);
}

/*
 * Erase some blocks from @offset, or up to one that is bad.
 *
 * Return: 0 with *@offset behind it, or -1 with @error.
 */
static int erase_some(struct erasure *e, const struct mtd_geometry *g, int fd,
		      const char *name, uint64_t *offset,
		      struct ffs_error *error)
{
	uint64_t left = (g->size_bytes - *offset) / g->block_bytes;
	uint32_t n = left < ERASE_AT_ONCE ? (uint32_t)left : ERASE_AT_ONCE, i;
	uint32_t tag;
	size_t done;
	int failed;

	for (i = 0; i < n; i++)
		put_off_erase(e, i, fd, *offset + i * g->block_bytes,
			      g->block_bytes);
	failed = calls_run(&e->calls, &done);
	tag = e->calls.tags[failed ? done : done - 1];
	calls_clear(&e->calls);
	*offset += tag / ERASURE_CALLS * g->block_bytes;
	if (failed && tag % ERASURE_CALLS == ERASES)
		return cannot_erase(failed, *offset, name, error);
	if (failed && failed != EOPNOTSUPP)
		return cannot_ask(failed, *offset, name, error);
	/* NOR flash has no bad blocks and no such question. */
	if (failed)
		e->asks = false;
	else
		*offset += g->block_bytes;
	return 0;
}

int mtd_erase(const char *name, struct ffs_error *error)
{
	struct erasure erasure = { .asks = true };
	struct mtd_geometry g;
	uint64_t offset = 0;
	int result = 0, fd;

	if (mtd_geometry_read(&g, name, error) ||
	    calls_reserve(&erasure.calls, ERASE_AT_ONCE * ERASURE_CALLS, 0,
			  error))
		return -1;
	fd = mtd_open(g.number, O_RDWR, error);
	if (fd < 0)
		result = -1;
	while (!result && offset + g.block_bytes <= g.size_bytes)
		result = erase_some(&erasure, &g, fd, name, &offset, error);
	if (fd >= 0 && close(fd) && !result)
		result = ffs_fail(error, errno, "cannot close '%s'", name);
	calls_free(&erasure.calls);
	return result;
}
