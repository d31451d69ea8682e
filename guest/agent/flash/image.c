// SPDX-License-Identifier: GPL-2.0-only
/*
 * image.c - see image.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <mtd/mtd-user.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flash/image.h"
#include "flash/mtd.h"

/* One image on its way to one device. */
struct flasher {
	const char *mtd, *path;
	struct mtd_geometry geometry;
	bool oob, in_place;
	int device, file;
	size_t unit_bytes;	/* of a page in the file, with its OOB */
	size_t units_per_block;
	uint8_t *buffer;	/* an erase block of the image */
	uint64_t offset;	/* of the next block to look at */
	struct image_written *written;
};

bool image_is_blank(const uint8_t *data, size_t bytes)
{
	return !bytes ||
	       (*data == 0xff && !memcmp(data, data + 1, bytes - 1));
}

size_t image_pages_used(const uint8_t *data, size_t page_bytes, size_t pages)
{
	while (pages && image_is_blank(data + (pages - 1) * page_bytes,
				       page_bytes))
		pages--;
	return pages;
}

/* --- what there is and whether it fits ----------------------------------- */

static int open_image(struct flasher *f, struct ffs_error *error)
{
	uint64_t unit = f->geometry.page_bytes;
	struct stat status;

	if (f->oob)
		unit += f->geometry.oob_bytes;
	if (f->oob && !f->geometry.oob_bytes)
		return ffs_fail(error, EINVAL, "'%s' has no OOB area", f->mtd);
	f->unit_bytes = (size_t)unit;
	f->units_per_block = (size_t)(f->geometry.block_bytes /
				      f->geometry.page_bytes);
	f->file = open(f->path, O_RDONLY | O_CLOEXEC);
	if (f->file < 0 || fstat(f->file, &status))
		return ffs_fail(error, errno, "cannot open the image %s",
				f->path);
	f->written->image_bytes = (uint64_t)status.st_size;
	if (!S_ISREG(status.st_mode) || !status.st_size)
		return ffs_fail(error, EINVAL,
				"%s is empty or not a regular file", f->path);
	if (f->oob && f->written->image_bytes % unit)
		return ffs_fail(error, EINVAL,
				"%s has %llu bytes, which are not whole pages of %llu bytes with %llu bytes of OOB (made for another chip, or without OOB?)",
				f->path,
				(unsigned long long)f->written->image_bytes,
				(unsigned long long)f->geometry.page_bytes,
				(unsigned long long)f->geometry.oob_bytes);
	f->buffer = malloc(f->unit_bytes * f->units_per_block);
	if (!f->buffer)
		return ffs_fail(error, ENOMEM, "no memory for an erase block");
	return 0;
}

static int check_fits(struct flasher *f, struct ffs_error *error)
{
	uint64_t block_bytes = f->unit_bytes * f->units_per_block;
	uint64_t needed = (f->written->image_bytes + block_bytes - 1) /
			  block_bytes;
	uint64_t good = 0, bad = 0, offset;
	uint64_t room;

	for (offset = 0; offset + f->geometry.block_bytes <=
			 f->geometry.size_bytes;
	     offset += f->geometry.block_bytes) {
		int is_bad = mtd_block_is_bad(f->device, offset, f->mtd, error);

		if (is_bad < 0)
			return -1;
		good += !is_bad;
		bad += (uint64_t)is_bad;
	}
	room = f->in_place ? good + bad : good;
	if (needed <= room)
		return 0;
	return ffs_fail(error, ENOSPC,
			"the image %s of %llu bytes takes %llu erase blocks, '%s' has %llu good ones (%llu bytes) and %llu bad ones",
			f->path, (unsigned long long)f->written->image_bytes,
			(unsigned long long)needed, f->mtd,
			(unsigned long long)good,
			(unsigned long long)(good * f->geometry.block_bytes),
			(unsigned long long)bad);
}

/*
 * Fill the buffer with the image's block of that number; what is behind the
 * file's end is 0xff. Return: bytes, 0 behind the end, or -1 with @error.
 */
static ssize_t read_block(struct flasher *f, uint64_t number,
			  struct ffs_error *error)
{
	size_t room = f->unit_bytes * f->units_per_block, used = 0;

	while (used < room) {
		ssize_t n = pread(f->file, f->buffer + used, room - used,
				  (off_t)(number * room + used));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ffs_fail(error, errno,
					"cannot read the image %s", f->path);
		if (n == 0)
			break;
		used += (size_t)n;
	}
	memset(f->buffer + used, 0xff, room - used);
	return (ssize_t)used;
}

/* Whether every bad block of the device has its part of the image empty. */
static int check_places(struct flasher *f, struct ffs_error *error)
{
	uint64_t number;
	ssize_t bytes;

	for (number = 0; (bytes = read_block(f, number, error)) > 0; number++) {
		int bad = mtd_block_is_bad(f->device,
					   number * f->geometry.block_bytes,
					   f->mtd, error);

		if (bad < 0)
			return -1;
		if (bad && !image_is_blank(f->buffer, (size_t)bytes))
			return ffs_fail(error, EINVAL,
					"erase block %llu of '%s' is bad, and the image %s has data there, which cannot be elsewhere (make it with --bad-block %llu)",
					(unsigned long long)number, f->mtd,
					f->path, (unsigned long long)number);
	}
	return (int)bytes;
}

/* --- writing ------------------------------------------------------------- */

