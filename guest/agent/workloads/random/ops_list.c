// SPDX-License-Identifier: GPL-2.0-only
/*
 * ops_list.c - directories read while they change, and from the middle.
 *
 * All of it happens in the scratch directory and leaves nothing behind, so
 * the choices are `aux` ones.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/random/history.h"

#define FILES_MAX 260

static void scratch_path(const struct history *h, const char *name, char *path)
{
	node_path(h, h->model.root, SCRATCH, path);
	if (name)
		sprintf(path + strlen(path), "/%s", name);
}

/* A directory `list` with files "0".."@count"-1; some names are long. */
static void file_path(const struct history *h, unsigned int i, char *path)
{
	char name[400];

	if (i % 5)
		snprintf(name, sizeof(name), "list/%u", i);
	else
		snprintf(name, sizeof(name), "list/%0*u",
			 (int)(h->opt.name_max - i % 3), i);
	scratch_path(h, name, path);
}

static void make_list(struct history *h, unsigned int count)
{
	char path[PATH_BYTES];
	unsigned int i;
	int fd = -1;

	scratch_path(h, "list", path);
	CALL(h, 0, mkdir(path, 0755));
	for (i = 0; i < count; i++) {
		file_path(h, i, path);
		CALL(h, 0, fd = open(path, O_CREAT | O_EXCL | O_RDWR |
					   O_CLOEXEC, 0644));
		CALL(h, 0, close(fd));
	}
}

static void remove_list(struct history *h, const bool *gone,
			unsigned int count)
{
	char path[PATH_BYTES];
	unsigned int i;

	for (i = 0; i < count; i++) {
		file_path(h, i, path);
		CALL(h, gone && gone[i] ? ENOENT : 0, unlink(path));
	}
	scratch_path(h, "list", path);
	CALL(h, 0, rmdir(path));
}

static DIR *open_list(struct history *h)
{
	char path[PATH_BYTES];
	DIR *dir;

	scratch_path(h, "list", path);
	dir = opendir(path);
	if (!dir)
		fail(h, NULL, "opendir(): expected success, found %s",
		     errno_name(errno));
	return dir;
}

/*
 * Deletes some files while the directory is read.  What was there all the time
 * must be seen exactly once; what was deleted, at most once.
 */
void op_list_deleting(struct history *h)
{
	unsigned int count, i, seen[FILES_MAX] = { 0 };
	bool gone[FILES_MAX] = { false };
	char path[PATH_BYTES];
	struct dirent *item;
	DIR *dir;

	describe(h, NULL, NULL, "delete files while their directory is read");
	if (!h->live)
		return;
	count = rng_between(&h->aux, 3, FILES_MAX);
	make_list(h, count);
	dir = open_list(h);
	while ((item = readdir(dir))) {
		if (item->d_name[0] == '.')
			continue;
		seen[strtoul(item->d_name, NULL, 10) % FILES_MAX]++;
		i = rng_below(&h->aux, count);
		if (gone[i])
			continue;
		file_path(h, i, path);
		CALL(h, 0, unlink(path));
		gone[i] = true;
	}
	CALL(h, 0, closedir(dir));
	for (i = 0; i < count; i++)
		if (seen[i] > 1 || (!gone[i] && !seen[i]))
			fail(h, NULL, "readdir(): %u, which %s, was seen %u times",
			     i, gone[i] ? "was deleted" : "stayed", seen[i]);
	remove_list(h, gone, count);
}

static void check_position(struct history *h, DIR *dir, long position,
			   const char *wanted)
{
	struct dirent *item;

	seekdir(dir, position);
	item = readdir(dir);
	if (!item || strcmp(item->d_name, wanted))
		fail(h, NULL, "seekdir(%ld): expected %s, found %s", position,
		     show_name(wanted), item ? show_name(item->d_name) :
					       "the end");
}

/* Every position that telldir() gave leads back to the same entry. */
void op_list_positions(struct history *h)
{
	unsigned int count, items = 0, i, at;
	long position[FILES_MAX + 2];
	char *name[FILES_MAX + 2];
	struct dirent *item;
	DIR *dir;

	describe(h, NULL, NULL, "telldir and seekdir");
	if (!h->live)
		return;
	count = rng_between(&h->aux, 1, FILES_MAX);
	make_list(h, count);
	dir = open_list(h);
	for (;;) {
		long here = telldir(dir);

		item = readdir(dir);
		if (!item)
			break;
		if (items == count + 2)
			fail(h, NULL, "readdir(): more than %u entries",
			     count + 2);
		position[items] = here;
		name[items] = strcpy(allocate(strlen(item->d_name) + 1),
				     item->d_name);
		items++;
	}
	if (items != count + 2)
		fail(h, NULL, "readdir(): expected %u entries, found %u",
		     count + 2, items);
	for (i = 0; i < 20; i++) {
		at = rng_below(&h->aux, items);
		check_position(h, dir, position[at], name[at]);
	}
	while (items)
		free(name[--items]);
	CALL(h, 0, closedir(dir));
	remove_list(h, NULL, count);
}
