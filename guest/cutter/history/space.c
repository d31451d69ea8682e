// SPDX-License-Identifier: GPL-2.0-only
/*
 * space.c - see space.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "core/random.h"
#include "history/file.h"
#include "history/space.h"

#define PIECE_BYTES ((uint64_t)64 << 10)
#define LEAST_BYTES ((uint64_t)4 << 10)
#define TURNS 2

static int free_bytes(int root, uint64_t *bytes)
{
	struct statfs space;

	if (fstatfs(root, &space))
		return errno;
	*bytes = (uint64_t)space.f_bavail * (uint64_t)space.f_bsize;
	return 0;
}

/* Bytes that no compressor makes smaller. NULL without memory. */
static unsigned char *piece(void)
{
	unsigned char *data = malloc(PIECE_BYTES);
	struct rng rng;

	if (!data)
		return NULL;
	rng_seed(&rng, 1);
	rng_fill(&rng, data, PIECE_BYTES);
	return data;
}

static uint64_t rounded(uint64_t bytes)
{
	bytes -= bytes % LEAST_BYTES;
	return bytes < LEAST_BYTES ? LEAST_BYTES :
	       bytes > PIECE_BYTES ? PIECE_BYTES : bytes;
}

/* Pieces, smaller ones where a larger one has no room. @end: of the file. */
static int add_pieces(int root, int fd, const unsigned char *data,
		      uint64_t keep, uint64_t *end)
{
	uint64_t bytes = PIECE_BYTES, room = 0;
	int failed;

	while (bytes >= LEAST_BYTES) {
		failed = syncfs(root) ? errno : free_bytes(root, &room);
		if (failed && failed != ENOSPC)
			return failed;
		if (!failed && room <= keep)
			return 0;
		if (room - keep < bytes)
			bytes = rounded(room - keep);
		failed = write_all(fd, data, bytes, *end);
		if (!failed)
			*end += bytes;
		else if (failed == ENOSPC)
			bytes /= 2;
		else
			return failed;
	}
	return 0;
}

/* What was too much goes again. */
static int give_room(int root, int fd, uint64_t keep, uint64_t end)
{
	uint64_t room = 0;
	int failed = ftruncate(fd, (off_t)end) || syncfs(root) ? errno : 0;

	while (!failed && end >= LEAST_BYTES) {
		failed = free_bytes(root, &room);
		if (failed || room >= keep)
			break;
		end -= LEAST_BYTES;
		failed = ftruncate(fd, (off_t)end) || syncfs(root) ? errno : 0;
	}
	return failed;
}

static int open_file(int root, const char *path)
{
	return openat(root, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
}

int space_fill(int root, const char *path, uint64_t keep)
{
	unsigned char *data = piece();
	int fd = open_file(root, path), failed = fd < 0 ? errno : 0;
	uint64_t end = 0;
	struct stat stat;

	if (!failed && !data)
		failed = ENOMEM;
	if (!failed && fstat(fd, &stat))
		failed = errno;
	if (!failed) {
		end = (uint64_t)stat.st_size;
		failed = add_pieces(root, fd, data, keep, &end);
	}
	if (!failed)
		failed = give_room(root, fd, keep, end);
	if (fd >= 0)
		failed = close_after(fd, failed);
	free(data);
	return failed;
}

/* Return: 0 or an errno. */
static int overwrite(int root, int fd, const unsigned char *data)
{
	struct statfs space;
	uint64_t left, bytes;
	int failed;

	if (fstatfs(root, &space))
		return errno;
	left = TURNS * (uint64_t)space.f_blocks * (uint64_t)space.f_bsize;
	/* The old contents are there until the new ones are. */
	bytes = rounded((uint64_t)space.f_bavail * (uint64_t)space.f_bsize / 4);
	for (; left; left -= left < bytes ? left : bytes) {
		failed = write_all(fd, data, bytes, 0);
		if (!failed && fsync(fd))
			failed = errno;
		if (failed)
			return failed;
	}
	return 0;
}

int space_turn_over(int root, const char *path)
{
	unsigned char *data = piece();
	int fd = open_file(root, path), failed = fd < 0 ? errno : 0;

	if (!failed && !data)
		failed = ENOMEM;
	if (!failed)
		failed = overwrite(root, fd, data);
	if (fd >= 0)
		failed = close_after(fd, failed);
	free(data);
	if (unlinkat(root, path, 0) && !failed)
		failed = errno;
	if (syncfs(root) && !failed)
		failed = errno;
	return failed;
}
