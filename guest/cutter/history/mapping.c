// SPDX-License-Identifier: GPL-2.0-only
/*
 * mapping.c - see mapping.h.
 *
 * The bytes come out of a pipe: where the file system refuses a page, because it is full
 * say, a store of our own would end the program with SIGBUS; the kernel's store into the
 * same mapping ends with EFAULT.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "history/file.h"
#include "history/mapping.h"

#define PIECE_BYTES ((uint64_t)4096) /* a pipe holds as much without a reader */
#define PAGE_BYTES ((uint64_t)4096)

static int store_piece(const int pipe[2], unsigned char *to,
		       const unsigned char *from, uint64_t bytes)
{
	ssize_t n = write(pipe[1], from, bytes);

	if (n != (ssize_t)bytes)
		return n < 0 ? errno : EIO;
	n = read(pipe[0], to, bytes);
	if (n != (ssize_t)bytes)
		return n < 0 ? errno : EFAULT;
	return 0;
}

static int store(unsigned char *to, const unsigned char *from, uint64_t bytes)
{
	uint64_t done, piece;
	int pipe[2], failed = 0;

	if (pipe2(pipe, O_CLOEXEC))
		return errno;
	for (done = 0; !failed && done < bytes; done += piece) {
		piece = bytes - done < PIECE_BYTES ? bytes - done : PIECE_BYTES;
		failed = store_piece(pipe, to + done, from + done, piece);
	}
	close(pipe[0]);
	return close_after(pipe[1], failed);
}

/* @start: of the first page. Return: NULL with errno. */
static unsigned char *map(int fd, uint64_t start, uint64_t bytes)
{
	void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			    (off_t)start);

	return mapped == MAP_FAILED ? NULL : mapped;
}

static int unmap_after(unsigned char *mapped, uint64_t bytes, int failed)
{
	if (munmap(mapped, bytes) && !failed)
		return errno;
	return failed;
}

int map_write(int fd, const unsigned char *data, uint64_t bytes,
	      uint64_t offset)
{
	uint64_t before = offset % PAGE_BYTES;
	unsigned char *mapped;
	struct stat stat;
	int failed;

	if (fstat(fd, &stat))
		return errno;
	if (!bytes || offset + bytes > (uint64_t)stat.st_size)
		return EINVAL;
	mapped = map(fd, offset - before, before + bytes);
	if (!mapped)
		return errno;
	failed = store(mapped + before, data, bytes);
	return unmap_after(mapped, before + bytes, failed);
}

int map_sync(int fd)
{
	unsigned char *mapped;
	struct stat stat;
	uint64_t bytes;

	if (fstat(fd, &stat))
		return errno;
	bytes = (uint64_t)stat.st_size;
	mapped = map(fd, 0, bytes);
	if (!mapped)
		return errno;
	return unmap_after(mapped, bytes,
			   msync(mapped, bytes, MS_SYNC) ? errno : 0);
}
