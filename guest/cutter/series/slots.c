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

#include "series/acts.h"
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
	if (slots->acts)
		moves_clear(&slots->acts->moves);
}

const char *change_name(enum change change)
{
	static const char *const names[] = {
		[CHANGE_NONE] = "none", [CHANGE_CREATE] = "create",
		[CHANGE_REPLACE] = "replace", [CHANGE_REMOVE] = "remove",
		[CHANGE_OVERWRITE] = "overwrite", [CHANGE_APPEND] = "append",
		[CHANGE_SHORTEN] = "shorten", [CHANGE_MAKE] = "make",
	};

	return names[change];
}

void slots_tell(const struct slots *slots, struct text *out)
{
	size_t i;

	for (i = 0; i < SLOTS; i++) {
		const struct slot *slot = &slots->slot[i];

		if (slot->change == CHANGE_NONE)
			continue;
		text_string(out, "call ");
		text_string(out, slot->name);
		text_add(out, " ", 1);
		text_string(out, change_name(slot->change));
		put_number(out, "before", slot->now.there, slot->now.bytes);
		put_number(out, "after", slot->next.there, slot->next.bytes);
		put_number(out, "first", true, slot->first);
		put_number(out, "last", true, slot->last);
		put_number(out, "durable", slot->durable != NEVER,
			   slot->durable);
		text_string(out, slot->failed ? " failed\n" : "\n");
	}
	if (slots->acts)
		moves_tell(&slots->acts->moves, out);
}

int slots_remove(struct slots *slots, int root)
{
	size_t i;
	int failed;

	for (i = 0; i < SLOTS; i++) {
		const struct slot *slot = &slots->slot[i];

		if (unlinkat(root, slot->name,
			     slot->directory ? AT_REMOVEDIR : 0) &&
		    errno != ENOENT)
			return errno;
	}
	if (unlinkat(root, SLOT_NEW, 0) && errno != ENOENT)
		return errno;
	failed = slots->acts ? acts_remove(slots->acts, root) : 0;
	return failed || !syncfs(root) ? failed : errno;
}
