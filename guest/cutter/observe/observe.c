// SPDX-License-Identifier: GPL-2.0-only
/*
 * observe.c - see observe.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "observe/attributes.h"
#include "observe/files.h"
#include "observe/observe.h"
#include "observe/tree.h"

/* Inodes of one device behind those of another: no real one has so many. */
#define INODES_A_DEVICE 1000000000000u
#define DEVICES_MAX 8

struct observer {
	struct attributes *attributes;	/* NULL: they are not looked at */
	struct tree tree;
	struct files files;
	dev_t devices[DEVICES_MAX];	/* in the order in which they are found */
	size_t devices_n;
};

struct observer *observer_new(bool with_attributes, struct ffs_error *error)
{
	struct observer *observer = calloc(1, sizeof(*observer));

	if (!observer) {
		ffs_fail(error, ENOMEM, "no memory for an observer");
		return NULL;
	}
	if (with_attributes) {
		observer->attributes = malloc(sizeof(*observer->attributes));
		if (!observer->attributes) {
			ffs_fail(error, ENOMEM, "no memory for attributes");
			goto failed;
		}
		attributes_init(observer->attributes);
	}
	if (tree_reserve(&observer->tree, error))
		goto failed;
	if (!files_reserve(&observer->files, error))
		return observer;
	tree_free(&observer->tree);
failed:
	free(observer->attributes);
	free(observer);
	return NULL;
}

void observer_free(struct observer *observer)
{
	if (!observer)
		return;
	tree_free(&observer->tree);
	files_free(&observer->files);
	if (observer->attributes)
		attributes_free(observer->attributes);
	free(observer->attributes);
	free(observer);
}

/* "KIND PATH" */
static void put_name(struct text *text, const char *kind,
		     const struct entry *entry)
{
	text_string(text, kind);
	text_add(text, " ", 1);
	text_name(text, entry->name, strlen(entry->name));
}

static void put_number(struct text *text, uint64_t number)
{
	text_add(text, " ", 1);
	text_number(text, number);
}

static size_t device_of(struct observer *observer, dev_t device)
{
	size_t i;

	for (i = 0; i < observer->devices_n; i++)
		if (observer->devices[i] == device)
			return i;
	if (i == DEVICES_MAX)
		return i;
	observer->devices[observer->devices_n++] = device;
	return i;
}

/* Inodes of an overlay are of several devices, whose numbers change. */
static void put_node(struct observer *observer, struct text *text,
		     const struct entry *entry)
{
	size_t device = device_of(observer, entry->stat.st_dev);

	put_number(text, entry->stat.st_nlink);
	put_number(text, entry->stat.st_ino + device * INODES_A_DEVICE);
}

/* "ERRNO TARGET" */
static void put_target(struct text *text, const struct entry *entry)
{
	char target[PATH_MAX];
	ssize_t n = readlink(entry->path, target, sizeof(target));

	put_number(text, n < 0 ? (uint64_t)errno : 0);
	text_add(text, " ", 1);
	if (n > 0)
		text_name(text, target, (size_t)n);
	else
		text_add(text, "-", 1);
}

/* Nobody but root may open it: no call of a history leaves anything so but a whiteout. */
static bool is_closed(const struct entry *entry)
{
	mode_t mode = entry->stat.st_mode;

	return !S_ISLNK(mode) && !S_ISCHR(mode) && !(mode & 0777);
}

static void put_entry(struct observer *observer, size_t number,
		      struct text *text)
{
	const struct tree *tree = &observer->tree;
	const struct entry *entry = tree->sorted[number];
	mode_t mode = entry->stat.st_mode;

	if (entry->lost) {
		put_name(text, "lost", entry);
		put_number(text, (uint64_t)entry->errnum);
	} else if (S_ISREG(mode)) {
		put_name(text, "file", entry);
		put_number(text, (uint64_t)entry->stat.st_size);
		put_node(observer, text, entry);
		if (is_closed(entry)) {
			put_number(text, EACCES);
			text_string(text, " -");
		} else {
			text_add(text, " ", 1);
			files_put(&observer->files, tree, number, text);
		}
	} else if (S_ISLNK(mode)) {
		put_name(text, "symlink", entry);
		put_node(observer, text, entry);
		put_target(text, entry);
	} else {
		put_name(text, S_ISDIR(mode) ? "dir" : "other", entry);
		put_node(observer, text, entry);
		put_number(text, (uint64_t)(is_closed(entry) ? EACCES :
							    entry->errnum));
	}
	text_add(text, "\n", 1);
}

size_t observe(struct observer *observer, const char *root, struct text *text)
{
	struct tree *tree = &observer->tree;
	size_t read = 0, lines, i;

	observer->devices_n = 0;
	tree_read(tree, root);
	lines = tree->n;
	for (i = 0; i < tree->n; i++) {
		if (i == read)
			read = files_read(&observer->files, tree, i);
		put_entry(observer, i, text);
		if (observer->attributes)
			lines += attributes_put(observer->attributes,
						tree->sorted[i], text);
	}
	return lines;
}

void observe_space(const char *root, struct observed_space *space)
{
	struct statfs statfs_of;

	memset(space, 0, sizeof(*space));
	if (statfs(root, &statfs_of))
		return;
	space->blocks = statfs_of.f_blocks;
	space->free = statfs_of.f_bfree;
	space->free_inodes = statfs_of.f_ffree;
	space->read_only = statfs_of.f_flags & ST_RDONLY;
}
