// SPDX-License-Identifier: GPL-2.0-only
/* target.c - see target.h. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "workloads/random/target.h"

bool target_pick(struct history *h, struct target *target, int flags)
{
	target->entry = NULL;
	target->handle = chance(h, 30) ? pick_handle(h) : NULL;
	target->fd = -1;
	if (target->handle) {
		target->node = target->handle->node;
		target->fd = target->handle->fd;
		return true;
	}
	target->entry = pick_entry(h, KIND_FILE);
	if (!target->entry)
		return false;
	target->node = target->entry->node;
	entry_path(h, target->entry, target->path);
	CALL(h, 0, target->fd = open(target->path, flags | O_CLOEXEC));
	return true;
}

void target_done(struct history *h, struct target *target)
{
	if (!target->handle)
		CALL(h, 0, close(target->fd));
}

const char *target_name(struct history *h, const struct target *target)
{
	if (target->handle)
		return target->node->links ? "(open)" : "(open, no name)";
	return show_path(h, target->entry->dir, target->entry->name);
}
