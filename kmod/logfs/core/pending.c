// SPDX-License-Identifier: GPL-2.0-only
/*
 * What becomes of segments between commits, and lists of segments that are candidates for
 * something.
 *
 * The segment file says how many bytes of a segment are valid, and it must say so of the tree
 * of the last commit, since that is the one that a mount finds: a segment without valid bytes
 * there may be erased. So what is written and given up is kept here, and the commit takes it
 * over into the segment file.
 */

#include "area.h"

struct logfs_changed *logfs_changed(struct logfs_device *dev, u32 segno)
{
	struct logfs_changed *changed = xa_load(&dev->changed, segno);

	logfs_assert_locked(dev);
	dev->dirty = true;
	if (!changed) {
		changed = kzalloc(sizeof(*changed), LOGFS_GFP);
		changed->segno = segno;
		INIT_LIST_HEAD(&changed->touched);
		xa_store(&dev->changed, segno, changed, LOGFS_GFP);
		dev->n_changed++;
	}
	list_move(&changed->touched, &dev->touched);
	return changed;
}

void logfs_touch(struct logfs_device *dev, u32 segno)
{
	if (xa_load(&dev->changed, segno))
		logfs_changed(dev, segno);
}

void logfs_book(struct logfs_device *dev, u64 place, s32 bytes)
{
	logfs_changed(dev, logfs_segno(dev, place))->valid_bytes += bytes;
}

void logfs_changed_clear(struct logfs_device *dev)
{
	struct logfs_changed *changed;
	unsigned long segno;

	xa_for_each(&dev->changed, segno, changed) {
		xa_erase(&dev->changed, segno);
		kfree(changed);
	}
	INIT_LIST_HEAD(&dev->touched);
	dev->n_changed = 0;
	dev->n_soon_free = 0;
	if (INVARIANTS)
		dev->used_bytes_committed = dev->used_bytes;
}

int logfs_list_make(struct logfs_list *list, u32 room)
{
	list->n = 0;
	list->room = room;
	list->at = kcalloc(room, sizeof(*list->at), GFP_KERNEL);
	return list->at ? 0 : -ENOMEM;
}

void logfs_list_del(struct logfs_list *list, u32 segno)
{
	u32 i;

	for (i = 0; i < list->n && list->at[i].segno != segno; i++)
		;
	if (i == list->n)
		return;
	list->n--;
	memmove(&list->at[i], &list->at[i + 1],
		(list->n - i) * sizeof(*list->at));
}

void logfs_lists_del(struct logfs_device *dev, u32 segno)
{
	u32 i;

	logfs_list_del(&dev->free, segno);
	logfs_list_del(&dev->worn, segno);
	for (i = 0; i < LOGFS_GC_LEVELS; i++)
		logfs_list_del(&dev->by_distance[i], segno);
	xa_erase(&dev->stuck, segno);
	xa_erase(&dev->scrub, segno);
}

void logfs_list_put(struct logfs_list *list, const struct logfs_candidate *c,
		    bool by_valid)
{
	u32 i;

	logfs_list_del(list, c->segno);
	for (i = list->n;
	     i && logfs_is_better(c, &list->at[i - 1], by_valid); i--)
		;
	if (i == list->room)
		return;
	if (list->n == list->room)
		list->n--;
	memmove(&list->at[i + 1], &list->at[i],
		(list->n - i) * sizeof(*list->at));
	list->at[i] = *c;
	list->n++;
}
