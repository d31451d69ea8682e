// SPDX-License-Identifier: GPL-2.0-only
/*
 * tree.c - see tree.h.
 */
#include <stdio.h>
#include <string.h>

#include "series/tree.h"

static const char *const name_texts[TREE_NAMES] = {
	"m0", "m1", "m2", "m3", "m4", "e0", "e1",
};

const char *tree_name(uint8_t name)
{
	return name_texts[name];
}

uint8_t tree_find_name(const char *text)
{
	uint8_t name = 0;

	while (name < TREE_NAMES && strcmp(text, name_texts[name]))
		name++;
	return name;
}

void tree_put(struct tree *tree, const struct tree_entry *entry)
{
	tree->child[entry->parent][entry->name] = entry->child;
}

void tree_list(const struct tree *tree, struct tree_directories *list)
{
	size_t at;

	memset(list, 0, sizeof(*list));
	list->n = 1;
	for (at = 0; at < list->n; at++) {
		uint8_t parent = list->entry[at].child, name;

		for (name = 0; name < TREE_DIRECTORY_NAMES; name++) {
			uint8_t child = tree->child[parent][name];

			if (!child || list->n == TREE_NODES)
				continue;
			list->depth[list->n] = list->depth[at] + 1;
			list->entry[list->n++] = (struct tree_entry){
				parent, name, child
			};
		}
	}
}

bool tree_is_within(const struct tree *tree, uint8_t top, uint8_t node)
{
	uint8_t name;

	if (node == top)
		return true;
	for (name = 0; name < TREE_DIRECTORY_NAMES; name++)
		if (tree->child[top][name] &&
		    tree_is_within(tree, tree->child[top][name], node))
			return true;
	return false;
}

unsigned int tree_height(const struct tree *tree, uint8_t node)
{
	unsigned int highest = 0;
	uint8_t name;

	for (name = 0; name < TREE_DIRECTORY_NAMES; name++) {
		uint8_t child = tree->child[node][name];
		unsigned int height = child ? tree_height(tree, child) : 0;

		if (height > highest)
			highest = height;
	}
	return highest + 1;
}

void tree_path(const struct tree *tree, uint8_t parent, uint8_t name,
	       char path[TREE_PATH_BYTES])
{
	struct tree_directories list;
	char before[TREE_PATH_BYTES] = "";
	size_t at = 0;

	tree_list(tree, &list);
	while (at < list.n && list.entry[at].child != parent)
		at++;
	if (at > 0 && at < list.n)
		tree_path(tree, list.entry[at].parent, list.entry[at].name,
			  before);
	snprintf(path, TREE_PATH_BYTES, "%.26s%s%s", before, *before ? "/" : "",
		 tree_name(name));
}

bool tree_is_empty(const struct tree *tree, uint8_t node)
{
	static const uint8_t none[TREE_NAMES];

	return !memcmp(tree->child[node], none, sizeof(none));
}

/* Both are looked through from these nodes on; each level adds to @path. */
static bool differs(const struct tree *one, uint8_t one_node,
		    const struct tree *other, uint8_t other_node,
		    char path[TREE_PATH_BYTES], bool *in_one)
{
	size_t bytes = strlen(path);
	uint8_t name;

	for (name = 0; name < TREE_NAMES; name++) {
		uint8_t a = one->child[one_node][name];
		uint8_t b = other->child[other_node][name];

		if (!a && !b)
			continue;
		snprintf(path + bytes, TREE_PATH_BYTES - bytes, "%s%s",
			 bytes ? "/" : "", tree_name(name));
		*in_one = a;
		if (!a != !b)
			return true;
		if (!tree_is_file_name(name) &&
		    differs(one, a, other, b, path, in_one))
			return true;
		path[bytes] = '\0';
	}
	return false;
}

bool tree_differs(const struct tree *one, const struct tree *other,
		  char path[TREE_PATH_BYTES], bool *in_one)
{
	*path = '\0';
	return differs(one, TREE_ROOT, other, TREE_ROOT, path, in_one);
}
