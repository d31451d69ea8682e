/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * nodes.h - a tree of calls, depth first: one line for each node,
 *
 *	DEPTH visit|end|pass CALL[;CALL]...
 *
 * DEPTH is 1 for those that begin, and of a child one more than of the line it is
 * behind. What happens at a node are the calls of all nodes above it, then its own
 * (history.h). One that is passed is there for those below it; of one with "end" only
 * the cut behind its last call is made.
 */
#ifndef FFSCRASH_NODES_H
#define FFSCRASH_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "history/history.h"

#define NODES_DEPTH_MAX 4096

struct node {
	size_t depth;
	bool visited, only_end;
	struct history calls;
	bool known;		/* it was reached before, */
	uint64_t operations;	/* and so many were in the log then */
};

struct nodes {
	struct node *all;
	size_t n;
};

/**
 * nodes_parse() - the lines of @text, which is cut into words and stays in use.
 *
 * Return: 0, or -1 with @error, which names the line (from 0).
 */
int nodes_parse(struct nodes *nodes, char *text, struct ffs_error *error);
void nodes_free(struct nodes *nodes);

#endif
