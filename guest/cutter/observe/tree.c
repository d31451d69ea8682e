// SPDX-License-Identifier: GPL-2.0-only
/*
 * tree.c - reads the names of a tree, level by level; see tree.h.
 *
 * All names of a level are one queue: lstat() of each, and the listing of those
 * that are directories.  One with more names than there is room for, or whose
 * type its directory did not tell, is listed later, by calls of its own.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "observe/observe.h"
#include "observe/queue.h"
#include "observe/tree.h"

#define CALLS_ROOM 256
#define CALLS_A_NAME 5
/* Of one directory in a queue, and of a later listing. */
#define LISTING_BYTES ((size_t)4 << 10)
#define LISTINGS 32
#define LATE_BYTES (LISTINGS * LISTING_BYTES)
/* Any name fits, so that nothing is told only at the end. */
#define END_BYTES 512
/* Names are given as whole paths, so that the root need not stay open. */
#define DIRECTORY_FLAGS (O_RDONLY | O_DIRECTORY | O_NOATIME)

enum { STEP_LSTAT, STEP_OPEN, STEP_LIST, STEP_END, STEP_CLOSE };

int tree_reserve(struct tree *tree, struct ffs_error *error)
{
	memset(tree, 0, sizeof(*tree));
	if (calls_reserve(&tree->calls, CALLS_ROOM, 0, error))
		return -1;
	tree->listing = malloc(LATE_BYTES + END_BYTES);
	if (!tree->listing) {
		tree_free(tree);
		return ffs_fail(error, ENOMEM, "no memory for a listing");
	}
	return 0;
}

void tree_free(struct tree *tree)
{
	calls_free(&tree->calls);
	free(tree->entries);
	free(tree->names);
	free(tree->sorted);
	free(tree->listing);
	memset(tree, 0, sizeof(*tree));
}

/* Twice the room if @needed of @bytes each do not fit. Return: the memory. */
static void *grown(void *memory, size_t *room, size_t needed, size_t bytes)
{
	size_t larger = *room ? *room : 64;
	void *grown;

	if (memory && needed <= *room)
		return memory;
	while (larger < needed)
		larger *= 2;
	grown = realloc(memory, larger * bytes);
	if (grown)
		*room = larger;
	return grown;
}

/* While names are still added, which moves them. */
static const char *entry_path(const struct tree *tree,
			      const struct entry *entry)
{
	return tree->names + entry->offset;
}

/* A path that is too long for lstat() is lost. */
static void add(struct tree *tree, const char *directory, const char *name,
		unsigned char type)
{
	size_t above = directory ? strlen(directory) + 1 : 0;
	size_t bytes = above + strlen(name) + 1, offset = 0;
	struct entry *entry;
	void *memory;

	if (directory)
		offset = (size_t)(directory - tree->names);
	if (tree->n == OBSERVE_NAMES_MAX) {
		tree->failed = true;
		return;
	}
	memory = grown(tree->names, &tree->names_room, tree->names_used + bytes,
		       1);
	if (memory)
		tree->names = memory;
	else
		tree->failed = true;
	memory = grown(tree->entries, &tree->room, tree->n + 1,
		       sizeof(*tree->entries));
	if (memory)
		tree->entries = memory;
	else
		tree->failed = true;
	if (tree->failed)
		return;
	entry = &tree->entries[tree->n++];
	*entry = (struct entry){
		.offset = tree->names_used,
		.type = type,
		.lost = bytes > PATH_MAX,
		.errnum = bytes > PATH_MAX ? ENAMETOOLONG : 0,
	};
	if (above) {
		memcpy(tree->names + tree->names_used, tree->names + offset,
		       above - 1);
		tree->names[tree->names_used + above - 1] = '/';
	}
	memcpy(tree->names + tree->names_used + above, name, bytes - above);
	tree->names_used += bytes;
}

static void add_listing(struct tree *tree, size_t directory,
			const char *listing, size_t bytes)
{
	size_t at = 0;

	while (at < bytes) {
		const struct dirent *record = (const void *)(listing + at);
		const char *name = record->d_name, *above;

		at += record->d_reclen;
		if (!strcmp(name, ".") || !strcmp(name, ".."))
			continue;
		above = entry_path(tree, &tree->entries[directory]);
		add(tree, above, name, record->d_type);
	}
}

