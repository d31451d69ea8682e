// SPDX-License-Identifier: GPL-2.0-only
/*
 * nodes.c - see nodes.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "text/numbers.h"
#include "tree/nodes.h"

/* The word that @text begins with becomes a text. Return: what is behind it, or NULL. */
static char *split_word(char *text)
{
	char *blank = strchr(text, ' ');

	if (blank)
		*blank++ = '\0';
	return blank;
}

static int parse_line(struct node *node, size_t above, char *line, size_t index,
		      struct ffs_error *error)
{
	char *mark = split_word(line), *calls = mark ? split_word(mark) : NULL;
	uint64_t depth;
	char *end;

	if (!calls || !number_parse(line, NODES_DEPTH_MAX, &depth) || !depth ||
	    depth > above + 1 ||
	    (strcmp(mark, "visit") && strcmp(mark, "end") &&
	     strcmp(mark, "pass")))
		return ffs_fail(error, 0,
				"line %zu is not 'DEPTH visit|end|pass CALL[;CALL]...'",
				index);
	node->depth = (size_t)depth;
	node->only_end = !strcmp(mark, "end");
	node->visited = node->only_end || !strcmp(mark, "visit");
	for (end = calls; (end = strchr(end, ';')); )
		*end++ = '\n';
	return history_parse(&node->calls, calls, error);
}

int nodes_parse(struct nodes *nodes, char *text, struct ffs_error *error)
{
	size_t lines = 0, length, above = 0, i;

	for (i = 0; text[i]; i++)
		lines += text[i] == '\n' || !text[i + 1];
	*nodes = (struct nodes){ NULL, 0 };
	nodes->all = calloc(lines ? lines : 1, sizeof(*nodes->all));
	if (!nodes->all)
		return ffs_fail(error, ENOMEM, "no memory for %zu nodes", lines);
	for (; *text; text += length) {
		length = strcspn(text, "\n");
		if (text[length])
			text[length++] = '\0';
		if (parse_line(&nodes->all[nodes->n], above, text, nodes->n,
			       error)) {
			nodes_free(nodes);
			return -1;
		}
		above = nodes->all[nodes->n++].depth;
	}
	return 0;
}

void nodes_free(struct nodes *nodes)
{
	size_t i;

	for (i = 0; i < nodes->n; i++)
		history_free(&nodes->all[i].calls);
	free(nodes->all);
	*nodes = (struct nodes){ NULL, 0 };
}
