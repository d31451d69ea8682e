// SPDX-License-Identifier: GPL-2.0-only
/*
 * files.c - see files.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "observe/files.h"
#include "observe/observe.h"
#include "observe/queue.h"
#include "observe/sectors.h"

#define CALLS_A_FILE 3
#define FILE_FLAGS (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOATIME)

enum { STEP_OPEN, STEP_READ, STEP_CLOSE };

static int buffer_reserve(struct files_read *buffer, struct ffs_error *error)
{
	buffer->data = malloc(FILES_BYTES);
	buffer->crcs = malloc(FILES_BYTES / SECTOR_BYTES *
			      sizeof(*buffer->crcs));
	buffer->paths = malloc(FILES_PATHS_BYTES);
	if (!buffer->data || !buffer->crcs || !buffer->paths)
		return ffs_fail(error, ENOMEM, "no memory for contents");
	return 0;
}

int files_reserve(struct files *files, struct ffs_error *error)
{
	memset(files, 0, sizeof(*files));
	crc32_init(&files->crc32);
	files->now = &files->buffers[0];
	files->before = &files->buffers[1];
	if (calls_reserve(&files->calls, FILES_MAX * CALLS_A_FILE, 0, error) ||
	    buffer_reserve(files->now, error) ||
	    buffer_reserve(files->before, error)) {
		files_free(files);
		return -1;
	}
	return 0;
}

void files_free(struct files *files)
{
	int i;

	calls_free(&files->calls);
	for (i = 0; i < 2; i++) {
		free(files->buffers[i].data);
		free(files->buffers[i].crcs);
		free(files->buffers[i].paths);
	}
	memset(files, 0, sizeof(*files));
}

/* --- reading ------------------------------------------------------------- */

static bool is_to_be_read(const struct entry *entry)
{
	return !entry->lost && S_ISREG(entry->stat.st_mode) &&
	       entry->stat.st_size > 0;
}

static void ended(void *context, size_t thing, uint32_t step, int64_t result)
{
	struct file_read *file = &((struct files_read *)context)->files[thing];

	if (step == STEP_READ || (step == STEP_OPEN && result < 0))
		file->result = result;
}

static size_t whole_sectors(uint64_t bytes)
{
	return (size_t)sectors_of(bytes) * SECTOR_BYTES;
}

/* Return: whether there was room. */
static bool put_off(struct files *files, const struct tree *tree, size_t number)
{
	const struct entry *entry = tree->sorted[number];
	struct files_read *now = files->now;
	size_t bytes = (size_t)entry->stat.st_size;
	size_t path_bytes = strlen(entry->path) + 1;
	struct file_read *file = &now->files[now->n];

	if (now->n == FILES_MAX ||
	    now->data_used + whole_sectors(bytes) > FILES_BYTES ||
	    now->paths_used + path_bytes > FILES_PATHS_BYTES)
		return false;
	*file = (struct file_read){
		.entry = number,
		.path = now->paths_used,
		.data = now->data_used,
		.bytes = bytes,
		.result = -EIO,
	};
	memcpy(now->paths + now->paths_used, entry->path, path_bytes);
	now->paths_used += path_bytes;
	calls_open(&files->calls, queue_tag(now->n, STEP_OPEN), AT_FDCWD,
		   entry->path, FILE_FLAGS);
	calls_read_some(&files->calls, queue_tag(now->n, STEP_READ),
			CALLS_OPENED, now->data + now->data_used, bytes);
	calls_close(&files->calls, queue_tag(now->n, STEP_CLOSE), CALLS_OPENED);
	now->data_used += whole_sectors(bytes);
	now->n++;
	return true;
}

size_t files_read(struct files *files, const struct tree *tree, size_t from)
{
	struct files_read *now = files->before;
	size_t i;

	files->before = files->now;
	files->now = now;
	now->n = 0;
	now->data_used = 0;
	now->paths_used = 0;
	for (i = from; i < tree->n; i++) {
		const struct entry *entry = tree->sorted[i];

		if (is_to_be_read(entry) &&
		    (uint64_t)entry->stat.st_size <= FILES_BYTES &&
		    !put_off(files, tree, i))
			break;
	}
	queue_run(&files->calls, ended, now);
	return i;
}

/* --- CRCs ---------------------------------------------------------------- */

/* Eight words at a time, without a branch for each. */
#define SAME_BYTES 64

static bool are_same(const unsigned char *one, const unsigned char *other)
{
	uint64_t a, b, differ;
	size_t at, i;

	for (at = 0; at < SECTOR_BYTES; at += SAME_BYTES) {
		differ = 0;
		for (i = at; i < at + SAME_BYTES; i += sizeof(a)) {
			memcpy(&a, one + i, sizeof(a));
			memcpy(&b, other + i, sizeof(b));
			differ |= a ^ b;
		}
		if (differ)
			return false;
	}
	return true;
}

