// SPDX-License-Identifier: GPL-2.0-only
/*
 * descent.c - see descent.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workloads/tree/descent.h"

#define OPEN_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

int descent_reserve(struct descent *descent, size_t levels,
		    struct ffs_error *error)
{
	descent->fds = malloc(levels * sizeof(*descent->fds));
	if (!descent->fds)
		return ffs_fail(error, ENOMEM,
				"no memory for %zu levels of directories",
				levels);
	memset(descent->fds, -1, levels * sizeof(*descent->fds));
	descent->room = levels;
	return 0;
}

/* Deeper than what was reserved, which is rare. */
static int grow(struct descent *descent)
{
	size_t room = descent->room ? 2 * descent->room : 16;
	int *fds = realloc(descent->fds, room * sizeof(*fds));

	if (!fds)
		return -1;
	descent->fds = fds;
	descent->room = room;
	return 0;
}

int descent_enter(struct descent *descent, const char *path)
{
	int fd;

	if (descent->n == descent->room && grow(descent))
		return -1;
	fd = descent->n ?
	     openat(descent_fd(descent), path, OPEN_FLAGS | O_NOFOLLOW) :
	     open(path, OPEN_FLAGS);
	if (fd < 0)
		return -1;
	descent->fds[descent->n++] = fd;
	if (descent->n - descent->first_open > DESCENT_OPEN) {
		close(descent->fds[descent->first_open]);
		descent->fds[descent->first_open++] = -1;
	}
	return 0;
}

int descent_leave(struct descent *descent)
{
	int fd = descent_fd(descent), parent;

	if (descent->n > 1 && descent->fds[descent->n - 2] < 0) {
		parent = openat(fd, "..", OPEN_FLAGS);
		if (parent < 0)
			return -1;
		descent->first_open = descent->n - 2;
		descent->fds[descent->first_open] = parent;
	}
	close(fd);
	descent->n--;
	return 0;
}

void descent_free(struct descent *descent)
{
	while (descent->n) {
		int fd = descent->fds[--descent->n];

		if (fd >= 0)
			close(fd);
	}
	free(descent->fds);
	memset(descent, 0, sizeof(*descent));
}
