// SPDX-License-Identifier: GPL-2.0-only
/*
 * ops_rename.c - rename() in all its forms.
 *
 * The errors are the kernel's, in the order in which it finds them.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "workloads/random/ops_tree.h"

/* musl has no renameat2(). */
static long rename_as(const char *path, const char *other, unsigned int flags)
{
	return syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, other, flags);
}

static int rename_error(const struct entry *from, const struct place *to,
			bool no_replace)
{
	const struct node *node = from->node;
	const struct node *target = to->taken ? to->taken->node : NULL;
	bool dir = S_ISDIR(node->mode);

	if (target && no_replace)
		return EEXIST;
	if (dir && is_inside(to->dir, node))
		return EINVAL;
	if (!target || target == node)
		return 0;
	if (S_ISDIR(target->mode) && is_inside(from->dir, target))
		return ENOTEMPTY;
	if (dir && !S_ISDIR(target->mode))
		return ENOTDIR;
	if (!dir && S_ISDIR(target->mode))
		return EISDIR;
	return target->entry_count ? ENOTEMPTY : 0;
}

/* The tree must not become deeper than a path has room for. */
static bool too_deep(const struct node *node, const struct node *dir)
{
	return S_ISDIR(node->mode) &&
	       node_depth(dir) + 1 + node_height(node) > DEPTH_MAX;
}

static void rename_model(struct history *h, struct entry *from,
			 const struct place *to)
{
	struct node *node = from->node, *old_dir = from->dir;

	/* Two names of one file: nothing happens, says POSIX. */
	if (to->taken && to->taken->node == node)
		return;
	if (to->taken)
		name_removed(h, to->taken);
	entry_move(from, to->dir, to->name);
	touch(h, old_dir, MODIFIED | CHANGED);
	touch(h, to->dir, MODIFIED | CHANGED);
	touch_perhaps(h, node, CHANGED);
}

void rename_to(struct history *h, struct entry *from,
	       struct place *place, bool no_replace)
{
	int wanted = rename_error(from, place, no_replace);
	char path[PATH_BYTES];

	if (too_deep(from->node, place->dir))
		return;
	if (h->opt.keep_emptied && !wanted && place->taken &&
	    S_ISDIR(from->node->mode))
		return;
	entry_path(h, from, path);
	describe(h, from->node, place->taken ? place->taken->node : place->dir,
		 "rename %s to %s%s%s",
		 show_path(h, from->dir, from->name), place_name(h, place),
		 place->taken ? ", which is there" : "",
		 no_replace ? ", RENAME_NOREPLACE" : "");
	CALL(h, wanted, rename_as(path, place->path,
				  no_replace ? RENAME_NOREPLACE : 0));
	if (!wanted)
		rename_model(h, from, place);
}

void op_rename(struct history *h)
{
	struct entry *from = pick_entry(h, chance(h, 30) ? KIND_DIR :
						  KIND_ANY);
	struct place place;

	if (!from)
		return;
	place_pick(h, &place);
	if (chance(h, 30) && !entry_find(from->dir, place.name)) {
		place.dir = from->dir;
		place.taken = NULL;
		node_path(h, place.dir, place.name, place.path);
	}
	rename_to(h, from, &place, chance(h, 10));
}

/* Over something that exists, mostly of a kind that can be replaced. */
void op_replace(struct history *h)
{
	unsigned int kinds = chance(h, 25) ? KIND_DIR : KIND_NOT_DIR;
	struct entry *from = pick_entry(h, kinds), *over;
	struct place place;

	if (chance(h, 10))
		kinds = KIND_ANY;
	over = pick_entry(h, kinds);
	if (!from || !over)
		return;
	place.dir = over->dir;
	place.taken = over;
	strcpy(place.name, over->name);
	entry_path(h, over, place.path);
	rename_to(h, from, &place, chance(h, 5));
}

static int exchange_error(const struct history *h, const struct entry *a,
			  const struct entry *b)
{
	if (is_inside(b->dir, a->node) || is_inside(a->dir, b->node))
		return EINVAL;
	if (a->node == b->node)
		return 0;
	return h->opt.exchange ? 0 : EINVAL;
}

void op_exchange(struct history *h)
{
	struct entry *a = pick_entry(h, KIND_ANY);
	struct entry *b = pick_entry(h, KIND_ANY);
	char path[PATH_BYTES], other[PATH_BYTES];
	int wanted;

	if (!a || !b || too_deep(a->node, b->dir) || too_deep(b->node, a->dir))
		return;
	wanted = exchange_error(h, a, b);
	entry_path(h, a, path);
	entry_path(h, b, other);
	describe(h, a->node, b->node, "exchange %s and %s",
		 show_path(h, a->dir, a->name), show_path(h, b->dir, b->name));
	CALL(h, wanted, rename_as(path, other, RENAME_EXCHANGE));
	if (wanted || a->node == b->node)
		return;
	entry_swap(a, b);
	touch(h, a->dir, MODIFIED | CHANGED);
	touch(h, b->dir, MODIFIED | CHANGED);
	touch_perhaps(h, a->node, CHANGED);
	touch_perhaps(h, b->node, CHANGED);
}
