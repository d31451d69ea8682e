// SPDX-License-Identifier: GPL-2.0-only
/*
 * compare.c - the whole tree on the file system against the model.
 *
 * Directories are listed with readdir() and each of their names is looked up;
 * so both ways to a name must agree.  Names of one node must show one inode
 * number, names of different nodes different ones, and a node keeps its number
 * for life, also from one mount to the next.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "workloads/random/history.h"

static unsigned char type_of(mode_t mode)
{
	return IFTODT(mode);
}

/* `lost+found` and the scratch directory are in the root and not modelled. */
static bool not_modelled(const struct node *dir, const char *name)
{
	return !dir->self &&
	       (!strcmp(name, SCRATCH) || !strcmp(name, "lost+found"));
}

/*
 * Does a part of the comparison; where it finds a difference the next part goes
 * on, so that further names are told of.
 */
static void guarded(struct history *h, const struct entry *compared,
		    void (*part)(struct history *h, struct node *node,
				 const void *what),
		    struct node *node, const void *what)
{
	jmp_buf here, *outer = h->next;

	h->next = &here;
	h->compared = compared;
	if (!setjmp(here))
		part(h, node, what);
	h->next = outer;
	h->compared = NULL;
}

static void check_item(struct history *h, struct node *dir, const void *what)
{
	const struct dirent *item = what;
	struct entry *entry = entry_find(dir, item->d_name);
	unsigned char wanted;

	if (!entry)
		differ(h, DIFF_BACK, dir, "readdir() of #%u: %s should not be there",
		     dir->id, show_path(h, dir, item->d_name));
	if (entry->seen)
		fail(h, dir, "readdir() of #%u: %s came twice", dir->id,
		     show_path(h, dir, item->d_name));
	entry->seen = true;
	wanted = type_of(entry->node->mode);
	if (item->d_type != DT_UNKNOWN && item->d_type != wanted)
		differ(h, DIFF_ATTRIBUTE, entry->node, "d_type of %s: expected %u, found %u",
		     show_path(h, dir, item->d_name), wanted, item->d_type);
	if (entry->node->ino && item->d_ino != entry->node->ino)
		differ(h, DIFF_ATTRIBUTE, entry->node, "d_ino of %s: expected %llu, found %llu",
		     show_path(h, dir, item->d_name),
		     (unsigned long long)entry->node->ino,
		     (unsigned long long)item->d_ino);
}

static void missing(struct history *h, struct node *node, const void *what)
{
	const struct entry *entry = what;

	differ(h, DIFF_GONE, node, "readdir() of #%u: %s is missing",
	       entry->dir->id, show_path(h, entry->dir, entry->name));
}

/* Return: sub-directories that are not in the model. */
static unsigned int list_directory(struct history *h, struct node *dir,
				   const char *path)
{
	unsigned int dots = 0, further = 0;
	struct dirent *item;
	struct entry *entry;
	DIR *stream = opendir(path);

	if (!stream)
		differ(h, DIFF_UNREADABLE, dir, "opendir() of #%u: expected success, found %s",
		     dir->id, errno_name(errno));
	for (entry = dir->entries; entry; entry = entry->next)
		entry->seen = false;
	while (errno = 0, (item = readdir(stream))) {
		if (!strcmp(item->d_name, ".") || !strcmp(item->d_name, ".."))
			dots++;
		else if (not_modelled(dir, item->d_name))
			further++;
		else
			guarded(h, NULL, check_item, dir, item);
	}
	if (errno || dots != 2)
		differ(h, DIFF_UNREADABLE, dir, "readdir() of #%u: %s; '.' and '..' came %u times",
		     dir->id, errno_name(errno), dots);
	closedir(stream);
	for (entry = dir->entries; entry; entry = entry->next)
		if (!entry->seen)
			guarded(h, NULL, missing, entry->node, entry);
	return further;
}

static void compare_one(struct history *h, struct node *node, const void *path)
{
	compare_node(h, node, path);
}

