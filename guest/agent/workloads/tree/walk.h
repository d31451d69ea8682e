/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * walk.h - goes through everything below a directory.
 *
 * A directory's names are read first, all of them, by getdents64() with 32 KiB
 * at a time (what readdir() does), and its entries come in that order; nothing
 * is sorted.  There are two ways to go on: into each sub-directory when it is
 * come to, as rm, cp and find do, or after all entries, as ls -R does.
 *
 * Memory: the names of the directories that are being gone through.  It is
 * reserved and touched before the first; only a directory of more than some
 * 50,000 names takes more, or a path of many such directories.
 *
 * Limits: 8,192 levels; nobody else may change the tree meanwhile; it does not
 * notice that it comes to another file system.
 */
#ifndef FFSAGENT_TREE_WALK_H
#define FFSAGENT_TREE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "core/error.h"
#include "measure/latency.h"
#include "workloads/tree/descent.h"

enum walk_event {
	WALK_ENTRY,	/* an entry of a directory */
	WALK_ENTER,	/* that directory is open now, its names are read */
	WALK_LEAVE,	/* everything below that directory has been */
	WALK_END,
};

struct walk_options {
	bool stat;		/* lstat() every entry; else where the type is unknown */
	bool entries_first;	/* sub-directories after all entries */
	const char *exclude;	/* comma list: prefixes of names at the top */
	const struct stat *avoid;	/* a directory to leave out, or NULL; needs stat */
	struct latency *latencies;	/* [LATENCY_OPS], or NULL */
	/* Nothing is done with an entry, so that several can be lstat()ed
	 * before the first is an event; needs stat and latencies. */
	bool ahead;
};

/* What was met; by WALK_ENTRY, and the top. */
struct walk_counts {
	uint64_t directories;	/* with the top */
	uint64_t files, links, others;
	uint64_t bytes;		/* of files that were lstat()ed */
	uint64_t depth;		/* of the deepest directory; the top is 0 */
	uint64_t largest_directory;	/* entries */
};

struct walk_level {
	size_t own;		/* its own entry, among the names of its parent */
	size_t start, end;	/* its names */
	size_t cursor;
	uint64_t entries;
	bool second;		/* all entries have been, now sub-directories */
};

struct walk {
	struct walk_options options;
	struct walk_counts counts;

	/* WALK_ENTRY and WALK_LEAVE: the entry, and the directory it is in;
	 * WALK_ENTER: the directory itself; its ->name until the next event. */
	const char *name;
	int fd;
	unsigned char type;	/* DT_* */
	bool stat_known;
	struct stat stat;	/* WALK_ENTRY */
	uint64_t entries;	/* WALK_ENTER: of the directory */
	size_t level;		/* of the directory ->fd */

	struct walk_ahead *ahead;	/* or NULL */
	const char *root;
	struct descent descent;
	struct walk_level *levels;
	size_t n_levels, levels_room;
	char *names;		/* of each entry: its type, its name, NUL */
	size_t names_used, names_room;
	unsigned char *batch;
	size_t entry;		/* of the event, among the names; or none */
	size_t enter;		/* to go into next; or none */
};

/**
 * walk_reserve() - allocate the memory.
 * @walk: anything; what it was is forgotten.
 * @root: the directory to go through; the text must remain.
 */
int walk_reserve(struct walk *walk, const char *root,
		 const struct walk_options *options, struct ffs_error *error);

/**
 * walk_next() - go on; first into the root, at last WALK_END, once.
 *
 * Return: an enum walk_event, or -1 with @error.
 */
int walk_next(struct walk *walk, struct ffs_error *error);

/**
 * walk_is_quiet() - whether walk_next() will make no system call: what the
 * caller has put off need not be made before.
 */
bool walk_is_quiet(const struct walk *walk);

/** walk_free() - close and free everything; may be called twice. */
void walk_free(struct walk *walk);

#define WALK_PATH_BYTES 240
/**
 * walk_path() - the path of the entry, or of the directory after WALK_ENTER,
 * for a message: if it is long, its middle is left out.
 */
const char *walk_path(const struct walk *walk, char path[WALK_PATH_BYTES]);

/** walk_fail() - describe what a system call on the entry said. */
int walk_fail(const struct walk *walk, int errnum, const char *what,
	      struct ffs_error *error);

/**
 * walk_fail_at() - the same of another entry of the directory.
 * @name: as it was in ->name.
 */
int walk_fail_at(struct walk *walk, const char *name, int errnum,
		 const char *what, struct ffs_error *error);

#endif
