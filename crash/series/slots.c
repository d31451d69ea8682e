// SPDX-License-Identifier: GPL-2.0-only
/*
 * slots.c - see slots.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "series/slots.h"

int slots_reserve(struct slots *slots, struct ffs_error *error)
{
	size_t i;

	memset(slots, 0, sizeof(*slots));
	slots->memory = malloc(2 * SLOTS * SLOT_BYTES_MAX);
	if (!slots->memory)
		return ffs_fail(error, ENOMEM, "no memory for contents");
	for (i = 0; i < SLOTS; i++) {
		struct slot *slot = &slots->slot[i];

		slot->directory = i >= SLOT_FILES;
		snprintf(slot->name, sizeof(slot->name), "%c%02u",
			 slot->directory ? 'd' : 'f', (unsigned int)i);
		slot->now.data = slots->memory + 2 * i * SLOT_BYTES_MAX;
		slot->next.data = slot->now.data + SLOT_BYTES_MAX;
	}
	return 0;
}

void slots_free(struct slots *slots)
{
	free(slots->memory);
	slots->memory = NULL;
}

void slots_clear(struct slots *slots)
{
	size_t i;

	for (i = 0; i < SLOTS; i++) {
		struct slot *slot = &slots->slot[i];

		slot->now.there = false;
		slot->now.bytes = 0;
		slot->change = CHANGE_NONE;
		slot->doubtful = false;
	}
}

int slots_remove(struct slots *slots, int root)
{
	size_t i;

	for (i = 0; i < SLOTS; i++) {
		const struct slot *slot = &slots->slot[i];

		if (unlinkat(root, slot->name,
			     slot->directory ? AT_REMOVEDIR : 0) &&
		    errno != ENOENT)
			return errno;
	}
	if (unlinkat(root, SLOT_NEW, 0) && errno != ENOENT)
		return errno;
	return syncfs(root) ? errno : 0;
}