/* The same file in the buffer before; both are sorted. NULL if it was not. */
static const struct file_read *same_file(const struct files *files,
					 const struct file_read *file)
{
	const struct files_read *before = files->before;
	const char *path = files->now->paths + file->path;
	size_t low = 0, high = before->n;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct file_read *found = &before->files[middle];
		int order = strcmp(before->paths + found->path, path);

		if (!order)
			/* Read again by sectors, its data are not there. */
			return found->result == (int64_t)found->bytes ? found :
									NULL;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static void put_whole(struct files *files, const struct file_read *file,
		      struct text *text)
{
	const struct file_read *same = same_file(files, file);
	size_t known = same ? same->bytes / SECTOR_BYTES : 0, i;
	const unsigned char *data = files->now->data + file->data;
	uint32_t *crcs = files->now->crcs + file->data / SECTOR_BYTES;
	struct sectors sectors;

	sectors_begin(&sectors, text);
	for (i = 0; i < sectors_of(file->bytes); i++) {
		size_t at = i * SECTOR_BYTES, bytes = file->bytes - at;

		if (bytes > SECTOR_BYTES)
			bytes = SECTOR_BYTES;
		if (i < known && bytes == SECTOR_BYTES &&
		    are_same(data + at, files->before->data + same->data + at))
			crcs[i] = files->before->crcs[same->data /
						      SECTOR_BYTES + i];
		else
			crcs[i] = crc32_of(&files->crc32, data + at, bytes);
		sectors_add(&sectors, crcs[i]);
	}
	sectors_end(&sectors);
}

/* --- what cannot be read at once ------------------------------------------ */

/* A file's list, and the first error that was met. */
struct piece {
	struct sectors sectors;
	int failed;
};

static void fail(struct piece *piece, int errnum)
{
	if (!piece->failed)
		piece->failed = errnum;
}

static void add_crcs(const struct files *files, struct piece *piece,
		     const unsigned char *data, size_t bytes)
{
	size_t at;

	for (at = 0; at < bytes; at += SECTOR_BYTES) {
		size_t n = bytes - at < SECTOR_BYTES ? bytes - at :
						       SECTOR_BYTES;

		sectors_add(&piece->sectors,
			    crc32_of(&files->crc32, data + at, n));
	}
}

/* Return: whether all of it was read. */
static bool read_whole(int fd, unsigned char *data, size_t bytes,
		       uint64_t offset)
{
	while (bytes) {
		ssize_t n = pread(fd, data, bytes, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		data += n;
		bytes -= (size_t)n;
		offset += (uint64_t)n;
	}
	return true;
}

static void read_sectors(const struct files *files, struct piece *piece, int fd,
			 size_t bytes, uint64_t offset)
{
	unsigned char data[SECTOR_BYTES];
	size_t at;

	for (at = 0; at < bytes; at += SECTOR_BYTES) {
		size_t n = bytes - at < SECTOR_BYTES ? bytes - at :
						       SECTOR_BYTES;

		errno = EIO;	/* should the file end before its size */
		if (read_whole(fd, data, n, offset + at)) {
			add_crcs(files, piece, data, n);
		} else {
			fail(piece, errno);
			sectors_add_unreadable(&piece->sectors, 1);
		}
	}
}

/* @data: room for FILES_BYTES, a multiple of a sector. */
static void read_pieces(const struct files *files, struct piece *piece, int fd,
			unsigned char *data, uint64_t size)
{
	uint64_t offset;

	for (offset = 0; offset < size; offset += FILES_BYTES) {
		uint64_t left = size - offset;
		size_t bytes = left < FILES_BYTES ? (size_t)left : FILES_BYTES;

		if (read_whole(fd, data, bytes, offset))
			add_crcs(files, piece, data, bytes);
		else
			read_sectors(files, piece, fd, bytes, offset);
	}
}

/*
 * Append "ERRNO CRCS" of a file that is large, or that cannot be read whole.
 * The buffer of the observation before is overwritten, and so forgotten.
 */
static void put_by_itself(struct files *files, const struct entry *entry,
			  struct text *text)
{
	uint64_t size = (uint64_t)entry->stat.st_size;
	struct text list = { 0 };
	struct piece piece = { .failed = 0 };
	int fd;

	sectors_begin(&piece.sectors, &list);
	fd = openat(AT_FDCWD, entry->path, FILE_FLAGS | O_CLOEXEC);
	files->before->n = 0;
	if (fd < 0) {
		fail(&piece, errno);
		sectors_add_unreadable(&piece.sectors, sectors_of(size));
	} else {
		read_pieces(files, &piece, fd, files->before->data, size);
		close(fd);
	}
	sectors_end(&piece.sectors);
	text_number(text, (uint64_t)piece.failed);
	text_add(text, " ", 1);
	text_add(text, list.data, list.n);
	text->failed |= list.failed;
	text_free(&list);
}

static const struct file_read *find(const struct files *files, size_t number)
{
	const struct files_read *now = files->now;
	size_t low = 0, high = now->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (now->files[middle].entry == number)
			return &now->files[middle];
		if (now->files[middle].entry < number)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

void files_put(struct files *files, const struct tree *tree, size_t number,
	       struct text *text)
{
	const struct entry *entry = tree->sorted[number];
	const struct file_read *file = find(files, number);

	if (!is_to_be_read(entry)) {
		text_string(text, "0 -");
	} else if ((uint64_t)entry->stat.st_size > OBSERVE_FILE_MAX) {
		text_number(text, EFBIG);
		text_string(text, " -");
	} else if (file && file->result == (int64_t)file->bytes) {
		text_string(text, "0 ");
		put_whole(files, file, text);
	} else {
		put_by_itself(files, entry, text);
	}
}
