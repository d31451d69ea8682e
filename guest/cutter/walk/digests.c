// SPDX-License-Identifier: GPL-2.0-only
/*
 * digests.c - see digests.h.  A hash table with linear probing, at most half
 * full; digests are their own hashes.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "walk/digests.h"

#define FIRST_ROOM 1024

void digests_free(struct digests *digests)
{
	free(digests->slots);
	memset(digests, 0, sizeof(*digests));
}

static struct digest_slot *find(struct digest_slot *slots, size_t room,
				uint64_t digest)
{
	size_t at = (size_t)digest & (room - 1);

	while (slots[at].digest && slots[at].digest != digest)
		at = (at + 1) & (room - 1);
	return &slots[at];
}

static bool grow(struct digests *digests)
{
	size_t room = digests->room ? 2 * digests->room : FIRST_ROOM, i;
	struct digest_slot *slots = calloc(room, sizeof(*slots));

	if (!slots)
		return false;
	for (i = 0; i < digests->room; i++)
		if (digests->slots[i].digest)
			*find(slots, room, digests->slots[i].digest) =
				digests->slots[i];
	free(digests->slots);
	digests->slots = slots;
	digests->room = room;
	return true;
}

size_t digests_number(struct digests *digests, uint64_t digest, bool *is_new)
{
	struct digest_slot *slot;

	*is_new = true;
	if (!digest)
		digest = 1;
	if (2 * digests->n >= digests->room && !grow(digests))
		return digests->n;
	slot = find(digests->slots, digests->room, digest);
	*is_new = !slot->digest;
	if (*is_new)
		*slot = (struct digest_slot){ digest, digests->n++ };
	return slot->number;
}

uint64_t digests_put(struct digests *digests, const struct text *text,
		     struct text *out)
{
	uint64_t digest = text_digest(text);
	bool is_new;

	(void)digests_number(digests, digest, &is_new);
	if (!is_new)
		return digest;
	text_string(out, "text ");
	text_hex(out, digest, DIGEST_DIGITS);
	text_add(out, "\n", 1);
	text_add(out, text->data, text->n);
	text_string(out, "end\n");
	return digest;
}
