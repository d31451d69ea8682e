// SPDX-License-Identifier: GPL-2.0-only
/*
 * wear.c - see wear.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "flash/mtd.h"
#include "wear/ec_header.h"
#include "wear/wear.h"

/*
 * So few that the data of UBI and the file system take most of them at once: what
 * becomes free of them later is then given to data that nobody writes.
 */
#define WORN_EVERY 4

/* The device, and the beginning of one of its blocks. */
struct wearing {
	const char *name;
	struct mtd_geometry geometry;
	struct crc32 crc32;
	uint64_t erases;
	int fd;
	uint8_t *start;
	struct ffs_error *error;
};

static int failed(const struct wearing *w, const char *what, uint64_t offset)
{
	return ffs_fail(w->error, errno, "cannot %s the block at %llu of '%s'",
			what, (unsigned long long)offset, w->name);
}

/* Return: 1, 0 if there is something in the block or it is bad, or -1. */
static int is_free(const struct wearing *w, uint64_t offset)
{
	const struct ec_header *header = (const void *)w->start;
	int bad = mtd_block_is_bad(w->fd, offset, w->name, w->error);
	uint64_t room = w->geometry.block_bytes;
	uint32_t at, i;

	if (bad)
		return bad < 0 ? -1 : 0;
	if (pread(w->fd, w->start, room, (off_t)offset) != (ssize_t)room)
		return failed(w, "read", offset);
	at = ec_header_vid_offset(header);
	if (!ec_header_is_good(header, &w->crc32) || at < EC_HEADER_BYTES ||
	    at > room - VID_HEADER_BYTES)
		return 0;
	for (i = 0; i < VID_HEADER_BYTES; i++)
		if (w->start[at + i] != 0xff)
			return 0;
	return 1;
}

/* What is in front of the other header is what UBI writes at once. */
static int wear_block(const struct wearing *w, uint64_t offset)
{
	struct ec_header *header = (void *)w->start;
	size_t bytes = ec_header_vid_offset(header);

	ec_header_wear(header, w->erases, &w->crc32);
	if (mtd_erase_block(w->fd, offset, w->geometry.block_bytes, w->name,
			    w->error))
		return -1;
	if (pwrite(w->fd, w->start, bytes, (off_t)offset) != (ssize_t)bytes)
		return failed(w, "write", offset);
	return 0;
}

static int wear_all(const struct wearing *w)
{
	const struct mtd_geometry *g = &w->geometry;
	uint64_t offset;
	int free_blocks = 0, worn = 0, found;

	for (offset = 0; offset < g->size_bytes; offset += g->block_bytes) {
		found = is_free(w, offset);
		if (found < 0)
			return -1;
		if (!found || free_blocks++ % WORN_EVERY)
			continue;
		if (wear_block(w, offset))
			return -1;
		worn++;
	}
	return worn;
}

int wear_blocks(const char *mtd, uint64_t erases, struct ffs_error *error)
{
	struct wearing w = { .name = mtd, .erases = erases, .error = error };
	int worn;

	if (mtd_geometry_read(&w.geometry, mtd, error))
		return -1;
	w.fd = mtd_open(w.geometry.number, O_RDWR, error);
	if (w.fd < 0)
		return -1;
	crc32_init(&w.crc32);
	w.start = malloc(w.geometry.block_bytes);
	worn = w.start ? wear_all(&w) :
			 ffs_fail(error, ENOMEM, "no memory for a block");
	free(w.start);
	close(w.fd);
	return worn;
}
