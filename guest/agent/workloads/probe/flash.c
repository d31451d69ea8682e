// SPDX-License-Identifier: GPL-2.0-only
/*
 * flash.c - probes of the flash through the MTD character device: see probe.h.
 *
 * One request is one operation of the chip, so that the time of an operation is
 * not mixed with that of a loop in the driver.  Bad blocks are left out.
 */
#include <errno.h>
#include <fcntl.h>
#include <mtd/mtd-user.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/content.h"
#include "flash/mtd.h"
#include "workloads/probe/probe.h"

const char *const probe_flash_names[PROBE_FLASH_OPS + 1] = {
	[PROBE_ERASE] = "erase",
	[PROBE_PROGRAM] = "program",
	[PROBE_PROGRAM_OOB] = "program-oob",
	[PROBE_READ] = "read",
	[PROBE_READ_PART] = "read-part",
	[PROBE_READ_OOB] = "read-oob",
	[PROBE_PROGRAM_PART] = "program-part",
	[PROBE_READ_BLOCK] = "read-block",
};

/* As JFFS2's clean marker; every layout of an OOB area has room for it. */
#define PROGRAMMED_OOB_BYTES 8

struct device {
	const char *name;
	struct mtd_geometry geometry;
	int fd;
	enum probe_flash_op op;
	struct content content;
	uint64_t *blocks;	/* [n_blocks]: offsets of good ones */
	uint64_t n_blocks;
	uint64_t bytes;		/* of a request */
	unsigned char *buffer;	/* of an erase block */
};

/* Return: 0, or -1 with @error, also if there are too few. */
static int find_blocks(struct device *device, uint64_t wanted,
		       struct ffs_error *error)
{
	const struct mtd_geometry *g = &device->geometry;
	uint64_t at;

	for (at = 0; at + g->block_bytes <= g->size_bytes &&
	     device->n_blocks < wanted; at += g->block_bytes) {
		int bad = mtd_block_is_bad(device->fd, at, device->name, error);

		if (bad < 0)
			return -1;
		if (!bad)
			device->blocks[device->n_blocks++] = at;
	}
	if (device->n_blocks == wanted)
		return 0;
	return ffs_fail(error, ENOSPC,
			"'%s' has %llu good blocks, and %llu are to be probed",
			device->name, (unsigned long long)device->n_blocks,
			(unsigned long long)wanted);
}

static int read_oob(struct device *device, uint64_t at)
{
	struct mtd_oob_buf64 oob = {
		.start = at,
		.length = (uint32_t)device->bytes,
		.usr_ptr = (uint64_t)(uintptr_t)device->buffer,
	};

	return ioctl(device->fd, MEMREADOOB64, &oob);
}

/* Of data; an OOB area has a request of its own. */
static bool is_program(enum probe_flash_op op)
{
	return op == PROBE_PROGRAM || op == PROBE_PROGRAM_PART;
}

/* One request for all pages of a block. */
static bool is_of_block(enum probe_flash_op op)
{
	return op == PROBE_ERASE || op == PROBE_READ_BLOCK;
}

/* Into the free bytes only: never over the mark of a bad block. */
static int program_oob(struct device *device, uint64_t at)
{
	struct mtd_write_req oob = {
		.start = at,
		.ooblen = device->bytes,
		.usr_oob = (uint64_t)(uintptr_t)device->buffer,
		.mode = MTD_OPS_AUTO_OOB,
	};

	return ioctl(device->fd, MEMWRITE, &oob);
}

static int request(struct device *device, uint64_t at, uint64_t within,
		   struct ffs_error *error)
{
	size_t bytes = (size_t)device->bytes;
	ssize_t n;

	if (device->op == PROBE_ERASE)
		return mtd_erase_block(device->fd, at, bytes, device->name,
				       error);
	if (device->op == PROBE_READ_OOB)
		n = read_oob(device, at) ? -1 : (ssize_t)bytes;
	else if (device->op == PROBE_PROGRAM_OOB)
		n = program_oob(device, at) ? -1 : (ssize_t)bytes;
	else if (is_program(device->op))
		n = pwrite(device->fd, device->buffer + within, bytes,
			   (off_t)at);
	else
		n = pread(device->fd, device->buffer, bytes, (off_t)at);
	if (n == (ssize_t)bytes)
		return 0;
	return ffs_fail(error, n < 0 ? errno : EIO,
			"cannot %s %zu bytes of '%s' at byte %llu",
			probe_flash_names[device->op], bytes, device->name,
			(unsigned long long)at);
}

