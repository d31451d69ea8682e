// SPDX-License-Identifier: GPL-2.0-only
/*
 * raw.c - see raw.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/content.h"
#include "flash/mtd.h"
#include "flash/raw.h"

struct raw {
	const char *mtd;
	struct mtd_geometry geometry;
	struct content content;
	bool writes;
	int fd;
	unsigned char *block;
};

static int move_block(struct raw *raw, uint64_t offset, struct ffs_error *error)
{
	size_t bytes = (size_t)raw->geometry.block_bytes, done = 0;

	if (raw->writes)
		content_fill(&raw->content, offset, raw->block, bytes);
	while (done < bytes) {
		off_t at = (off_t)(offset + done);
		ssize_t n = raw->writes ?
			pwrite(raw->fd, raw->block + done, bytes - done, at) :
			pread(raw->fd, raw->block + done, bytes - done, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return ffs_fail(error, n ? errno : EIO,
					"cannot %s '%s' at byte %llu",
					raw->writes ? "write" : "read",
					raw->mtd,
					(unsigned long long)(offset + done));
		done += (size_t)n;
	}
	return 0;
}

static int move_blocks(struct raw *raw, struct ffs_error *error)
{
	const struct mtd_geometry *g = &raw->geometry;
	uint64_t offset;

	for (offset = 0; offset + g->block_bytes <= g->size_bytes;
	     offset += g->block_bytes) {
		int bad = mtd_block_is_bad(raw->fd, offset, raw->mtd, error);

		if (bad < 0 || (!bad && move_block(raw, offset, error)))
			return -1;
	}
	return 0;
}

static int raw_move(struct raw *raw, struct ffs_error *error)
{
	int result;

	if (mtd_geometry_read(&raw->geometry, raw->mtd, error))
		return -1;
	raw->fd = mtd_open(raw->geometry.number,
			   raw->writes ? O_RDWR : O_RDONLY, error);
	if (raw->fd < 0)
		return -1;
	raw->block = malloc((size_t)raw->geometry.block_bytes);
	result = raw->block ? move_blocks(raw, error) :
		 ffs_fail(error, ENOMEM, "no memory for an erase block");
	free(raw->block);
	if (close(raw->fd) && !result)
		result = ffs_fail(error, errno, "cannot close '%s'", raw->mtd);
	return result;
}

int raw_write(const char *mtd, uint64_t seed, struct ffs_error *error)
{
	struct raw raw = { .mtd = mtd, .writes = true };

	content_init(&raw.content, &content_random, seed, CONTENT_TEST, 0);
	return raw_move(&raw, error);
}

int raw_read(const char *mtd, struct ffs_error *error)
{
	struct raw raw = { .mtd = mtd };

	return raw_move(&raw, error);
}
