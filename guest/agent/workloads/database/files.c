// SPDX-License-Identifier: GPL-2.0-only
/*
 * files.c - see files.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "workloads/database/files.h"

/* Of the rollback journal: its header is padded to a sector. */
#define SECTOR_BYTES 512
#define COUNT_AT 8		/* in the header: how many pages follow */
#define NUMBER_BYTES 4		/* before a page; its checksum behind it is as long */
/* Of the write-ahead log. */
#define WAL_HEADER_BYTES 32
#define FRAME_HEADER_BYTES 24

static const unsigned char journal_magic[] = {
	0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7,
};
static const unsigned char wal_magic[] = { 0x37, 0x7f, 0x06, 0x82 };

int database_files_init(struct database_files *files,
			const struct database_params *params,
			struct ffs_error *error)
{
	const char *kind = params->journal == DATABASE_WAL ? "wal" : "journal";
	int i;

	files->params = params;
	files->fd = files->journal_fd = -1;
	if (snprintf(files->journal_path, PATH_MAX, "%s/database-%s",
		     params->dir, kind) >= PATH_MAX)
		return ffs_fail(error, ENAMETOOLONG, "%.64s...", params->dir);
	snprintf(files->path, PATH_MAX, "%s/database", params->dir);
	if (database_pages_init(&files->pages, params, error))
		return -1;
	files->frames = calloc(files->pages.n, sizeof(*files->frames));
	files->buffer = calloc(1, SECTOR_BYTES + params->page_bytes);
	if (!files->frames || !files->buffer)
		return ffs_fail(error, ENOMEM, "no memory for a page");
	/* Resetting touches the memory before the first phase. */
	for (i = 0; i < DATABASE_OPS; i++)
		latency_reset(&files->latencies[i]);
	return 0;
}

void database_files_free(struct database_files *files)
{
	if (files->fd >= 0)
		close(files->fd);
	if (files->journal_fd >= 0)
		close(files->journal_fd);
	database_pages_free(&files->pages);
	free(files->frames);
	free(files->buffer);
}

/* --- system calls -------------------------------------------------------- */

static const char *path_of(const struct database_files *files, int fd)
{
	return fd == files->fd ? files->path : files->journal_path;
}

/* Writes the first @bytes of the buffer. */
static int put(struct database_files *files, int fd, size_t bytes, uint64_t at,
	       struct ffs_error *error)
{
	const unsigned char *data = files->buffer;

