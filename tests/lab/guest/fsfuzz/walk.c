// SPDX-License-Identifier: GPL-2.0-only
/*
 * walk.c - visiting everything in a file system; see use.h. Depth and number are
 * limited: a damaged directory may contain itself.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "use.h"

#define MAX_DEPTH	12
#define MAX_XATTRS	12

bool tally(struct use *u, bool good)
{
	if (good)
		u->tally->good++;
	else
		u->tally->failed++;
	return good;
}

static void read_at(struct use *u, int fd, off_t at)
{
	size_t n = 1 + rng_below(&u->rng, 4096);

	tally(u, pread(fd, u->buffer, n, at < 0 ? 0 : at) >= 0);
}

static void read_file(struct use *u, const char *path, off_t size)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	off_t at;

	if (!tally(u, fd >= 0))
		return;
	read_at(u, fd, 0);
	read_at(u, fd, size / 2);
	read_at(u, fd, size - 1000);
	if (size > 0)
		read_at(u, fd, (off_t)(rng_next(&u->rng) % (uint64_t)size));
	at = lseek(fd, size / 3, SEEK_DATA);
	if (tally(u, at >= 0))
		tally(u, lseek(fd, at, SEEK_HOLE) >= 0);
	close(fd);
}

static void read_xattrs(struct use *u, const char *path)
{
	char names[2048], *name;
	ssize_t n = llistxattr(path, names, sizeof(names) - 1);
	unsigned int tried = 0;

	if (!tally(u, n >= 0))
		return;
	names[n] = '\0';
	for (name = names; name < names + n && tried++ < MAX_XATTRS;
	     name += strlen(name) + 1)
		tally(u, lgetxattr(path, name, u->buffer,
				   rng_below(&u->rng, 600)) >= 0);
}

static void visit_directory(struct use *u, const char *path, unsigned int depth);

static void visit(struct use *u, const char *path, unsigned int depth)
{
	struct stat s;

	if (!tally(u, !lstat(path, &s))) {
		/* What cannot be looked at can perhaps be opened. */
		read_file(u, path, 0);
		return;
	}
	if (u->paths < MAX_PATHS) {
		memcpy(u->path[u->paths], path, strlen(path) + 1);
		u->mode[u->paths++] = s.st_mode;
	}
	read_xattrs(u, path);
	if (S_ISLNK(s.st_mode))
		tally(u, readlink(path, u->buffer, sizeof(u->buffer)) >= 0);
	else if (S_ISDIR(s.st_mode))
		visit_directory(u, path, depth);
	else
		read_file(u, path, s.st_size);
}

static void visit_directory(struct use *u, const char *path, unsigned int depth)
{
	DIR *directory = depth < MAX_DEPTH ? opendir(path) : NULL;
	struct dirent *entry;
	unsigned int entries = 0;

	if (!tally(u, directory))
		return;
	while (u->paths < MAX_PATHS && entries++ < MAX_PATHS &&
	       (entry = readdir(directory))) {
		char child[PATH_BYTES];

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (snprintf(child, sizeof(child), "%s/%s", path,
			     entry->d_name) < (int)sizeof(child))
			visit(u, child, depth + 1);
	}
	closedir(directory);
}

void use_walk(struct use *u)
{
	u->paths = 0;
	visit(u, u->root, 0);
	if (!u->paths) {
		/* Not even the root: operations go on with its name. */
		snprintf(u->path[0], PATH_BYTES, "%s", u->root);
		u->mode[0] = S_IFDIR | 0755;
		u->paths = 1;
	}
}
