// SPDX-License-Identifier: GPL-2.0-only
/*
 * walk.c - see walk.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "measure/timed.h"
#include "workloads/tree/shape.h"
#include "workloads/tree/walk.h"

#define BATCH_BYTES ((size_t)32 << 10)
#define NAMES_BYTES ((size_t)1 << 20)
#define LEVELS 256
#define NO_ENTRY SIZE_MAX

/* Entries that are looked at together. */
#define AHEAD 64

/*
 * In one page and not at its start: see text_start() in core/calls.c, what is
 * said there of paths goes for results, too.
 */
struct ahead_slot {
	_Alignas(256) unsigned char not_at_the_start[64];
	struct stat stat;
};

_Static_assert(sizeof(struct ahead_slot) == 256, "a page has whole slots");

struct walk_ahead {
	struct timed_calls timed;
	struct ahead_slot *slots;	/* [AHEAD] */
	size_t n, next;		/* looked at; of which events */
};

static int ahead_reserve(struct walk *walk, struct ffs_error *error)
{
	struct walk_ahead *ahead = calloc(1, sizeof(*ahead));

	walk->ahead = ahead;
	if (ahead)
		ahead->slots = aligned_alloc(sizeof(*ahead->slots),
					     AHEAD * sizeof(*ahead->slots));
	if (!ahead || !ahead->slots)
		return ffs_fail(error, ENOMEM, "no memory to go through a tree");
	memset(ahead->slots, 1, AHEAD * sizeof(*ahead->slots));
	return timed_reserve(&ahead->timed, AHEAD, 0, walk->options.latencies,
			     error);
}

static void ahead_free(struct walk *walk)
{
	if (!walk->ahead)
		return;
	timed_free(&walk->ahead->timed);
	free(walk->ahead->slots);
	free(walk->ahead);
	walk->ahead = NULL;
}

int walk_reserve(struct walk *walk, const char *root,
		 const struct walk_options *options, struct ffs_error *error)
{
	memset(walk, 0, sizeof(*walk));
	walk->root = root;
	walk->counts.directories = 1;
	walk->options = *options;
	walk->entry = NO_ENTRY;
	walk->enter = NO_ENTRY;
	walk->names_room = NAMES_BYTES;
	walk->names = malloc(walk->names_room);
	walk->batch = malloc(BATCH_BYTES);
	walk->levels_room = LEVELS;
	walk->levels = malloc(walk->levels_room * sizeof(*walk->levels));
	if (!walk->names || !walk->batch || !walk->levels) {
		walk_free(walk);
		return ffs_fail(error, ENOMEM, "no memory to go through a tree");
	}
	/* Touched now, so that no page fault falls into a timed phase; not
	 * with zeros, for which a compiler would ask for untouched memory. */
	memset(walk->names, 1, walk->names_room);
	memset(walk->batch, 1, BATCH_BYTES);
	memset(walk->levels, 1, walk->levels_room * sizeof(*walk->levels));
	if (descent_reserve(&walk->descent, LEVELS, error) ||
	    (options->ahead && ahead_reserve(walk, error))) {
		walk_free(walk);
		return -1;
	}
	return 0;
}

void walk_free(struct walk *walk)
{
	descent_free(&walk->descent);
	ahead_free(walk);
	free(walk->names);
	free(walk->batch);
	free(walk->levels);
	walk->names = NULL;
	walk->batch = NULL;
	walk->levels = NULL;
}

/* --- messages ------------------------------------------------------------ */

const char *walk_path(const struct walk *walk, char path[WALK_PATH_BYTES])
{
	size_t used = 0, i;
	const char *last = "";

	used = (size_t)snprintf(path, WALK_PATH_BYTES, "%s", walk->root);
	for (i = 1; i < walk->n_levels && used < WALK_PATH_BYTES; i++)
		used += (size_t)snprintf(path + used, WALK_PATH_BYTES - used,
				"/%s", walk->names + walk->levels[i].own + 1);
	if (walk->entry != NO_ENTRY)
		last = walk->names + walk->entry + 1;
	else if (walk->n_levels > 1)
		last = walk->names + walk->levels[walk->n_levels - 1].own + 1;
	if (walk->entry != NO_ENTRY && used < WALK_PATH_BYTES)
		used += (size_t)snprintf(path + used, WALK_PATH_BYTES - used,
					 "/%s", last);
	if (used >= WALK_PATH_BYTES)
		snprintf(path, WALK_PATH_BYTES, "%.100s/.../%.100s (level %zu)",
			 walk->root, last, walk->n_levels);
	return path;
}

int walk_fail(const struct walk *walk, int errnum, const char *what,
	      struct ffs_error *error)
{
	char path[WALK_PATH_BYTES];

	return ffs_fail(error, errnum, "cannot %s %s", what,
			walk_path(walk, path));
}

int walk_fail_at(struct walk *walk, const char *name, int errnum,
		 const char *what, struct ffs_error *error)
{
	walk->entry = (size_t)(name - walk->names) - 1;
	return walk_fail(walk, errnum, what, error);
}

/* --- reading a directory ------------------------------------------------- */