static void ended(void *context, size_t thing, uint32_t step, int64_t result)
{
	struct tree *tree = context;
	struct entry *entry = &tree->entries[thing];

	if (step == STEP_CLOSE)
		return;
	if (step == STEP_LIST && result >= 0)
		entry->listed = (size_t)result;
	if (step == STEP_END && result >= 0)
		entry->late = result > 0;
	if (result < 0) {
		entry->errnum = (int)-result;
		entry->lost = step == STEP_LSTAT;
	}
}

/* To its end, which only a listing without a name is. */
static void put_off_listing(struct tree *tree, size_t number, char *listing)
{
	struct calls *calls = &tree->calls;

	calls_open(calls, queue_tag(number, STEP_OPEN), AT_FDCWD,
		   entry_path(tree, &tree->entries[number]),
		   DIRECTORY_FLAGS | (number ? O_NOFOLLOW : 0));
	calls_list(calls, queue_tag(number, STEP_LIST), CALLS_OPENED, listing,
		   LISTING_BYTES);
	calls_list(calls, queue_tag(number, STEP_END), CALLS_OPENED,
		   tree->listing + LATE_BYTES, END_BYTES);
	calls_close(calls, queue_tag(number, STEP_CLOSE), CALLS_OPENED);
}

/* The entries from @from on, as many as there is room for. */
static size_t put_off(struct tree *tree, size_t from)
{
	struct calls *calls = &tree->calls;
	size_t listings = 0, i;

	for (i = from; i < tree->n && listings < LISTINGS &&
	     !calls_full(calls, CALLS_A_NAME, 0); i++) {
		struct entry *entry = &tree->entries[i];

		if (entry->lost)
			continue;
		calls_lstat(calls, queue_tag(i, STEP_LSTAT), AT_FDCWD,
			    entry_path(tree, entry), &entry->stat);
		if (entry->type != DT_DIR)
			continue;
		entry->listing = tree->listing + listings * LISTING_BYTES;
		put_off_listing(tree, i, entry->listing);
		listings++;
	}
	return i;
}

static bool is_late(const struct entry *entry)
{
	return !entry->lost && !entry->errnum && S_ISDIR(entry->stat.st_mode) &&
	       (entry->late || !entry->listing);
}

/* The listings of others have been looked at, so that all the room is free. */
static void list_late(struct tree *tree, size_t number)
{
	struct entry *entry = &tree->entries[number];
	int fd = openat(AT_FDCWD, entry_path(tree, entry),
			DIRECTORY_FLAGS | O_NOFOLLOW | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : 1;

	while (n > 0 && !tree->failed) {
		n = getdents64(fd, (void *)tree->listing, LATE_BYTES);
		if (n > 0)
			add_listing(tree, number, tree->listing, (size_t)n);
	}
	if (n < 0)
		tree->entries[number].errnum = errno;
	if (fd >= 0)
		close(fd);
}

static int by_path(const void *one, const void *other)
{
	const struct entry *const *a = one, *const *b = other;

	return strcmp((*a)->name, (*b)->name);
}

static void sort(struct tree *tree)
{
	void *memory = grown(tree->sorted, &tree->sorted_room, tree->n + 1,
			     sizeof(*tree->sorted));
	size_t i;

	if (!memory) {
		tree->failed = true;
		return;
	}
	tree->sorted = memory;
	for (i = 0; i < tree->n; i++) {
		struct entry *entry = &tree->entries[i];

		entry->path = entry_path(tree, entry);
		entry->name = i ? entry->path + tree->prefix : ".";
		tree->sorted[i] = entry;
	}
	qsort(tree->sorted, tree->n, sizeof(*tree->sorted), by_path);
}

void tree_read(struct tree *tree, const char *root)
{
	size_t from = 0, to, i;

	tree->n = 0;
	tree->names_used = 0;
	tree->prefix = strlen(root) + 1;
	tree->failed = false;
	add(tree, NULL, root, DT_DIR);
	while (from < tree->n && !tree->failed) {
		to = put_off(tree, from);
		queue_run(&tree->calls, ended, tree);
		for (i = from; i < to; i++) {
			const struct entry *entry = &tree->entries[i];

			if (!entry->late)
				add_listing(tree, i, entry->listing,
					    entry->listed);
		}
		for (i = from; i < to; i++)
			if (is_late(&tree->entries[i]))
				list_late(tree, i);
		from = to;
	}
	sort(tree);
	if (tree->failed && tree->n)
		tree->entries[0].errnum = EOVERFLOW;
}
