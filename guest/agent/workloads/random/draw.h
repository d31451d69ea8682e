/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * draw.h - what is drawn, as text: a history is a list of calls.
 *
 * Everything random that an operation does comes from here, and depends on the
 * seed, the options and the model alone.  So an operation can be written down as
 * a line: its number, its name, what it drew, and in words what it did:
 *
 *	17 rename 84 /a/xy 12 /b =new 99 # rename a/xy to b/new
 *
 * A number is one that was drawn, /PATH a name that is there, =NAME a new name,
 * @N an open file, - that there was none.  Lines can be executed again, in their
 * order and with any of them left out: what a line names and is no longer there
 * makes its operation do nothing.  Bytes of a name that
 * are no letters stand as %XX.
 *
 * Choices that leave no trace in the model are drawn from `aux`, which begins anew
 * with the number of each operation.
 */
#ifndef RANDOM_DRAW_H
#define RANDOM_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/random.h"

struct history;
struct entry;

struct draws {
	struct rng rng;
	bool told;		/* lines are kept */
	char *text;		/* the lines so far */
	size_t bytes, room;
	char did[192];		/* the words of the present line */
	char *rest;		/* replayed: of the present line; else NULL */
};

uint64_t draw_below(struct history *h, uint64_t bound);
uint64_t draw_between(struct history *h, uint64_t low, uint64_t high);
uint64_t draw_next(struct history *h);

/*
 * What is chosen by other means: each tells @chosen, or returns what the line has
 * instead.  @name has room for the longest name and its end.
 */
struct entry *draw_entry(struct history *h, struct entry *chosen);
int draw_handle(struct history *h, int chosen);
void draw_name(struct history *h, char *name);

/** draws_replaying() - whether a line is replayed: nothing else is drawn. */
bool draws_replaying(const struct history *h);

/* Around an operation that is drawn: its line. */
void draws_begin(struct history *h, const char *name);
void draws_end(struct history *h);

/**
 * draws_open_line() - from here on what @line has is drawn; it is changed.
 *
 * Return: the name of its operation.
 */
const char *draws_open_line(struct history *h, char *line);
void draws_close_line(struct history *h);

#endif
