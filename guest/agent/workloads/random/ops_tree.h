/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ops_tree.h - what operations on names have in common.
 */
#ifndef RANDOM_OPS_TREE_H
#define RANDOM_OPS_TREE_H

#include "workloads/random/history.h"

/* Where a name is to appear; `taken` is what has it already. */
struct place {
	struct node *dir;
	struct entry *taken;
	char name[512];
	char path[PATH_BYTES];
};

void place_pick(struct history *h, struct place *place);
const char *place_name(struct history *h, const struct place *place);
struct node *place_new(struct history *h, const struct place *place,
		       mode_t mode);
void name_removed(struct history *h, struct entry *entry);
void remove_below(struct history *h, struct node *dir);
void rename_to(struct history *h, struct entry *from, struct place *place,
	       bool no_replace);
void remove_everything(struct history *h);

#endif
