/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * moves.h - directories that a series of power cuts moves: into one another, out
 * again, and over one that was emptied before.
 *
 * Beside the slots there is a small tree of directories with empty files.  Each
 * call changes it by a step, and the steps become durable in their order, as all
 * that changes names is noted on the file systems that are known.  So a cut leaves
 * what the first so many steps make: a directory is at its old place or at its new
 * one.  Where renaming may leave both names it is two steps.
 */
#ifndef FFSCRASH_MOVES_H
#define FFSCRASH_MOVES_H

#include "chip/chip.h"
#include "core/error.h"
#include "core/random.h"
#include "series/check.h"
#include "series/tree.h"
#include "text/text.h"

/* Between two cuts; all that some of them can leave are gone through. */
#define MOVE_STEPS 12

/**
 * struct move_step - what one call, or half of a rename, changes
 * @entry: the first @n are changed at once
 * @first, @last, @durable: as of a slot
 */
struct move_step {
	struct tree_entry entry[2];
	size_t n;
	const char *what;
	char from[TREE_PATH_BYTES], to[TREE_PATH_BYTES];
	uint64_t first, last, durable;
};

/**
 * struct moves - the tree, and what the calls since the last mount made of it
 * @start: what was found at the mount
 * @nodes: numbers that have been given
 * @doubtful: nothing is known of what is there; all of it is removed
 * @gone: as many operations had to be logged for that to survive
 * @twice: a directory has two names; whoever removes one leaves the other without
 *	   anything behind it until it is mounted again
 */
struct moves {
	struct tree start, now;
	struct move_step step[MOVE_STEPS];
	size_t steps;
	uint8_t nodes;
	bool over_emptied, two_names, returned_is_durable;
	bool doubtful, twice;
	uint64_t gone;
	struct tree_entry back;	/* where the last that moved came from */
	char failed[2 * TREE_PATH_BYTES + 16];
};

/* What the calls need beside the tree. */
struct move_calls {
	struct moves *moves;
	int root;
	struct rng *rng;
	const struct chip *chip;
	struct failure *failure;
	struct ffs_error *error;
	void (*between)(struct move_calls *calls);	/* calls that belong together */
};

/** moves_clear() - nothing is there. */
void moves_clear(struct moves *moves);

/** moves_begin() - after a mount; what is doubtful is removed. Return: as slots_change(). */
int moves_begin(struct move_calls *calls);

/** moves_change() - one call, or some that belong together; or none. Return: so, too. */
int moves_change(struct move_calls *calls);

/** moves_synced() - all that has been called before is durable from @operations on. */
void moves_synced(struct moves *moves, uint64_t operations);

/** moves_remove() - all below @root. Return: 0 or the errno of what failed first. */
int moves_remove(int root);

/** moves_tell() - a line "call WHAT FROM TO first= last= durable=" for each step. */
void moves_tell(const struct moves *moves, struct text *out);

/** moves_check() - as slots_check(), of the tree. */
unsigned int moves_check(struct moves *moves, int root,
			 const struct cut_made *cut, struct text *out);

#endif
