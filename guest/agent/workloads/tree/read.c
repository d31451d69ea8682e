// SPDX-License-Identifier: GPL-2.0-only
/*
 * read.c - see read.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "workloads/tree/read.h"

int tree_reader_init(struct tree_reader *reader, struct tree_run *run,
		     struct ffs_error *error)
{
	reader->run = run;
	reader->buffer = malloc(TREE_READ_BYTES);
	if (!reader->buffer)
		return ffs_fail(error, ENOMEM, "no memory to read files");
	/* Touched now, so that no page fault falls into the phase. */
	memset(reader->buffer, 1, TREE_READ_BYTES);
	return 0;
}

void tree_reader_free(struct tree_reader *reader)
{
	free(reader->buffer);
	reader->buffer = NULL;
}

int tree_open(const struct walk *walk)
{
	return openat(walk->fd, walk->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
}

ssize_t tree_read(struct tree_reader *reader, int fd, size_t bytes)
{
	struct tree_run *run = reader->run;
	ssize_t n;

	do {
		uint64_t start = clock_now_ns();

		n = read(fd, reader->buffer, bytes);
		if (n >= 0)
			latency_add_at(&run->latencies[LATENCY_REQUEST_READ],
				       start, clock_now_ns());
	} while (n < 0 && errno == EINTR);
	if (n > 0)
		run->measure.phase.bytes_read += (uint64_t)n;
	else if (!n)
		run->measure.phase.files_read++;
	return n;
}
