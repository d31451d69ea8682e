// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_slots.c - what a series of power cuts writes, and what it takes for wrong,
 * in a directory of the host.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "series/check.h"

void test_slots(void);

#define OPERATIONS 50	/* of the chip's log, always */
#define ROUNDS 300

struct place {
	char path[64];
	int root;
	struct slots slots;
	struct checker checker;
	struct chip chip;
	struct text out;
};

/* An empty directory, and a file that says what a chip's would. */
static void open_place(struct place *place)
{
	static const char state[] = "state logging\noperations 50\n";
	char chip[] = "/tmp/ffscrash-chip-XXXXXX";

	memset(place, 0, sizeof(*place));
	strcpy(place->path, "/tmp/ffscrash-slots-XXXXXX");
	CHECK(mkdtemp(place->path) != NULL);
	place->root = open(place->path, O_RDONLY | O_DIRECTORY);
	place->chip.standing = mkstemp(chip);
	CHECK(unlink(chip) == 0);
	CHECK(write(place->chip.standing, state, strlen(state)) > 0);
	CHECK(slots_reserve(&place->slots, NULL) == 0);
}

static void close_place(struct place *place)
{
	CHECK(slots_remove(&place->slots, place->root) == 0);
	CHECK(rmdir(place->path) == 0);
	close(place->root);
	close(place->chip.standing);
	slots_free(&place->slots);
	text_free(&place->out);
}

static unsigned int found(struct place *place, uint64_t operations, bool torn)
{
	struct cut_made cut = { 7, operations, torn, false };

	text_clear(&place->out);
	return slots_check(&place->slots, &place->checker, place->root, &cut,
			   &place->out);
}

/* Whether the only thing that is wrong is this. */
static bool says(const struct place *place, const char *outcome)
{
	char line[64];

	snprintf(line, sizeof(line), "wrong 7 %s f00", outcome);
	return place->out.n > strlen(line) &&
	       !memcmp(place->out.data, line, strlen(line)) &&
	       memchr(place->out.data, '\n', place->out.n) ==
		       place->out.data + place->out.n - 1;
}

