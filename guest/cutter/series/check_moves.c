// SPDX-License-Identifier: GPL-2.0-only
/*
 * check_moves.c - whether directories that moved are where they may be: moves.h.
 *
 * The whole tree is compared, not each name: that both names are possible does not
 * make both at once possible, nor none.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "series/moves.h"
#include "series/slots.h"

#define SEEN_DEPTH 8	/* more is below no call's directory, whatever was lost */

/* What was found; @outcome is the first thing that no tree can have, or NULL. */
struct sight {
	struct tree tree;
	ino_t inode[TREE_NODES];
	size_t nodes;
	bool twice;
	const char *outcome;
	char path[TREE_PATH_BYTES];
};

/* --- looking ------------------------------------------------------------------- */

static void set_wrong(struct sight *sight, const char *outcome,
		      const char *path)
{
	if (sight->outcome)
		return;
	sight->outcome = outcome;
	snprintf(sight->path, sizeof(sight->path), "%s", path);
}

static void look_in(int fd, struct sight *sight, uint8_t node,
		    const char *path, unsigned int depth);

static void look_at_file(struct sight *sight, const struct stat *stat,
			 const char *path)
{
	if (stat->st_nlink != 1)
		set_wrong(sight, "bad-links", path);
	else if (stat->st_size)
		set_wrong(sight, "corrupt-contents", path);
}

static void look_at_directory(int fd, struct sight *sight, uint8_t node,
			      const char *name, const char *path,
			      unsigned int depth)
{
	int below = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (below < 0) {
		set_wrong(sight, "unreadable", path);
		return;
	}
	look_in(below, sight, node, path, depth + 1);
	close(below);
}

static void look_at(int fd, struct sight *sight, uint8_t parent, uint8_t name,
		    const char *above, unsigned int depth)
{
	char path[TREE_PATH_BYTES];
	struct stat stat;
	size_t at;

	snprintf(path, sizeof(path), "%.26s%s%s", above, *above ? "/" : "",
		 tree_name(name));
	if (fstatat(fd, tree_name(name), &stat, AT_SYMLINK_NOFOLLOW)) {
		set_wrong(sight, "unreadable", path);
		return;
	}
	if (S_ISDIR(stat.st_mode) == tree_is_file_name(name) ||
	    (!S_ISDIR(stat.st_mode) && !S_ISREG(stat.st_mode))) {
		set_wrong(sight, "wrong-kind", path);
		return;
	}
	if (sight->nodes == TREE_NODES || depth == SEEN_DEPTH) {
		set_wrong(sight, "name-kept", path);
		return;
	}
	sight->tree.child[parent][name] = (uint8_t)sight->nodes;
	for (at = 0; S_ISDIR(stat.st_mode) && at < sight->nodes; at++)
		sight->twice |= sight->inode[at] == stat.st_ino;
	sight->inode[sight->nodes++] = stat.st_ino;
	if (S_ISDIR(stat.st_mode))
		look_at_directory(fd, sight, (uint8_t)(sight->nodes - 1),
				  tree_name(name), path, depth);
	else
		look_at_file(sight, &stat, path);
}

/* Of the root only the tree's names; what else is there is checked elsewhere. */
static void look_in(int fd, struct sight *sight, uint8_t node,
		    const char *path, unsigned int depth)
{
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = again < 0 ? NULL : fdopendir(again);
	struct dirent *entry;

	if (!directory) {
		if (again >= 0)
			close(again);
		set_wrong(sight, "unreadable", path);
		return;
	}
	while ((entry = readdir(directory))) {
		uint8_t name = tree_find_name(entry->d_name);

		if (name < TREE_NAMES)
			look_at(fd, sight, node, name, path, depth);
		else if (depth && strcmp(entry->d_name, ".") &&
			 strcmp(entry->d_name, ".."))
			set_wrong(sight, "unknown-name", path);
	}
	closedir(directory);
}

/* --- comparing ------------------------------------------------------------------ */

/* The first step that need not be there, and the first that cannot be. */
struct range {
	size_t low, high;
};

static struct range range_of(const struct moves *moves,
			     const struct cut_made *cut)
{
	struct range range = { 0, 0 };
	size_t i;

	for (i = 0; i < moves->steps; i++) {
		if (moves->step[i].durable <= cut->operations)
			range.low = i + 1;
		if (moves->step[i].first <= cut->operations)
			range.high = i + 1;
	}
	if (range.high < range.low)
		range.high = range.low;
	return range;
}