	while (bytes) {
		ssize_t n = pwrite(fd, data, bytes, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return ffs_fail(error, n ? errno : EIO,
					"cannot write %s", path_of(files, fd));
		data += n;
		at += (uint64_t)n;
		bytes -= (size_t)n;
		files->bytes_written += (uint64_t)n;
	}
	return 0;
}

/* Reads a page to @offset of the buffer. */
static int get_page(struct database_files *files, int fd, size_t offset,
		    uint64_t at, struct ffs_error *error)
{
	size_t bytes = files->pages.bytes;

	while (bytes) {
		ssize_t n = pread(fd, files->buffer + offset, bytes, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return ffs_fail(error, n ? errno : EBADMSG,
					"cannot read a page of %s",
					path_of(files, fd));
		offset += (size_t)n;
		at += (uint64_t)n;
		bytes -= (size_t)n;
		files->bytes_read += (uint64_t)n;
	}
	return 0;
}

static int sync_file(struct database_files *files, int fd,
		     int (*call)(int fd), struct ffs_error *error)
{
	uint64_t start = clock_now_ns();

	if (call(fd))
		return ffs_fail(error, errno, "cannot sync %s",
				path_of(files, fd));
	latency_add_at(&files->latencies[DATABASE_OP_SYNC],
		       start, clock_now_ns());
	return 0;
}

static int create_file(const char *path, int *fd, struct ffs_error *error)
{
	*fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (*fd >= 0)
		return 0;
	return ffs_fail(error, errno, "cannot create %s%s", path,
		errno == EEXIST ? " (left over from an earlier run? remove it)" : "");
}

static int remove_journal(struct database_files *files, struct ffs_error *error)
{
	close(files->journal_fd);
	files->journal_fd = -1;
	return unlink(files->journal_path) ?
	       ffs_fail(error, errno, "cannot delete %s", files->journal_path) :
	       0;
}

/* SQLite's numbers are big-endian. */
static void put_number(unsigned char *out, uint64_t number)
{
	int i;

	for (i = NUMBER_BYTES - 1; i >= 0; i--) {
		out[i] = (unsigned char)number;
		number >>= 8;
	}
}

static int put_page(struct database_files *files, uint64_t page,
		    struct ffs_error *error)
{
	database_page(&files->pages, page, files->buffer);
	return put(files, files->fd, files->pages.bytes,
		   page * files->pages.bytes, error);
}

int database_create(struct database_files *files, struct ffs_error *error)
{
	uint64_t page;

	if (create_file(files->path, &files->fd, error))
		return -1;
	for (page = 0; page < files->pages.n; page++)
		if (put_page(files, page, error))
			return -1;
	return fsync(files->fd) ?
	       ffs_fail(error, errno, "cannot sync %s", files->path) : 0;
}

/* --- the rollback journal ------------------------------------------------ */

/* The pages of a transaction: page 0 has the counter of changes, then those drawn. */
static uint64_t changed_page(const struct database_files *files, uint64_t i)
{
	return i ? files->pages.drawn[i - 1] : 0;
}

static int keep_page(struct database_files *files, uint64_t i,
		     struct ffs_error *error)
{
	size_t bytes = files->pages.bytes, record = bytes + 2 * NUMBER_BYTES;
	uint64_t page = changed_page(files, i);

	if (get_page(files, files->fd, NUMBER_BYTES, page * bytes, error))
		return -1;
	put_number(files->buffer, page + 1);
	put_number(files->buffer + NUMBER_BYTES + bytes, rng_mix(page));
	return put(files, files->journal_fd, record, SECTOR_BYTES + i * record,
		   error);
}

/* First the pages become safe, then the header that says how many there are. */
static int keep_pages(struct database_files *files, uint64_t n,
		      struct ffs_error *error)
{
	unsigned char *header = files->buffer;
	uint64_t i;

	memset(header, 0, SECTOR_BYTES);
	memcpy(header, journal_magic, sizeof(journal_magic));
	put_number(header + 12, rng_mix(files->pages.changes[0]));
	put_number(header + 16, files->pages.n);
	put_number(header + 20, SECTOR_BYTES);
	put_number(header + 24, files->pages.bytes);
	if (put(files, files->journal_fd, SECTOR_BYTES, 0, error))
		return -1;
	for (i = 0; i < n; i++)
		if (keep_page(files, i, error))
			return -1;
	if (sync_file(files, files->journal_fd, fsync, error))
		return -1;
	put_number(files->buffer, n);
	if (put(files, files->journal_fd, NUMBER_BYTES, COUNT_AT, error))
		return -1;
	return sync_file(files, files->journal_fd, fsync, error);
}

static int change_in_place(struct database_files *files,
			   struct ffs_error *error)
{
	uint64_t n = files->pages.n_drawn + 1, i;

	if (create_file(files->journal_path, &files->journal_fd, error) ||
	    keep_pages(files, n, error))
		return -1;
	for (i = 0; i < n; i++) {
		uint64_t page = changed_page(files, i);

		files->pages.changes[page]++;
		if (put_page(files, page, error))
			return -1;
	}
	if (sync_file(files, files->fd, fsync, error))
		return -1;
	return remove_journal(files, error);	/* this commits */
}

/* --- the write-ahead log ------------------------------------------------- */

static uint64_t frame_at(const struct database_files *files, uint64_t frame)
{
	return WAL_HEADER_BYTES +
	       frame * (FRAME_HEADER_BYTES + files->pages.bytes);
}

static int begin_wal(struct database_files *files, struct ffs_error *error)
{
	unsigned char *header = files->buffer;
	int i;

	if (files->journal_fd < 0 &&
	    create_file(files->journal_path, &files->journal_fd, error))
		return -1;
	memcpy(header, wal_magic, sizeof(wal_magic));
	put_number(header + 4, 3007000);
	put_number(header + 8, files->pages.bytes);
	put_number(header + 12, files->checkpoints);
	for (i = 16; i < WAL_HEADER_BYTES; i += NUMBER_BYTES)
		put_number(header + i, rng_mix(files->checkpoints + (uint64_t)i));
	return put(files, files->journal_fd, WAL_HEADER_BYTES, 0, error);
}

/* @size: of the database in pages, in the frame that commits; else 0. */
static int put_frame(struct database_files *files, uint64_t page, uint64_t size,
		     struct ffs_error *error)
{
	unsigned char *header = files->buffer;
	int i;

	files->pages.changes[page]++;
	put_number(header, page + 1);
	put_number(header + 4, size);
	for (i = 8; i < FRAME_HEADER_BYTES; i += NUMBER_BYTES)
		put_number(header + i, rng_mix(files->n_frames + (uint64_t)i));
	database_page(&files->pages, page, header + FRAME_HEADER_BYTES);
	if (put(files, files->journal_fd,
		FRAME_HEADER_BYTES + files->pages.bytes,
		frame_at(files, files->n_frames), error))
		return -1;
	files->frames[page] = (uint32_t)++files->n_frames;
	return 0;
}

/* The newest version of a page goes to the buffer. */
static int get_newest(struct database_files *files, uint64_t page,
		      struct ffs_error *error)
{
	uint32_t frame = files->frames[page];

	if (!frame)
		return get_page(files, files->fd, 0, page * files->pages.bytes,
				error);
	return get_page(files, files->journal_fd, 0,
			frame_at(files, frame - 1) + FRAME_HEADER_BYTES, error);
}

/* What the log has goes to the database; the next frame is its first again. */
static int checkpoint(struct database_files *files, struct ffs_error *error)
{
	uint64_t start = clock_now_ns(), page;

	for (page = 0; page < files->pages.n; page++) {
		if (!files->frames[page])
			continue;
		if (get_newest(files, page, error) ||
		    put(files, files->fd, files->pages.bytes,
			page * files->pages.bytes, error))
			return -1;
		files->frames[page] = 0;
	}
	if (sync_file(files, files->fd, fdatasync, error))
		return -1;
	files->n_frames = 0;
	files->checkpoints++;
	latency_add_at(&files->latencies[DATABASE_OP_CHECKPOINT],
		       start, clock_now_ns());
	return 0;
}

static int change_in_wal(struct database_files *files, struct ffs_error *error)
{
	const struct database_pages *pages = &files->pages;
	uint64_t i;

	if (!files->n_frames && begin_wal(files, error))
		return -1;
	for (i = 0; i < pages->n_drawn; i++) {
		bool last = i + 1 == pages->n_drawn;

		if (get_newest(files, pages->drawn[i], error) ||
		    put_frame(files, pages->drawn[i], last ? pages->n : 0,
			      error))
			return -1;
	}
	if (sync_file(files, files->journal_fd, fdatasync, error))
		return -1;	/* else it is committed */
	return files->n_frames >= files->params->checkpoint_frames ?
	       checkpoint(files, error) : 0;
}

/* --- both ---------------------------------------------------------------- */

int database_transaction(struct database_files *files, struct ffs_error *error)
{
	uint64_t start = clock_now_ns();

	if (files->params->journal == DATABASE_WAL ?
	    change_in_wal(files, error) : change_in_place(files, error))
		return -1;
	latency_add_at(&files->latencies[DATABASE_OP_TRANSACTION],
		       start, clock_now_ns());
	return 0;
}

int database_close(struct database_files *files, struct ffs_error *error)
{
	if (files->journal_fd < 0)
		return 0;
	if (files->n_frames && checkpoint(files, error))
		return -1;
	return remove_journal(files, error);
}

int database_verify(struct database_files *files, struct ffs_error *error)
{
	size_t bytes = files->pages.bytes;
	unsigned char *right = malloc(bytes);
	uint64_t page;
	int result = 0;

	if (!right)
		return ffs_fail(error, ENOMEM, "no memory for a page");
	(void)posix_fadvise(files->fd, 0, 0, POSIX_FADV_DONTNEED);
	for (page = 0; page < files->pages.n && !result; page++) {
		result = get_page(files, files->fd, 0, page * bytes, error);
		database_page(&files->pages, page, right);
		if (!result && memcmp(files->buffer, right, bytes))
			result = ffs_fail(error, EBADMSG,
				"page %llu of %s is not what was written",
				(unsigned long long)page, files->path);
	}
	free(right);
	return result;
}
