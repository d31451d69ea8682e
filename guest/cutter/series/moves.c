// SPDX-License-Identifier: GPL-2.0-only
/*
 * moves.c - the calls of moves.h.
 *
 * Files are made and removed within the directories, so that what a directory holds
 * tells which it is; they are empty, for contents are the slots' matter.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "history/file.h"
#include "series/moves.h"
#include "series/slots.h"

#define DIRECTORIES_MAX 7	/* the root is one */
/* A rename over a directory with all files, each name in two steps. */
#define STEPS_AT_ONCE (TREE_NAMES - TREE_DIRECTORY_NAMES + 2)
#define TRIES 8
#define REMOVED_DEPTH 16

/* A call that has been drawn: what is renamed, made, or removed. */
struct move_call {
	const char *what;	/* "make", "create", "remove" or "move" */
	struct tree_entry from;	/* of "move"; ->child is what moves */
	struct tree_entry to;
};

void moves_clear(struct moves *moves)
{
	memset(&moves->start, 0, sizeof(moves->start));
	moves->now = moves->start;
	moves->steps = 0;
	moves->nodes = TREE_ROOT + 1;
	/* Of a directory with two names the other one may come back. */
	moves->doubtful = moves->twice;
}

void moves_synced(struct moves *moves, uint64_t operations)
{
	size_t i;

	for (i = 0; i < moves->steps; i++)
		if (moves->step[i].durable == NEVER)
			moves->step[i].durable = operations;
}

/* --- removing all ------------------------------------------------------------ */

static int remove_in(int fd, unsigned int depth);

static int remove_entry(int fd, const char *name, unsigned int depth)
{
	int below, failed = 0;

	if (!unlinkat(fd, name, 0) || errno == ENOENT)
		return 0;
	if (errno != EISDIR)
		return errno;
	below = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (below < 0)
		return errno;
	failed = depth ? remove_in(below, depth - 1) : ELOOP;
	close(below);
	if (unlinkat(fd, name, AT_REMOVEDIR) && !failed)
		failed = errno;
	return failed;
}

static int remove_in(int fd, unsigned int depth)
{
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = again < 0 ? NULL : fdopendir(again);
	struct dirent *entry;
	int failed = 0, one;

	if (!directory) {
		failed = errno;
		if (again >= 0)
			close(again);
		return failed;
	}
	while ((entry = readdir(directory))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		one = remove_entry(fd, entry->d_name, depth);
		if (one && !failed)
			failed = one;
	}
	closedir(directory);
	return failed;
}

int moves_remove(int root)
{
	int failed = 0, one;
	uint8_t name;

	for (name = 0; name < TREE_NAMES; name++) {
		one = remove_entry(root, tree_name(name), REMOVED_DEPTH);
		if (one && !failed)
			failed = one;
	}
	return failed;
}

int moves_begin(struct move_calls *calls)
{
	struct moves *moves = calls->moves;
	int failed;

	moves->steps = 0;
	moves->now = moves->start;
	moves->back.child = TREE_ROOT;
	moves->gone = NEVER;
	if (!moves->doubtful)
		return 0;
	failed = moves_remove(calls->root);
	if (!failed && syncfs(calls->root))
		failed = errno;
	/* What is behind the second name of a directory is gone with the first. */
	if (failed && !moves->twice)
		failure_note(calls->failure, "moved", failed);
	if (failed)
		return 0;
	return chip_logged(calls->chip, &moves->gone, calls->error);
}

/* --- one call ---------------------------------------------------------------- */