static bool excluded(const struct walk *walk, const char *name)
{
	const char *list = walk->options.exclude;

	if (!list || walk->n_levels > 1)
		return false;
	while (*list) {
		size_t length = strcspn(list, ",");

		if (length && !strncmp(name, list, length))
			return true;
		list += length + (list[length] == ',');
	}
	return false;
}

static int add_name(struct walk *walk, const char *name, unsigned char type,
		    struct ffs_error *error)
{
	size_t length = strlen(name) + 1;

	if (walk->names_used + 1 + length > walk->names_room) {
		char *names = realloc(walk->names, 2 * walk->names_room);

		if (!names)
			return walk_fail(walk, ENOMEM, "keep the names of",
					 error);
		walk->names = names;
		walk->names_room *= 2;
	}
	walk->names[walk->names_used] = (char)type;
	memcpy(walk->names + walk->names_used + 1, name, length);
	walk->names_used += 1 + length;
	return 0;
}

static int add_batch(struct walk *walk, struct walk_level *level, size_t bytes,
		     struct ffs_error *error)
{
	size_t at;

	for (at = 0; at < bytes; ) {
		struct dirent64 *entry = (void *)(walk->batch + at);
		const char *name = entry->d_name;

		at += entry->d_reclen;
		if (!strcmp(name, ".") || !strcmp(name, "..") ||
		    excluded(walk, name))
			continue;
		if (add_name(walk, name, entry->d_type, error))
			return -1;
		level->entries++;
	}
	return 0;
}

static int read_names(struct walk *walk, struct walk_level *level,
		      struct ffs_error *error)
{
	for (;;) {
		uint64_t start = clock_now_ns();
		ssize_t n = getdents64(descent_fd(&walk->descent),
				       (void *)walk->batch, BATCH_BYTES);
		uint64_t end = clock_now_ns();

		if (n < 0)
			return walk_fail(walk, errno, "read directory", error);
		if (walk->options.latencies)
			latency_add_at(&walk->options.latencies[LATENCY_READDIR],
				       start, end);
		if (!n)
			return 0;
		if (add_batch(walk, level, (size_t)n, error))
			return -1;
	}
}

/* --- going down and up --------------------------------------------------- */

static struct walk_level *add_level(struct walk *walk)
{
	struct walk_level *levels = walk->levels;

	if (walk->n_levels == walk->levels_room) {
		levels = realloc(levels,
				 2 * walk->levels_room * sizeof(*levels));
		if (!levels)
			return NULL;
		walk->levels = levels;
		walk->levels_room *= 2;
	}
	return memset(&levels[walk->n_levels++], 0, sizeof(*levels));
}

/* Go into an entry of the directory that is open, or into the root. */
static int enter(struct walk *walk, size_t own, struct ffs_error *error)
{
	const char *path = own == NO_ENTRY ? walk->root : walk->names + own + 1;
	struct walk_level *level;

	walk->entry = own;
	if (walk->n_levels > TREE_DEPTH_MAX)
		return ffs_fail(error, ENAMETOOLONG,
			"the tree below %.200s is deeper than %u levels",
			walk->root, TREE_DEPTH_MAX);
	if (descent_enter(&walk->descent, path))
		return walk_fail(walk, errno, "open directory", error);
	level = add_level(walk);
	if (!level)
		return walk_fail(walk, ENOMEM, "go into", error);
	level->own = own;
	level->start = walk->names_used;
	walk->entry = NO_ENTRY;
	if (read_names(walk, level, error))
		return -1;
	level->end = walk->names_used;
	level->cursor = level->start;
	if (level->entries > walk->counts.largest_directory)
		walk->counts.largest_directory = level->entries;
	if (walk->n_levels - 1 > walk->counts.depth)
		walk->counts.depth = walk->n_levels - 1;
	walk->name = own == NO_ENTRY ? walk->root : walk->names + own + 1;
	walk->fd = descent_fd(&walk->descent);
	walk->entries = level->entries;
	walk->level = walk->n_levels - 1;
	return WALK_ENTER;
}

static int leave(struct walk *walk, struct ffs_error *error)
{
	struct walk_level *level = &walk->levels[walk->n_levels - 1];

	walk->entry = NO_ENTRY;
	walk->names_used = level->start;
	if (walk->n_levels == 1) {
		descent_leave(&walk->descent);
		walk->n_levels = 0;
		return WALK_END;
	}
	if (descent_leave(&walk->descent))
		return walk_fail(walk, errno, "go back up from", error);
	walk->n_levels--;
	walk->entry = level->own;
	walk->name = walk->names + level->own + 1;
	walk->type = DT_DIR;
	walk->fd = descent_fd(&walk->descent);
	walk->level = walk->n_levels - 1;
	return WALK_LEAVE;
}

/* --- entries ------------------------------------------------------------- */

/* The entry behind this one. */
static size_t entry_after(const struct walk *walk, size_t entry)
{
	return entry + 2 + strlen(walk->names + entry + 1);
}

/*
 * lstat() this entry and those behind it, up to one that may be a directory: it
 * is gone into before the next.
 */
