/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * walker.h - who goes to a state of the flash, mounts, observes and uses it, and
 * leaves it: what a walk over a list of states (walk.h) and one over a tree of calls
 * (tree/tree.h) have in common.
 */
#ifndef FFSCRASH_WALKER_H
#define FFSCRASH_WALKER_H

#include <stdbool.h>
#include <stdint.h>

#include "observe/observe.h"
#include "text/text.h"
#include "walk/device.h"
#include "walk/digests.h"
#include "walk/states.h"
#include "walk/use.h"

struct walk {
	struct filesystem fs;
	const char *chip;
	bool full;		/* use it and mount it a second time */
	bool attributes;	/* look at them, too */
	int output;
};

struct walker {
	const struct walk *walk;
	struct device device;
	struct observer *observer;
	struct use use;
	struct digests digests;
	int messages;		/* where the kernel's are read */
	bool mounted, attached;
	bool refused;		/* to attach or mount, once in this state */
	bool fill;		/* this state, until it is full */
	int failed;		/* of a call before a mount */
	uint32_t failed_tag;
	struct text out;	/* is printed before the next state */
	struct text spare;	/* its memory, the next time */
	struct text tree, raw, said;
	char chip_text[CHIP_TEXT_BYTES];
	char at[CHIP_COMMAND_BYTES], cut[CHIP_COMMAND_BYTES];
	char name[2 * CHIP_COMMAND_BYTES];	/* of the state */
	struct ffs_error *error;
};

/** walker_open() - @walk and @error must live as long as it. */
int walker_open(struct walker *walker, const struct walk *walk,
		struct ffs_error *error);
void walker_close(struct walker *walker);

/** walker_name() - ->name becomes that of @cut. Return: its length. */
size_t walker_name(struct walker *walker, const struct cut_point *cut);

/**
 * walker_visit() - one state; ->name is set.
 *
 * Return: 0, or -1 if the walk cannot go on.
 */
int walker_visit(struct walker *walker, const struct cut_point *cut);

/** walker_leave() - unmount and detach what is mounted. Return: 0, or -1, and says so. */
int walker_leave(struct walker *walker);

/** walker_set_commands() - those that bring the chip to @cut, in ->at and ->cut. */
void walker_set_commands(struct walker *walker, const struct cut_point *cut);

/** walker_command() - one for the chip. Return: 0, or -1, and says so. */
int walker_command(struct walker *walker, const char *text);

/** walker_stuck() - the state cannot be left: say so, and end. Return: -1. */
int walker_stuck(struct walker *walker, const char *step, int errnum);

/** walker_step_of() - the word for the call with this tag. */
const char *walker_step_of(uint32_t tag);

/** walker_put_name() - a line of two words. */
void walker_put_name(struct text *out, const char *what, const char *name);

/**
 * walker_put_said() - "WHAT DIGEST" if the kernel has warned of something up to now.
 *
 * Return: 0, or -1 if its messages cannot be read.
 */
int walker_put_said(struct walker *walker, const char *what);

#endif
