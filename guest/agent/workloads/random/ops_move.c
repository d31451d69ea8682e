// SPDX-License-Identifier: GPL-2.0-only
/*
 * ops_move.c - directories that move: into one another, out again, and over one
 * that was emptied before.
 *
 * What a directory on its way holds is known by another parent afterwards; of what
 * an emptied one held, removals may be all that the flash still has.
 */
#include <string.h>

#include "workloads/random/ops_tree.h"

static void sync_perhaps(struct history *h)
{
	if (chance(h, 50))
		return;
	sync_all(h);
}

/* @place is the name that @entry has. */
static void place_of(struct history *h, const struct entry *entry,
		     struct place *place)
{
	place->dir = entry->dir;
	place->taken = entry_find(entry->dir, entry->name);
	strcpy(place->name, entry->name);
	entry_path(h, entry, place->path);
}

static void place_in(struct history *h, struct node *dir, struct place *place)
{
	place->dir = dir;
	new_name(h, place->name);
	place->taken = entry_find(dir, place->name);
	node_path(h, dir, place->name, place->path);
}

void op_move_in_and_out(struct history *h)
{
	struct entry *moved = pick_entry(h, KIND_DIR);
	struct node *into = pick_dir(h);
	struct place back, place;

	if (!moved || is_inside(into, moved->node))
		return;
	place_of(h, moved, &back);
	place_in(h, into, &place);
	if (place.taken)
		return;
	rename_to(h, moved, &place, false);
	sync_perhaps(h);
	if (chance(h, 40) || moved->dir != into)
		return;
	back.taken = entry_find(back.dir, back.name);
	rename_to(h, moved, &back, false);
	sync_perhaps(h);
}

void op_move_over_emptied(struct history *h)
{
	struct entry *from = pick_entry(h, KIND_DIR);
	struct entry *over = pick_entry(h, KIND_DIR);
	struct place place;

	if (!from || !over || from == over || node_height(over->node) > 2 ||
	    is_inside(from->dir, over->node) || is_inside(over->dir, from->node))
		return;
	remove_below(h, over->node);
	sync_perhaps(h);
	place_of(h, over, &place);
	rename_to(h, from, &place, false);
}
