/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tree.h - all cuts of many sequences of calls that begin on the same flash.
 *
 * Sequences share their beginnings, so they are a tree (nodes.h), and each node's
 * cuts are made once: in what its own calls, the last ones, do to the flash. For
 * that its whole sequence is carried out anew: nothing else brings back what the
 * kernel has in memory. The chip's log up to then is the beginning; a sequence is a
 * log of the next level, which is taken back behind it.
 *
 * What is printed of a node that is visited, NUMBER from 0:
 *
 *	node NUMBER			written before anything happens
 *	op ERRNO FIRST LAST		of each call of its sequence: what the chip had
 *					logged
 *	logged N VERB ...		the chip's log, if one node is visited only
 *	warned DIGEST			what the kernel said without any cut, if it did
 *	same K KIND VARIANT VISIT	the flash of the VISIT-th state, from 0
 *	begin K KIND VARIANT ...	a state, as in walk.h
 *
 * and "walked N" at the end.  K is from FIRST of its own first call to LAST of its last,
 * where power is cut behind all: then the kind is "lost". A state whose flash was
 * visited before is not visited again.
 *
 * The wall clock begins each sequence with the same time, and the kernel's threads
 * come to rest behind each call: so a sequence does the same to the flash whatever
 * was before, but for random numbers of the file system. That it makes as many
 * operations is checked, but behind a turn-over, and else "differs NUMBER" ends it. "unmountable NUMBER ERRNO" says that the flash cannot be mounted
 * in a node, without any cut: before its calls, or in a remount, which tells its
 * errno, too. Its other calls have none then.
 */
#ifndef FFSCRASH_TREE_H
#define FFSCRASH_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "tree/nodes.h"
#include "walk/states.h"
#include "walk/walker.h"

#define TREE_KINDS_MAX 16

/* How the variants of a kind follow from the operation that is cut. */
enum tree_variants { TREE_ONE, TREE_SEEDS, TREE_COUNTED };

struct tree_kind {
	char name[KIND_BYTES];
	enum tree_variants variants;
};

struct tree_cuts {
	struct tree_kind kinds[TREE_KINDS_MAX];
	size_t n;
	uint64_t variants;	/* of each operation, where there are several */
	const char *after;	/* begin behind this state of the first node; or NULL */
};

/**
 * tree_cuts_parse() - "lost,torn-prefix+,torn-bits*": names, + behind those with counted
 * variants (they begin with the operation's number), * behind those with seeds.
 *
 * Return: whether it is that.
 */
bool tree_cuts_parse(struct tree_cuts *cuts, const char *text);

/** tree_walk() - through all @nodes. */
int tree_walk(const struct walk *walk, struct nodes *nodes,
	      const struct tree_cuts *cuts, struct ffs_error *error);

#endif