static int look_ahead(struct walk *walk, struct ffs_error *error)
{
	struct walk_ahead *ahead = walk->ahead;
	size_t end = walk->levels[walk->n_levels - 1].end;
	size_t most = ahead->timed.calls.together ? AHEAD : 1;
	size_t entry = walk->entry;
	struct timed_failure failure;
	bool goes_in = false;

	ahead->next = 0;
	for (ahead->n = 0; ahead->n < most && entry < end && !goes_in;
	     ahead->n++) {
		unsigned char type = (unsigned char)walk->names[entry];

		calls_lstat(&ahead->timed.calls, TIMED_WHOLE(LATENCY_LSTAT),
			    walk->fd, walk->names + entry + 1,
			    &ahead->slots[ahead->n].stat);
		goes_in = !walk->options.entries_first &&
			  (type == DT_DIR || type == DT_UNKNOWN);
		entry = entry_after(walk, entry);
	}
	if (!timed_run(&ahead->timed, &failure))
		return 0;
	ahead->n = 0;
	return walk_fail_at(walk, failure.path, failure.errnum, "look at",
			    error);
}

static int look_now(struct walk *walk, struct ffs_error *error)
{
	uint64_t start = clock_now_ns(), end;
	int result = fstatat(walk->fd, walk->name, &walk->stat,
			     AT_SYMLINK_NOFOLLOW);

	end = clock_now_ns();
	if (result)
		return walk_fail(walk, errno, "look at", error);
	if (walk->options.latencies)
		latency_add_at(&walk->options.latencies[LATENCY_LSTAT],
			       start, end);
	return 0;
}

static int look_at(struct walk *walk, struct ffs_error *error)
{
	struct walk_ahead *ahead = walk->ahead;

	if (!ahead) {
		if (look_now(walk, error))
			return -1;
	} else {
		if (ahead->next == ahead->n && look_ahead(walk, error))
			return -1;
		walk->stat = ahead->slots[ahead->next++].stat;
	}
	walk->stat_known = true;
	walk->type = (unsigned char)IFTODT(walk->stat.st_mode);
	walk->names[walk->entry] = (char)walk->type;
	return 0;
}

static void count(struct walk *walk)
{
	struct walk_counts *counts = &walk->counts;

	if (walk->type == DT_DIR)
		counts->directories++;
	else if (walk->type == DT_REG)
		counts->files++;
	else if (walk->type == DT_LNK)
		counts->links++;
	else
		counts->others++;
	if (walk->type == DT_REG && walk->stat_known)
		counts->bytes += (uint64_t)walk->stat.st_size;
}

/* Return: 1 if the entry is an event, 0 if it is to be left out, or -1. */
static int show(struct walk *walk, size_t entry, struct ffs_error *error)
{
	const struct stat *avoid = walk->options.avoid;

	walk->entry = entry;
	walk->name = walk->names + entry + 1;
	walk->type = (unsigned char)walk->names[entry];
	walk->fd = descent_fd(&walk->descent);
	walk->level = walk->n_levels - 1;
	walk->stat_known = false;
	if ((walk->options.stat || walk->type == DT_UNKNOWN) &&
	    look_at(walk, error))
		return -1;
	if (avoid && walk->stat_known && walk->stat.st_ino == avoid->st_ino &&
	    walk->stat.st_dev == avoid->st_dev) {
		walk->names[entry] = DT_UNKNOWN;	/* not to be entered */
		return 0;
	}
	count(walk);
	if (walk->type == DT_DIR && !walk->options.entries_first)
		walk->enter = entry;
	return 1;
}

/* The next entry of the directory, moving behind it; or NO_ENTRY. */
static size_t take_entry(const struct walk *walk, struct walk_level *level)
{
	size_t entry = level->cursor;

	if (entry == level->end)
		return NO_ENTRY;
	level->cursor = entry_after(walk, entry);
	return entry;
}

bool walk_is_quiet(const struct walk *walk)
{
	const struct walk_level *level;

	if (!walk->n_levels || walk->enter != NO_ENTRY || walk->options.stat)
		return false;
	level = &walk->levels[walk->n_levels - 1];
	return level->cursor != level->end && !level->second &&
	       walk->names[level->cursor] != DT_UNKNOWN;
}

int walk_next(struct walk *walk, struct ffs_error *error)
{
	size_t entry = walk->enter;

	if (!walk->n_levels)
		return enter(walk, NO_ENTRY, error);
	walk->enter = NO_ENTRY;
	if (entry != NO_ENTRY)
		return enter(walk, entry, error);
	for (;;) {
		struct walk_level *level = &walk->levels[walk->n_levels - 1];
		int result;

		entry = take_entry(walk, level);
		if (entry == NO_ENTRY) {
			if (!walk->options.entries_first || level->second)
				return leave(walk, error);
			level->second = true;
			level->cursor = level->start;
			continue;
		}
		if (level->second) {
			if (walk->names[entry] == DT_DIR)
				return enter(walk, entry, error);
			continue;
		}
		result = show(walk, entry, error);
		if (result)
			return result < 0 ? -1 : WALK_ENTRY;
	}
}