static void compare_directory(struct history *h, struct node *dir,
			      const char *path)
{
	unsigned int further = list_directory(h, dir, path);
	char below[PATH_BYTES];
	struct entry *entry;

	dir->links += further;
	guarded(h, dir->self, compare_one, dir, path);
	dir->links -= further;
	for (entry = dir->entries; entry; entry = entry->next) {
		if (!entry->seen)
			continue;
		entry_path(h, entry, below);
		if (S_ISDIR(entry->node->mode))
			compare_directory(h, entry->node, below);
		else
			guarded(h, entry, compare_one, entry->node, below);
	}
}

static int by_inode(const void *a, const void *b)
{
	const struct node *left = *(struct node *const *)a;
	const struct node *right = *(struct node *const *)b;

	if (left->ino != right->ino)
		return left->ino < right->ino ? -1 : 1;
	return left < right ? -1 : left > right;
}

static void compare_inode_numbers(struct history *h)
{
	struct node **node = allocate((h->model.entries + 1) * sizeof(*node));
	size_t i;

	for (i = 0; i < h->model.entries; i++)
		node[i] = h->model.entry[i]->node;
	qsort(node, h->model.entries, sizeof(*node), by_inode);
	for (i = 1; i < h->model.entries; i++)
		if (node[i]->ino && node[i]->ino == node[i - 1]->ino &&
		    node[i] != node[i - 1])
			differ(h, DIFF_ATTRIBUTE, node[i], "#%u and #%u have one inode number, %llu",
			     node[i]->id, node[i - 1]->id,
			     (unsigned long long)node[i]->ino);
	free(node);
}

/* Files that are open, with or without a name. */
static void compare_handles(struct history *h)
{
	struct stat status;
	int i;

	for (i = 0; i < HANDLES; i++) {
		struct node *node = h->handle[i].node;

		if (!node || h->handle[i].fd < 0)
			continue;
		CALL(h, 0, fstat(h->handle[i].fd, &status));
		if ((uint64_t)status.st_size != node->size ||
		    status.st_nlink != shown_links(h, node))
			differ(h, DIFF_SIZE, node, "fstat() of an open file: expected size %llu links %u, found size %llu links %u",
			     (unsigned long long)node->size,
			     shown_links(h, node),
			     (unsigned long long)status.st_size,
			     (unsigned int)status.st_nlink);
		compare_contents(h, node, h->handle[i].fd);
	}
}

/* What statfs() says must be possible, and the total must stay. */
void compare_space(struct history *h)
{
	uint64_t name_max = h->opt.name_shown ? h->opt.name_shown :
						h->opt.name_max;
	struct statvfs space;

	CALL(h, 0, statvfs(h->opt.dir, &space));
	if (space.f_bfree > space.f_blocks || space.f_bavail > space.f_bfree ||
	    space.f_ffree > space.f_files || space.f_namemax != name_max)
		differ(h, DIFF_SPACE, NULL, "statfs(): blocks %llu, free %llu, available %llu, files %llu, free %llu, longest name %lu",
		     (unsigned long long)space.f_blocks,
		     (unsigned long long)space.f_bfree,
		     (unsigned long long)space.f_bavail,
		     (unsigned long long)space.f_files,
		     (unsigned long long)space.f_ffree, space.f_namemax);
	if (!h->total_blocks ||
	    (h->opt.may_shrink && space.f_blocks < h->total_blocks))
		h->total_blocks = space.f_blocks;
	if (space.f_blocks != h->total_blocks)
		differ(h, DIFF_SPACE, NULL, "statfs(): %llu blocks were %llu before",
		     (unsigned long long)space.f_blocks,
		     (unsigned long long)h->total_blocks);
}

void compare_tree(struct history *h)
{
	size_t i;

	for (i = 0; i < h->model.entries; i++)
		h->model.entry[i]->node->compared = false;
	compare_directory(h, h->model.root, h->opt.dir);
	end_if_different(h);
	compare_inode_numbers(h);
	compare_handles(h);
	compare_space(h);
}
