// SPDX-License-Identifier: GPL-2.0-only
/*
 * Directories in memory. They have no contents on flash: an object's header names its
 * parent. In memory a directory is a tree of its children, ordered by a hash of the
 * name and then by id. That order serves both lookup, in logarithmic time, and reading
 * the directory: hash and id are a position that stays valid while entries come and
 * go.
 *
 * A mount need not know names: children whose header was not read yet are in a list
 * beside the tree.
 */

#include <linux/stringhash.h>

#include "objects.h"

/* 31 bits of hash, 18 of id: a position fits into a signed 64-bit offset. */
#define ID_BITS 18

static u32 hash_of(const char *name, u32 bytes)
{
	return full_name_hash(NULL, name, bytes) >> 1;
}

u64 yaffs_directory_position(const struct yaffs_object *child)
{
	return (u64)child->name_hash << ID_BITS | child->id;
}

static struct yaffs_object *child_of(const struct rb_node *node)
{
	return rb_entry(node, struct yaffs_object, by_name);
}

static void insert_child(struct yaffs_object *dir, struct yaffs_object *obj)
{
	struct rb_node **at = &dir->dir.children.rb_node, *parent = NULL;
	u64 position = yaffs_directory_position(obj);

	while (*at) {
		parent = *at;
		at = position < yaffs_directory_position(child_of(parent)) ?
			     &parent->rb_left : &parent->rb_right;
	}
	rb_link_node(&obj->by_name, parent, at);
	rb_insert_color(&obj->by_name, &dir->dir.children);
	obj->named = true;
}

void yaffs_directory_add(struct yaffs_object *dir, struct yaffs_object *obj)
{
	yaffs_assert_locked(obj->dev);
	INVARIANT(dir->type == YAFFS_TYPE_DIRECTORY && !dir->deleted,
		  "object %u gets a parent that is no directory: %u", obj->id, dir->id);
	INVARIANT(!obj->named && list_empty(&obj->unnamed),
		  "object %u is in a directory already", obj->id);
	obj->parent = dir;
	obj->parent_id = dir->id;
	if (obj->type == YAFFS_TYPE_DIRECTORY)
		dir->dir.n_directories++;
	if (obj->name)
		insert_child(dir, obj);
	else
		list_add_tail(&obj->unnamed, &dir->dir.unnamed);
}

void yaffs_directory_remove(struct yaffs_object *obj)
{
	struct yaffs_object *dir = obj->parent;

	yaffs_assert_locked(obj->dev);
	if (!dir)
		return;
	INVARIANT(obj->type != YAFFS_TYPE_DIRECTORY || dir->dir.n_directories,
		  "directory %u leaves %u, which has none", obj->id, dir->id);
	if (obj->type == YAFFS_TYPE_DIRECTORY)
		dir->dir.n_directories--;
	if (obj->named)
		rb_erase(&obj->by_name, &dir->dir.children);
	else
		list_del(&obj->unnamed);
	obj->named = false;
	INIT_LIST_HEAD(&obj->unnamed);
	obj->parent = NULL;
}

/* Also moves a child that had no name from the list to the tree. */
int yaffs_object_set_name(struct yaffs_object *obj, const char *name, u32 bytes)
{
	struct yaffs_object *dir = obj->parent;
	char *copy = kmalloc(bytes + 1, GFP_NOFS);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, name, bytes);
	copy[bytes] = 0;
	if (dir)
		yaffs_directory_remove(obj);
	kfree(obj->name);
	obj->name = copy;
	obj->name_hash = hash_of(copy, bytes);
	if (dir)
		yaffs_directory_add(dir, obj);
	return 0;
}

struct yaffs_object *yaffs_directory_at(struct yaffs_object *dir, u64 position)
{
	struct rb_node *node = dir->dir.children.rb_node;
	struct yaffs_object *found = NULL;

	yaffs_assert_locked(dir->dev);
	while (node) {
		if (yaffs_directory_position(child_of(node)) >= position) {
			found = child_of(node);
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return found;
}

struct yaffs_object *yaffs_directory_named(struct yaffs_object *dir,
					   const char *name, u32 bytes)
{
	u32 hash = hash_of(name, bytes);
	struct yaffs_object *obj;
	struct rb_node *node;

	obj = yaffs_directory_at(dir, (u64)hash << ID_BITS);
	while (obj && obj->name_hash == hash) {
		if (!strncmp(obj->name, name, bytes) && !obj->name[bytes])
			return obj;
		node = rb_next(&obj->by_name);
		obj = node ? child_of(node) : NULL;
	}
	return NULL;
}

bool yaffs_directory_is_empty(const struct yaffs_object *dir)
{
	return RB_EMPTY_ROOT(&dir->dir.children) &&
	       list_empty(&dir->dir.unnamed);
}