static int sync_directory(const struct move_calls *calls, uint8_t node,
			  const struct tree *tree)
{
	char path[TREE_PATH_BYTES] = ".";
	struct tree_directories list;
	size_t at;
	int fd;

	tree_list(tree, &list);
	for (at = 1; at < list.n; at++)
		if (list.entry[at].child == node)
			tree_path(tree, list.entry[at].parent,
				  list.entry[at].name, path);
	fd = openat(calls->root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	return close_after(fd, fsync(fd) ? errno : 0);
}

static int make_call(const struct move_calls *calls,
		     const struct move_call *call, const char *from,
		     const char *to)
{
	int root = calls->root, fd;

	if (!strcmp(call->what, "move"))
		return renameat(root, from, root, to) ? errno : 0;
	if (!strcmp(call->what, "make"))
		return mkdirat(root, to, 0755) ? errno : 0;
	if (!strcmp(call->what, "create")) {
		fd = openat(root, to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			    0644);
		return fd < 0 ? errno : close_after(fd, 0);
	}
	return unlinkat(root, to, tree_is_file_name(call->to.name) ?
					  0 : AT_REMOVEDIR) ? errno : 0;
}

/* The call's change of the tree: one step, or the two of a rename. */
static void note_steps(struct moves *moves, const struct move_call *call,
		       const struct move_step *drawn)
{
	struct tree_entry left = call->from;
	struct move_step *step = &moves->step[moves->steps++];

	*step = *drawn;
	step->n = 1;
	step->entry[0] = call->to;
	tree_put(&moves->now, &call->to);
	if (strcmp(call->what, "move"))
		return;
	left.child = TREE_ROOT;
	tree_put(&moves->now, &left);
	if (moves->two_names) {
		step = &moves->step[moves->steps++];
		*step = *drawn;
		step->n = 0;
	}
	step->entry[step->n++] = left;
}

static int sync_call(const struct move_calls *calls,
		     const struct move_call *call)
{
	const struct tree *now = &calls->moves->now;
	int failed = sync_directory(calls, call->to.parent, now);

	if (!failed && !strcmp(call->what, "move") &&
	    call->from.parent != call->to.parent)
		failed = sync_directory(calls, call->from.parent, now);
	return failed;
}

static int carry_out(struct move_calls *calls, const struct move_call *call)
{
	struct moves *moves = calls->moves;
	struct move_step step = { .what = call->what, .durable = NEVER };
	bool synced = rng_below(calls->rng, 2);
	size_t first = moves->steps;
	int failed;

	tree_path(&moves->now, call->to.parent, call->to.name, step.to);
	if (!strcmp(call->what, "move"))
		tree_path(&moves->now, call->from.parent, call->from.name,
			  step.from);
	if (chip_logged(calls->chip, &step.first, calls->error))
		return -1;
	failed = make_call(calls, call, step.from, step.to);
	note_steps(moves, call, &step);
	if (!failed && synced)
		failed = sync_call(calls, call);
	if (chip_logged(calls->chip, &step.last, calls->error))
		return -1;
	for (; first < moves->steps; first++) {
		moves->step[first].last = step.last;
		if (moves->returned_is_durable)
			moves->step[first].durable = step.last;
	}
	if (failed) {
		snprintf(moves->failed, sizeof(moves->failed), "%s:%s:%s",
			 call->what, step.from, step.to);
		failure_note(calls->failure, moves->failed, failed);
		moves->doubtful = true;
	} else if (synced) {
		moves_synced(moves, step.last);
	}
	return 0;
}

/* --- drawing ----------------------------------------------------------------- */

static size_t draw_directory(const struct move_calls *calls,
			     const struct tree_directories *list)
{
	return (size_t)rng_below(calls->rng, list->n);
}

/* Return: whether there is a name that nothing has. */
static bool draw_free(const struct move_calls *calls, uint8_t parent,
		      uint8_t first, uint8_t names, struct tree_entry *place)
{
	uint8_t n, from = (uint8_t)rng_below(calls->rng, names);

	for (n = 0; n < names; n++) {
		uint8_t name = first + (from + n) % names;

		if (calls->moves->now.child[parent][name])
			continue;
		*place = (struct tree_entry){ parent, name, TREE_ROOT };
		return true;
	}
	return false;
}

static bool draw_make(struct move_calls *calls,
		      const struct tree_directories *list,
		      struct move_call *call)
{
	size_t at = draw_directory(calls, list);

	call->what = "make";
	if (list->n == DIRECTORIES_MAX || list->depth[at] == TREE_DEPTH ||
	    calls->moves->nodes == TREE_NODES ||
	    !draw_free(calls, list->entry[at].child, 0, TREE_DIRECTORY_NAMES,
		       &call->to))
		return false;
	call->to.child = calls->moves->nodes++;
	return true;
}

static bool draw_create(struct move_calls *calls,
			const struct tree_directories *list,
			struct move_call *call)
{
	size_t at = draw_directory(calls, list);

	call->what = "create";
	if (!at || calls->moves->nodes == TREE_NODES ||
	    !draw_free(calls, list->entry[at].child, TREE_DIRECTORY_NAMES,
		       TREE_NAMES - TREE_DIRECTORY_NAMES, &call->to))
		return false;
	call->to.child = calls->moves->nodes++;
	return true;
}

/* A file, or a directory with nothing in it. */
static bool draw_remove(struct move_calls *calls,
			const struct tree_directories *list,
			struct move_call *call)
{
	uint8_t parent = list->entry[draw_directory(calls, list)].child;
	uint8_t name = (uint8_t)rng_below(calls->rng, TREE_NAMES);
	uint8_t child = calls->moves->now.child[parent][name];

	call->what = "remove";
	call->to = (struct tree_entry){ parent, name, TREE_ROOT };
	return child && tree_is_empty(&calls->moves->now, child);
}

/* Into another directory, or back to where the last one came from. */
static bool draw_move(struct move_calls *calls,
		      const struct tree_directories *list,
		      struct move_call *call)
{
	const struct moves *moves = calls->moves;
	const struct tree *now = &moves->now;
	bool out = rng_below(calls->rng, 5) < 2;
	size_t at = draw_directory(calls, list);
	size_t into = draw_directory(calls, list);

	if (!at)
		return false;
	call->what = "move";
	call->from = list->entry[at];
	if (out && call->from.child == moves->back.child &&
	    !now->child[moves->back.parent][moves->back.name]) {
		call->to = moves->back;
		into = 0;
		while (into < list->n &&
		       list->entry[into].child != moves->back.parent)
			into++;
	} else if (!draw_free(calls, list->entry[into].child, 0,
			      TREE_DIRECTORY_NAMES, &call->to)) {
		return false;
	}
	call->to.child = call->from.child;
	return into < list->n &&
	       !tree_is_within(now, call->from.child, call->to.parent) &&
	       list->depth[into] + tree_height(now, call->from.child) <=
		       TREE_DEPTH;
}

/* Over a directory without any in it; its files go first. */
static bool draw_over(struct move_calls *calls,
		      const struct tree_directories *list,
		      struct move_call *call)
{
	const struct tree *now = &calls->moves->now;
	size_t at = draw_directory(calls, list);
	size_t over = draw_directory(calls, list);

	if (!at || !over || at == over)
		return false;
	call->what = "move";
	call->from = list->entry[at];
	call->to = list->entry[over];
	call->to.child = call->from.child;
	return tree_height(now, list->entry[over].child) == 1 &&
	       !tree_is_within(now, call->from.child, call->to.parent) &&
	       list->depth[over] - 1 + tree_height(now, call->from.child) <=
		       TREE_DEPTH;
}

static int empty(struct move_calls *calls, uint8_t node)
{
	uint8_t name;

	for (name = TREE_DIRECTORY_NAMES; name < TREE_NAMES; name++) {
		struct move_call call = { .what = "remove",
					  .to = { node, name, TREE_ROOT } };

		if (!calls->moves->now.child[node][name] ||
		    calls->moves->doubtful)
			continue;
		if (carry_out(calls, &call))
			return -1;
	}
	calls->between(calls);
	return 0;
}

/* One of the calls that are possible, by chance. */
static bool draw(struct move_calls *calls, struct move_call *call)
{
	static bool (*const draws[])(struct move_calls *,
				     const struct tree_directories *,
				     struct move_call *) = {
		draw_make, draw_make, draw_create, draw_create, draw_remove,
		draw_move, draw_move, draw_move, draw_over, draw_over,
	};
	size_t kinds = sizeof(draws) / sizeof(*draws);
	struct tree_directories list;
	unsigned int i;

	if (!calls->moves->over_emptied)
		kinds -= 2;
	tree_list(&calls->moves->now, &list);
	for (i = 0; i < TRIES; i++)
		if (draws[rng_below(calls->rng, kinds)](calls, &list, call))
			return true;
	return false;
}

int moves_change(struct move_calls *calls)
{
	struct moves *moves = calls->moves;
	struct move_call call = { 0 };
	uint8_t over;

	if (moves->doubtful || moves->steps + STEPS_AT_ONCE > MOVE_STEPS ||
	    !draw(calls, &call))
		return 0;
	over = moves->now.child[call.to.parent][call.to.name];
	if (!strcmp(call.what, "move")) {
		if (over && empty(calls, over))
			return -1;
		moves->back = call.from;
	}
	return moves->doubtful ? 0 : carry_out(calls, &call);
}

void moves_tell(const struct moves *moves, struct text *out)
{
	size_t i;

	for (i = 0; i < moves->steps; i++) {
		const struct move_step *step = &moves->step[i];

		text_string(out, "call ");
		text_string(out, step->what);
		text_add(out, " ", 1);
		text_string(out, step->from);
		text_add(out, " ", *step->from != '\0');
		text_string(out, step->to);
		put_number(out, "first", true, step->first);
		put_number(out, "last", true, step->last);
		put_number(out, "durable", step->durable != NEVER,
			   step->durable);
		text_add(out, "\n", 1);
	}
}