static int all_requests(struct probe *probe, struct device *device,
			struct ffs_error *error)
{
	const struct mtd_geometry *g = &device->geometry;
	uint64_t unit = is_of_block(device->op) ? g->block_bytes :
						  g->page_bytes;
	uint64_t i, within;

	for (i = 0; i < device->n_blocks; i++)
		for (within = 0; within < g->block_bytes; within += unit) {
			if (request(device, device->blocks[i] + within, within,
				    error))
				return -1;
			probe_done(probe);
		}
	return 0;
}

/* The bytes of one request, or 0 with @error. */
static uint64_t request_bytes(const struct device *device, uint64_t part,
			      struct ffs_error *error)
{
	const struct mtd_geometry *g = &device->geometry;
	uint64_t bytes = g->page_bytes;

	if (is_of_block(device->op))
		bytes = g->block_bytes;
	else if (device->op == PROBE_READ_PART ||
		 device->op == PROBE_PROGRAM_PART)
		bytes = part;
	else if (device->op == PROBE_READ_OOB)
		bytes = g->oob_bytes;
	else if (device->op == PROBE_PROGRAM_OOB)
		bytes = g->oob_bytes ? PROGRAMMED_OOB_BYTES : 0;
	if (bytes && (bytes <= g->page_bytes || is_of_block(device->op)))
		return bytes;
	ffs_fail(error, EINVAL, "'%s' has pages of %llu bytes with %llu of OOB: a request of %llu bytes is none of a page",
		 device->name, (unsigned long long)g->page_bytes,
		 (unsigned long long)g->oob_bytes, (unsigned long long)bytes);
	return 0;
}

static int prepare(struct probe *probe, struct device *device, uint64_t blocks,
		   struct ffs_error *error)
{
	const struct mtd_geometry *g = &device->geometry;

	device->bytes = request_bytes(device, probe->bytes, error);
	if (!device->bytes)
		return -1;
	device->blocks = calloc(blocks, sizeof(*device->blocks));
	device->buffer = malloc(g->block_bytes);
	if (!device->blocks || !device->buffer)
		return ffs_fail(error, ENOMEM, "no memory for an erase block");
	/* Also touches it: no page is to be brought in a timed phase. */
	content_fill(&device->content, 0, device->buffer, g->block_bytes);
	probe->bytes = device->bytes;
	probe->count = blocks * (is_of_block(device->op) ?
				 1 : g->block_bytes / g->page_bytes);
	return find_blocks(device, blocks, error);
}

static int probe_device(struct probe *probe, struct device *device,
			uint64_t blocks, const struct flash_monitor *monitor,
			struct record_sink *sink, struct ffs_error *error)
{
	if (prepare(probe, device, blocks, error) ||
	    probe_begin(probe, monitor, error))
		return -1;
	return probe_end(probe, monitor, all_requests(probe, device, error),
			 sink, error);
}

/* Return: 0, or -1 with @error if blocks are not whole pages of @page_bytes. */
static int find_geometry(struct device *device, uint64_t page_bytes,
			 struct ffs_error *error)
{
	struct mtd_geometry *g = &device->geometry;

	if (mtd_geometry_read(g, device->name, error))
		return -1;
	if (!page_bytes)
		return 0;
	if (page_bytes % g->page_bytes || g->block_bytes % page_bytes)
		return ffs_fail(error, EINVAL, "'%s' is written in units of %llu bytes in erase blocks of %llu: it has no pages of %llu bytes",
				device->name,
				(unsigned long long)g->page_bytes,
				(unsigned long long)g->block_bytes,
				(unsigned long long)page_bytes);
	g->page_bytes = page_bytes;
	return 0;
}

int probe_flash(struct probe *probe, const char *mtd, enum probe_flash_op op,
		uint64_t blocks, uint64_t page_bytes, uint64_t seed,
		const struct flash_monitor *monitor, struct record_sink *sink,
		struct ffs_error *error)
{
	bool writes = op == PROBE_ERASE || op == PROBE_PROGRAM_OOB ||
		      is_program(op);
	struct device device = { .name = mtd, .op = op };
	int result;

	probe->what = probe_flash_names[op];
	content_init(&device.content, &content_random, seed, CONTENT_TEST, 0);
	if (find_geometry(&device, page_bytes, error))
		return -1;
	device.fd = mtd_open(device.geometry.number,
			     writes ? O_RDWR : O_RDONLY, error);
	if (device.fd < 0)
		return -1;
	result = probe_device(probe, &device, blocks, monitor, sink, error);
	free(device.blocks);
	free(device.buffer);
	close(device.fd);
	return result;
}
