// SPDX-License-Identifier: GPL-2.0-only
/*
 * handles.c - descriptors that stay open from one operation to the next, so
 * that files are used while they are renamed, and after they lost their names.
 */
#include <errno.h>
#include <unistd.h>

#include "workloads/random/history.h"

struct handle *handle_free(struct history *h)
{
	int i;

	for (i = 0; i < HANDLES; i++)
		if (!h->handle[i].node)
			return &h->handle[i];
	return NULL;
}

/* @fd is ignored where the history runs on the model alone. */
void handle_open(struct history *h, struct handle *handle, struct node *node,
		 int fd, bool append)
{
	handle->node = node;
	handle->fd = h->live ? fd : -1;
	handle->append = append;
	node->handles++;
}

void handle_close(struct history *h, struct handle *handle)
{
	struct node *node = handle->node;

	CALL(h, 0, close(handle->fd));
	handle->node = NULL;
	node->handles--;
	node_drop(&h->model, node);
}

void handles_close_all(struct history *h)
{
	int i;

	for (i = 0; i < HANDLES; i++)
		if (h->handle[i].node)
			handle_close(h, &h->handle[i]);
}