/* Return: 0 or an errno. */
static int write_page(const struct flasher *f, const uint8_t *unit,
		      uint64_t offset)
{
	struct mtd_write_req request = {
		.start = offset,
		.len = f->geometry.page_bytes,
		.ooblen = f->geometry.oob_bytes,
		.usr_data = (uintptr_t)unit,
		.usr_oob = (uintptr_t)(unit + f->geometry.page_bytes),
		.mode = MTD_OPS_PLACE_OOB,
	};
	ssize_t n;

	if (f->oob)
		return ioctl(f->device, MEMWRITE, &request) ? errno : 0;
	n = pwrite(f->device, unit, f->unit_bytes, (off_t)offset);
	if (n == (ssize_t)f->unit_bytes)
		return 0;
	return n < 0 ? errno : EIO;
}

/* The buffer into the block at @offset. Return: pages, or -1 with @error. */
static int write_block(const struct flasher *f, uint64_t offset,
		       struct ffs_error *error)
{
	size_t used = image_pages_used(f->buffer, f->unit_bytes,
				       f->units_per_block);
	size_t i;
	int pages = 0;

	for (i = 0; i < used; i++) {
		const uint8_t *unit = f->buffer + i * f->unit_bytes;
		uint64_t at = offset + i * f->geometry.page_bytes;
		int failed;

		if ((f->oob || f->in_place) &&
		    image_is_blank(unit, f->unit_bytes))
			continue;
		failed = write_page(f, unit, at);
		if (failed)
			return ffs_fail(error, failed,
					"cannot program the page at byte %llu of '%s'",
					(unsigned long long)at, f->mtd);
		pages++;
	}
	return pages;
}

/* What flashers do with a block that fails. */
static int retire(const struct flasher *f, uint64_t offset,
		  struct ffs_error *error)
{
	__kernel_loff_t position = (__kernel_loff_t)offset;
	struct ffs_error ignored;

	/* A block this far gone may refuse this too; the mark decides. */
	mtd_erase_block(f->device, offset, f->geometry.block_bytes, f->mtd,
			&ignored);
	if (ioctl(f->device, MEMSETBADBLOCK, &position))
		return ffs_fail(error, errno,
				"cannot mark the block at %llu of '%s' as bad, in which a program failed",
				(unsigned long long)offset, f->mtd);
	return 0;
}

/* The buffer into the next block that takes it. */
static int place_block(struct flasher *f, struct ffs_error *error)
{
	uint64_t block_bytes = f->geometry.block_bytes;

	while (f->offset + block_bytes <= f->geometry.size_bytes) {
		uint64_t offset = f->offset;
		int pages, bad;

		f->offset += block_bytes;
		bad = mtd_block_is_bad(f->device, offset, f->mtd, error);
		if (bad < 0)
			return -1;
		f->written->bad_blocks_skipped += (uint64_t)bad;
		if (bad && f->in_place)
			return 0;
		if (bad)
			continue;
		pages = write_block(f, offset, error);
		if (pages >= 0) {
			f->written->pages += (uint64_t)pages;
			f->written->blocks++;
			return 0;
		}
		if (error->errnum != EIO || retire(f, offset, error))
			return -1;
		f->written->bad_blocks_skipped++;
		if (f->in_place)
			return ffs_fail(error, EIO,
					"erase block %llu of '%s' failed and is marked as bad; the image %s has data there, which cannot be elsewhere (erase, and make it with --bad-block %llu)",
					(unsigned long long)(offset / block_bytes),
					f->mtd, f->path,
					(unsigned long long)(offset / block_bytes));
	}
	return ffs_fail(error, ENOSPC,
			"so many blocks of '%s' failed that the image %s of %llu bytes does not fit; %llu are written, %llu bad",
			f->mtd, f->path,
			(unsigned long long)f->written->image_bytes,
			(unsigned long long)f->written->blocks,
			(unsigned long long)f->written->bad_blocks_skipped);
}

static int write_all(struct flasher *f, struct ffs_error *error)
{
	uint64_t number = 0;
	ssize_t bytes;

	if (open_image(f, error))
		return -1;
	f->device = mtd_open(f->geometry.number, O_RDWR, error);
	if (f->device < 0 || check_fits(f, error) ||
	    (f->in_place && check_places(f, error)))
		return -1;
	while ((bytes = read_block(f, number++, error)) > 0)
		if (place_block(f, error))
			return -1;
	return (int)bytes;
}

int image_write(const char *mtd, const char *path, bool oob, bool in_place,
		struct image_written *written, struct ffs_error *error)
{
	struct flasher f = {
		.mtd = mtd,
		.path = path,
		.oob = oob,
		.in_place = in_place,
		.device = -1,
		.file = -1,
		.written = written,
	};
	int result;

	memset(written, 0, sizeof(*written));
	if (mtd_geometry_read(&f.geometry, mtd, error))
		return -1;
	result = write_all(&f, error);
	if (f.device >= 0 && close(f.device) && !result)
		result = ffs_fail(error, errno, "cannot close '%s'", mtd);
	if (f.file >= 0)
		close(f.file);
	free(f.buffer);
	return result;
}

void image_record(const struct image_written *written, const char *path,
		  struct record_sink *sink)
{
	record_begin(sink, "written");
	record_string(sink, "path", path);
	record_number(sink, "image_bytes", written->image_bytes);
	record_number(sink, "pages", written->pages);
	record_number(sink, "blocks", written->blocks);
	record_number(sink, "bad_blocks_skipped", written->bad_blocks_skipped);
	record_end(sink);
}
