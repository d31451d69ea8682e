// SPDX-License-Identifier: GPL-2.0-only
/*
 * paths.c - paths of the model's nodes on the file system.
 */
#include <stdio.h>
#include <string.h>

#include "workloads/random/history.h"

static size_t directory_path(const struct history *h, const struct node *dir,
			     char *path)
{
	size_t used;

	if (!dir->self) {
		strcpy(path, h->opt.dir);
		return strlen(path);
	}
	used = directory_path(h, dir->self->dir, path);
	path[used++] = '/';
	strcpy(path + used, dir->self->name);
	return used + strlen(dir->self->name);
}

/* @path has PATH_BYTES; the depth of the tree is limited so that it fits. */
void node_path(const struct history *h, const struct node *dir,
	       const char *name, char *path)
{
	size_t used = directory_path(h, dir, path);

	if (name) {
		path[used++] = '/';
		strcpy(path + used, name);
	}
}

void entry_path(const struct history *h, const struct entry *entry, char *path)
{
	node_path(h, entry->dir, entry->name, path);
}
