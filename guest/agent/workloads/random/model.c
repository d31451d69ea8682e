// SPDX-License-Identifier: GPL-2.0-only
/*
 * model.c - nodes and names of the model; see model.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/random/model.h"

void model_init(struct model *model)
{
	memset(model, 0, sizeof(*model));
	model->root = node_new(model, S_IFDIR | 0755);
	model->root->links = 2;
}

struct node *node_new(struct model *model, mode_t mode)
{
	struct node *node = allocate(sizeof(*node));

	node->id = model->next_id++;
	node->mode = mode;
	model->nodes++;
	return node;
}

static void free_xattrs(struct node *node)
{
	while (node->xattrs) {
		struct xattr *next = node->xattrs->next;

		free(node->xattrs->value);
		free(node->xattrs);
		node->xattrs = next;
	}
}

void node_drop(struct model *model, struct node *node)
{
	if (node->links || node->handles)
		return;
	if (S_ISREG(node->mode))
		content_truncate(model, node, 0);
	free(node->page);
	free(node->target);
	free_xattrs(node);
	free(node);
	model->nodes--;
}

struct entry *entry_find(const struct node *dir, const char *name)
{
	struct entry *entry;

	for (entry = dir->entries; entry; entry = entry->next)
		if (!strcmp(entry->name, name))
			return entry;
	return NULL;
}

/* Into a directory; the model's table is the caller's. */
static void attach(struct entry *entry, struct node *dir, const char *name)
{
	entry->name = strcpy(allocate(strlen(name) + 1), name);
	entry->dir = dir;
	entry->next = dir->entries;
	dir->entries = entry;
	dir->entry_count++;
	if (S_ISDIR(entry->node->mode))
		dir->links++;
}

static void detach(struct entry *entry)
{
	struct entry **at = &entry->dir->entries;

	while (*at != entry)
		at = &(*at)->next;
	*at = entry->next;
	entry->dir->entry_count--;
	if (S_ISDIR(entry->node->mode))
		entry->dir->links--;
	free(entry->name);
}

struct entry *entry_add(struct model *model, struct node *dir,
			const char *name, struct node *node)
{
	struct entry *entry = allocate(sizeof(*entry));

	if (model->entries == model->entries_room) {
		size_t room = model->entries_room * 2 + 64;
		struct entry **table = allocate(room * sizeof(*table));

		if (model->entries)
			memcpy(table, model->entry,
			       model->entries * sizeof(*table));
		free(model->entry);
		model->entry = table;
		model->entries_room = room;
	}
	entry->slot = model->entries;
	model->entry[model->entries++] = entry;
	entry->node = node;
	attach(entry, dir, name);
	if (S_ISDIR(node->mode)) {
		node->links = 2;
		node->self = entry;
	} else {
		node->links++;
	}
	return entry;
}

void entry_remove(struct model *model, struct entry *entry)
{
	struct entry *last = model->entry[--model->entries];

	model->entry[entry->slot] = last;
	last->slot = entry->slot;
	detach(entry);
	if (S_ISDIR(entry->node->mode)) {
		entry->node->links = 0;
		entry->node->self = NULL;
	} else {
		entry->node->links--;
	}
	free(entry);
}

void entry_move(struct entry *entry, struct node *dir, const char *name)
{
	detach(entry);
	attach(entry, dir, name);
}

void entry_swap(struct entry *a, struct entry *b)
{
	struct node *node = a->node;
	bool a_dir = S_ISDIR(a->node->mode), b_dir = S_ISDIR(b->node->mode);

	a->dir->links += b_dir - a_dir;
	b->dir->links += a_dir - b_dir;
	a->node = b->node;
	b->node = node;
	if (b_dir)
		a->node->self = a;
	if (a_dir)
		b->node->self = b;
}

bool is_inside(const struct node *dir, const struct node *ancestor)
{
	for (;;) {
		if (dir == ancestor)
			return true;
		if (!dir->self)
			return false;
		dir = dir->self->dir;
	}
}

unsigned int node_depth(const struct node *dir)
{
	unsigned int depth = 0;

	for (; dir->self; dir = dir->self->dir)
		depth++;
	return depth;
}

unsigned int node_height(const struct node *node)
{
	unsigned int height = 0;
	const struct entry *entry;

	for (entry = node->entries; entry; entry = entry->next) {
		unsigned int below = node_height(entry->node) + 1;

		if (below > height)
			height = below;
	}
	return height;
}

struct xattr *xattr_find(const struct node *node, const char *name)
{
	struct xattr *xattr;

	for (xattr = node->xattrs; xattr; xattr = xattr->next)
		if (!strcmp(xattr->name, name))
			return xattr;
	return NULL;
}

void xattr_set(struct node *node, const char *name, const unsigned char *value,
	       size_t bytes)
{
	struct xattr *xattr;

	xattr_remove(node, name);
	xattr = allocate(sizeof(*xattr) + strlen(name) + 1);
	strcpy(xattr->name, name);
	xattr->value = allocate(bytes);
	xattr->bytes = bytes;
	memcpy(xattr->value, value, bytes);
	xattr->next = node->xattrs;
	node->xattrs = xattr;
	node->xattr_bytes += strlen(name) + bytes;
}

void xattr_remove(struct node *node, const char *name)
{
	struct xattr **at = &node->xattrs;

	while (*at && strcmp((*at)->name, name))
		at = &(*at)->next;
	if (*at) {
		struct xattr *xattr = *at;

		node->xattr_bytes -= strlen(name) + xattr->bytes;
		*at = xattr->next;
		free(xattr->value);
		free(xattr);
	}
}