static void put_step(struct tree *tree, const struct move_step *step)
{
	size_t i;

	for (i = 0; i < step->n; i++)
		tree_put(tree, &step->entry[i]);
}

static struct tree after_steps(const struct moves *moves, size_t steps)
{
	struct tree tree = moves->start;
	size_t i;

	for (i = 0; i < steps; i++)
		put_step(&tree, &moves->step[i]);
	return tree;
}

static bool is_tree(const struct sight *sight, const struct tree *tree)
{
	char path[TREE_PATH_BYTES];
	bool kept;

	return !tree_differs(&sight->tree, tree, path, &kept);
}

/* Of what one page had, some is there, whatever the order. */
static bool is_some(const struct moves *moves, const struct sight *sight,
		    const struct range *range)
{
	const struct tree certain = after_steps(moves, range->low);
	size_t open = range->high - range->low, i;
	uint32_t some;

	for (some = 0; some < UINT32_C(1) << open; some++) {
		struct tree tree = certain;

		for (i = 0; i < open; i++)
			if (some & UINT32_C(1) << i)
				put_step(&tree, &moves->step[range->low + i]);
		if (is_tree(sight, &tree))
			return true;
	}
	return false;
}

static bool is_allowed(const struct moves *moves, const struct sight *sight,
		       const struct range *range, bool reordered)
{
	size_t steps;

	for (steps = range->low; steps <= range->high; steps++) {
		struct tree tree = after_steps(moves, steps);

		if (is_tree(sight, &tree))
			return true;
	}
	return reordered && is_some(moves, sight, range);
}

/*
 * The explorer's word: a name that no state has, or that all have; else each of the
 * names may be as it is, and not all together.
 */
static void tell_difference(const struct moves *moves, struct sight *sight,
			    const struct range *range)
{
	size_t steps, kept = 0, lost = 0;
	char path[TREE_PATH_BYTES];
	bool is_kept;

	for (steps = range->low; steps <= range->high; steps++) {
		struct tree tree = after_steps(moves, steps);

		tree_differs(&sight->tree, &tree, path, &is_kept);
		kept += is_kept;
		lost += !is_kept;
	}
	set_wrong(sight, !lost ? "name-kept" : !kept ? "name-lost" :
						       "not-atomic", path);
}

/* --- all ------------------------------------------------------------------------- */

/* Nothing is known of it before all of it has been removed. */
static void judge_removed(const struct moves *moves, struct sight *sight,
			  const struct cut_made *cut)
{
	static const struct tree none;
	char path[TREE_PATH_BYTES];
	bool kept;

	if (moves->twice || cut->operations < moves->gone)
		sight->outcome = NULL;
	else if (tree_differs(&sight->tree, &none, path, &kept))
		set_wrong(sight, "name-kept", path);
}

static void adopt(struct moves *moves, const struct sight *sight, bool clean)
{
	bool none = tree_is_empty(&sight->tree, TREE_ROOT);

	moves->twice = (moves->doubtful && moves->twice && !(clean && none)) ||
		       (sight->twice && moves->two_names);
	moves->doubtful = moves->twice || !clean ||
			  (moves->doubtful && !none);
	moves->start = moves->doubtful ? (struct tree){ 0 } : sight->tree;
	moves->nodes = moves->doubtful ? TREE_ROOT + 1 : (uint8_t)sight->nodes;
	moves->steps = 0;
	moves->gone = NEVER;
}

unsigned int moves_check(struct moves *moves, int root,
			 const struct cut_made *cut, struct text *out)
{
	struct range range = range_of(moves, cut);
	struct sight sight = { .nodes = TREE_ROOT + 1 };
	bool clean;

	look_in(root, &sight, TREE_ROOT, "", 0);
	clean = !sight.outcome;
	if (moves->doubtful)
		judge_removed(moves, &sight, cut);
	else if (clean && !is_allowed(moves, &sight, &range, cut->reordered))
		tell_difference(moves, &sight, &range);
	if (sight.outcome)
		text_line(out, "wrong %llu %s %s steps=%zu-%zu",
			  (unsigned long long)cut->cycle, sight.outcome,
			  sight.path, range.low, range.high);
	adopt(moves, &sight, clean && !sight.outcome);
	return sight.outcome != NULL;
}