static void put_file(struct place *place, const char *name, const void *data,
		     size_t bytes)
{
	int fd = openat(place->root, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	CHECK(fd >= 0);
	CHECK(write(fd, data, bytes) == (ssize_t)bytes);
	close(fd);
}

static void set_body(struct body *body, int there, size_t bytes, int byte)
{
	body->there = there;
	body->bytes = bytes;
	memset(body->data, byte, bytes);
}

/* The first slot: 2000 times 'a', then by a call from 10 to 20 so many 'b'. */
static struct slot *begin(struct place *place, enum change change, size_t bytes,
			  uint64_t durable)
{
	struct slot *slot = &place->slots.slot[0];

	slots_clear(&place->slots);
	set_body(&slot->now, change != CHANGE_CREATE, 2000, 'a');
	if (change == CHANGE_CREATE)
		slot->now.bytes = 0;
	set_body(&slot->next, change != CHANGE_REMOVE, bytes, 'b');
	slot->change = change;
	slot->first = 10;
	slot->last = 20;
	slot->durable = durable;
	return slot;
}

/* --- calls ------------------------------------------------------------------ */

/* The directory always has what the calls made. */
static void calls_are_known(void)
{
	struct place place;
	struct rng rng;
	struct failure failure;
	unsigned int round, changed = 0, early = 0;
	size_t i;

	open_place(&place);
	CHECK(found(&place, 0, false) == 0);
	for (round = 0; round < ROUNDS; round++) {
		rng_seed(&rng, round);
		CHECK(slots_change(&place.slots, place.root, &rng, &place.chip,
				   &failure, NULL) == 0);
		CHECK(!*failure.name);
		for (i = 0; i < SLOTS; i++)
			changed += place.slots.slot[i].change != CHANGE_NONE;
		/* Before the calls nothing of this may be there. */
		if (round % 2)
			early += found(&place, OPERATIONS - 1, false) > 0;
		else
			CHECK(found(&place, OPERATIONS, false) == 0);
	}
	CHECK(changed > 4 * ROUNDS);
	CHECK(early == ROUNDS / 2);
	close_place(&place);
}

static void same_seed_same_calls(void)
{
	struct place one, other;
	struct failure failure;
	struct rng rng;
	size_t i;

	open_place(&one);
	open_place(&other);
	rng_seed(&rng, 5);
	slots_change(&one.slots, one.root, &rng, &one.chip, &failure, NULL);
	rng_seed(&rng, 5);
	slots_change(&other.slots, other.root, &rng, &other.chip, &failure, NULL);
	for (i = 0; i < SLOTS; i++) {
		const struct body *a = &one.slots.slot[i].next;
		const struct body *b = &other.slots.slot[i].next;

		CHECK(one.slots.slot[i].change == other.slots.slot[i].change);
		CHECK(a->bytes == b->bytes && !memcmp(a->data, b->data, a->bytes));
	}
	close_place(&one);
	close_place(&other);
}

static void told_calls(void)
{
	struct place place;
	struct text out = { 0 };
	static const char line[] =
		"call f00 append before=2000 after=2100 first=10 last=20 durable=-\n";

	open_place(&place);
	begin(&place, CHANGE_APPEND, 2100, NEVER);
	slots_tell(&place.slots, &out);
	CHECK(out.n == strlen(line) && !memcmp(out.data, line, out.n));
	text_free(&out);
	close_place(&place);
}

/* --- what may be there ------------------------------------------------------- */

static void old_and_new(void)
{
	unsigned char data[2000];
	struct place place;

	open_place(&place);
	memset(data, 'a', sizeof(data));
	put_file(&place, "f00", data, sizeof(data));
	begin(&place, CHANGE_OVERWRITE, 2000, NEVER);
	CHECK(found(&place, 9, false) == 0);
	begin(&place, CHANGE_OVERWRITE, 2000, 20);
	CHECK(found(&place, 19, false) == 0);
	begin(&place, CHANGE_OVERWRITE, 2000, 20);
	CHECK(found(&place, 20, false) == 1 && says(&place, "stale-data"));
	memset(data, 'b', 700);
	put_file(&place, "f00", data, sizeof(data));
	begin(&place, CHANGE_OVERWRITE, 2000, NEVER);
	CHECK(found(&place, 10, false) == 0);
	begin(&place, CHANGE_OVERWRITE, 2000, NEVER);
	CHECK(found(&place, 9, false) == 1 && says(&place, "corrupt-contents"));
	/* Renaming is all or nothing. */
	begin(&place, CHANGE_REPLACE, 2000, NEVER);
	CHECK(found(&place, 10, false) == 1 && says(&place, "corrupt-contents"));
	/* In one sector the new may begin or end once. */
	memset(data + 100, 'a', 100);
	put_file(&place, "f00", data, sizeof(data));
	begin(&place, CHANGE_OVERWRITE, 2000, NEVER);
	CHECK(found(&place, 10, false) == 1);
	close_place(&place);
}

static void sizes(void)
{
	unsigned char data[3000];
	struct place place;

	open_place(&place);
	memset(data, 'a', 2000);
	memset(data + 2000, 0, 1000);
	put_file(&place, "f00", data, 2600);
	begin(&place, CHANGE_APPEND, 3000, NEVER);
	memset(place.slots.slot[0].next.data, 'a', 2000);
	/* Zeros are a hole. */
	CHECK(found(&place, 15, false) == 0);
	begin(&place, CHANGE_APPEND, 2500, NEVER);
	CHECK(found(&place, 15, false) == 1);
	put_file(&place, "f00", data, 1500);
	begin(&place, CHANGE_APPEND, 3000, NEVER);
	CHECK(found(&place, 15, false) == 1);
	begin(&place, CHANGE_APPEND, 2000, 20);
	memset(place.slots.slot[0].next.data, 'a', 2000);
	CHECK(found(&place, 30, false) == 1 && says(&place, "synced-data-lost"));
	close_place(&place);
}

static void names(void)
{
	struct place place;

	open_place(&place);
	begin(&place, CHANGE_CREATE, 100, NEVER);
	CHECK(found(&place, 15, false) == 0);
	begin(&place, CHANGE_CREATE, 100, 20);
	CHECK(found(&place, 20, false) == 1 && says(&place, "name-lost"));
	put_file(&place, "f00", "", 0);
	begin(&place, CHANGE_REMOVE, 0, 20);
	CHECK(found(&place, 20, false) == 1 && says(&place, "name-kept"));
	CHECK(unlinkat(place.root, "f00", 0) == 0);
	CHECK(mkdirat(place.root, "f00", 0755) == 0);
	begin(&place, CHANGE_CREATE, 100, NEVER);
	CHECK(found(&place, 15, false) == 1 && says(&place, "wrong-kind"));
	/* From now on nothing is known of it, until it has been removed. */
	CHECK(place.slots.slot[0].doubtful);
	CHECK(found(&place, 15, false) == 0);
	CHECK(unlinkat(place.root, "f00", AT_REMOVEDIR) == 0);
	CHECK(found(&place, 15, false) == 0);
	CHECK(!place.slots.slot[0].doubtful);
	close_place(&place);
}

static void links(void)
{
	struct place place;

	open_place(&place);
	put_file(&place, "f00", "", 0);
	CHECK(linkat(place.root, "f00", place.root, SLOT_NEW, 0) == 0);
	begin(&place, CHANGE_CREATE, 0, NEVER);
	CHECK(found(&place, 15, false) == 1 && says(&place, "bad-links"));
	place.checker.two_names = true;
	begin(&place, CHANGE_CREATE, 0, NEVER);
	CHECK(found(&place, 15, false) == 0 && !place.slots.slot[0].doubtful);
	close_place(&place);
}

static void strays(void)
{
	static const char line[] = "wrong 7 unknown-name obj257\n";
	struct place place;

	open_place(&place);
	put_file(&place, "obj257", "", 0);
	CHECK(found(&place, 0, false) == 1);
	CHECK(place.out.n == strlen(line) &&
	      !memcmp(place.out.data, line, strlen(line)));
	/* It is taken away, and a cut that brings it back is no other finding. */
	CHECK(faccessat(place.root, "obj257", F_OK, 0) != 0);
	put_file(&place, "obj257", "", 0);
	CHECK(found(&place, 0, false) == 0);
	CHECK(mkdirat(place.root, "own", 0755) == 0);
	place.checker.own_name = "own";
	CHECK(found(&place, 0, false) == 0);
	CHECK(unlinkat(place.root, "own", AT_REMOVEDIR) == 0);
	close_place(&place);
}

void test_slots(void)
{
	calls_are_known();
	same_seed_same_calls();
	told_calls();
	old_and_new();
	sizes();
	names();
	links();
	strays();
}
