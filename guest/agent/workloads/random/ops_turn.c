// SPDX-License-Identifier: GPL-2.0-only
/*
 * ops_turn.c - write and delete until every erase block was collected once.
 *
 * Small files, of which the last few are there at a time, as many bytes as the
 * partition has: what the file system finds on the flash afterwards is what it
 * moved there itself.  It happens in the scratch directory and leaves nothing
 * behind.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "workloads/random/history.h"

#define FILE_BYTES 12000u
#define FILES 8u
#define SYNC_EVERY 5u

static void turn_path(struct history *h, uint64_t number, char *path)
{
	char name[64];

	snprintf(name, sizeof(name), "%s/turn-%llu", SCRATCH,
		 (unsigned long long)(number % FILES));
	node_path(h, h->model.root, name, path);
}

static void write_one(struct history *h, uint64_t number)
{
	char path[PATH_BYTES];
	int fd = -1;

	turn_path(h, number, path);
	if (number >= FILES)
		CALL(h, 0, unlink(path));
	rng_fill(&h->aux, h->buffer, FILE_BYTES);
	CALL(h, 0, fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
	CALL(h, 0, write(fd, h->buffer, FILE_BYTES));
	if (number % SYNC_EVERY == 0)
		CALL(h, 0, fsync(fd));
	CALL(h, 0, close(fd));
}

void op_turn_over(struct history *h)
{
	uint64_t files = h->opt.turn_over_bytes / FILE_BYTES + FILES, i;
	char path[PATH_BYTES];

	describe(h, NULL, NULL, "write and delete %llu bytes",
		 (unsigned long long)h->opt.turn_over_bytes);
	if (!h->live)
		return;
	for (i = 0; i < files; i++)
		write_one(h, i);
	for (i = 0; i < FILES; i++) {
		turn_path(h, i, path);
		CALL(h, 0, unlink(path));
	}
	sync_all(h);
}
