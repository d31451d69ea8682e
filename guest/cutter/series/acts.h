/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * acts.h - what a series of power cuts does beside the calls of the slots, each only
 * if it is asked for: so that figures of a series without any stay what they are.
 *
 *	moves		directories move into one another and out again (moves.h)
 *	over-emptied	and over one that was emptied before
 *	drop-caches	what the kernel remembers is dropped, now and then
 *	turn-over	now and then small files are written and deleted until every
 *			erase block has been erased once: what is on the flash then is
 *			what the file system moved there itself.  Some keep a block
 *			without garbage where it is, so there is a bound
 */
#ifndef FFSCRASH_ACTS_H
#define FFSCRASH_ACTS_H

#include "series/moves.h"
#include "series/slots.h"

/**
 * struct acts - which there are, and what they have to know
 * @chip_name: whose blocks are counted
 * @turned: of the last time, if ->turned.bytes is not 0
 * @moves: the tree, with ->moves.over_emptied
 */
struct acts {
	bool moving, drop_caches, turn_over;
	const char *chip_name;
	struct moves moves;
	struct {
		uint64_t erased, blocks, bytes;
	} turned;
	/* Of the calls between two cuts. */
	struct rng rng;
	struct move_calls calls;
	uint64_t turn_at;
};

/** acts_take() - one by its name; false if there is none of it. */
bool acts_take(struct acts *acts, const char *name, size_t bytes);

/** acts_begin() - after a mount, before @calls calls. Return: as slots_change(). */
int acts_begin(struct acts *acts, const struct move_calls *calls,
	       uint64_t calls_n);

/** acts_turns() - whether the flash is turned over before the call @number. */
bool acts_turns(const struct acts *acts, uint64_t number);
void acts_turn_over(struct acts *acts);

/** acts_between() - all else, before a call. Return: so, too. */
int acts_between(struct acts *acts);

/** acts_owns() - whether a name of the root is one of theirs. */
bool acts_owns(const struct acts *acts, const char *name);

/** acts_remove() - all their names. Return: 0 or an errno. */
int acts_remove(const struct acts *acts, int root);

#endif
