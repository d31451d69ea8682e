// SPDX-License-Identifier: GPL-2.0-only
/*
 * change.c - the calls of a series between two power cuts: see slots.h.
 *
 * Each is synced or not; now and then all is.  Contents are synced by the file's
 * fsync(), names by that of the directory: a file that was not there needs both.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "history/contents.h"
#include "history/file.h"
#include "series/acts.h"
#include "series/slots.h"

#define CALLS_MIN 2
#define CALLS_MAX 8
/* Of so many cycles one syncs all, somewhere. */
#define SYNC_ONE_IN 4
#define SMALL_BYTES 2048

/* A call: what it changes, which bytes it writes, and whether it is synced. */
struct call_plan {
	struct slot *slot;
	int root;
	size_t start, end;
	bool synced;
};

/* Half of them small, for many are. */
static size_t some_bytes(struct rng *rng, size_t max)
{
	if (max > SMALL_BYTES && rng_below(rng, 2))
		max = SMALL_BYTES;
	return (size_t)rng_between(rng, 1, max);
}

static enum change choose(const struct slot *slot, struct rng *rng)
{
	static const enum change of_file[] = {
		CHANGE_REPLACE, CHANGE_OVERWRITE, CHANGE_APPEND,
		CHANGE_OVERWRITE, CHANGE_APPEND, CHANGE_SHORTEN, CHANGE_REMOVE,
	};
	enum change change;

	if (slot->directory)
		return slot->now.there ? CHANGE_REMOVE : CHANGE_MAKE;
	if (!slot->now.there)
		return rng_below(rng, 2) ? CHANGE_CREATE : CHANGE_REPLACE;
	change = of_file[rng_below(rng, sizeof(of_file) / sizeof(*of_file))];
	if (change == CHANGE_APPEND && slot->now.bytes == SLOT_BYTES_MAX)
		return CHANGE_SHORTEN;
	if (!slot->now.bytes &&
	    (change == CHANGE_OVERWRITE || change == CHANGE_SHORTEN))
		return CHANGE_APPEND;
	return change;
}

/* What is to be there, and which bytes of it are new. */
static void draw(struct call_plan *plan, struct rng *rng)
{
	struct slot *slot = plan->slot;
	struct body *now = &slot->now, *next = &slot->next;
	uint64_t seed = rng_next(rng);
	size_t bytes, start;

	next->there = slot->change != CHANGE_REMOVE;
	next->bytes = 0;
	if (slot->directory || !next->there)
		return;
	if (slot->change == CHANGE_CREATE || slot->change == CHANGE_REPLACE) {
		next->bytes = some_bytes(rng, SLOT_BYTES_MAX);
		contents_fill(seed, 0, next->data, next->bytes);
		plan->end = next->bytes;
		return;
	}
	memcpy(next->data, now->data, now->bytes);
	next->bytes = now->bytes;
	switch (slot->change) {
	case CHANGE_OVERWRITE:
		start = (size_t)rng_below(rng, now->bytes);
		bytes = some_bytes(rng, now->bytes - start);
		break;
	case CHANGE_APPEND:
		start = now->bytes;
		bytes = some_bytes(rng, SLOT_BYTES_MAX - start);
		next->bytes += bytes;
		break;
	default:
		next->bytes = (size_t)rng_below(rng, now->bytes);
		start = next->bytes;
		bytes = 0;
		break;
	}
	contents_fill(seed, start, next->data + start, bytes);
	plan->start = start;
	plan->end = start + bytes;
}

static int write_file(const struct call_plan *plan, const char *name, int flags,
		      bool synced)
{
	const struct slot *slot = plan->slot;
	int fd = openat(plan->root, name, O_WRONLY | O_CLOEXEC | flags, 0644);
	int failed = 0;

	if (fd < 0)
		return errno;
	if (slot->change == CHANGE_SHORTEN)
		failed = ftruncate(fd, (off_t)slot->next.bytes) ? errno : 0;
	else
		failed = write_all(fd, slot->next.data + plan->start,
				   plan->end - plan->start, plan->start);
	if (!failed && synced && fsync(fd))
		failed = errno;
	return close_after(fd, failed);
}

static int replace(const struct call_plan *plan)
{
	int failed = write_file(plan, SLOT_NEW, O_CREAT | O_TRUNC, true);

	if (failed)
		return failed;
	return renameat(plan->root, SLOT_NEW, plan->root, plan->slot->name) ?
		       errno : 0;
}

/* Of what is doubtful nobody knows which it is. */
static int remove_name(int root, const struct slot *slot)
{
	int flags = slot->directory ? AT_REMOVEDIR : 0;

	if (!unlinkat(root, slot->name, flags))
		return 0;
	if (errno != EISDIR && errno != ENOTDIR)
		return errno;
	return unlinkat(root, slot->name, flags ^ AT_REMOVEDIR) ? errno : 0;
}

static int make_call(const struct call_plan *plan)
{
	const struct slot *slot = plan->slot;

	switch (slot->change) {
	case CHANGE_CREATE:
		return write_file(plan, slot->name, O_CREAT | O_EXCL,
				  plan->synced);
	case CHANGE_REPLACE:
		return replace(plan);
	case CHANGE_REMOVE:
		return remove_name(plan->root, slot);
	case CHANGE_MAKE:
		return mkdirat(plan->root, slot->name, 0755) ? errno : 0;
	default:
		return write_file(plan, slot->name, 0, plan->synced);
	}
}

static bool changes_names(enum change change)
{
	return change == CHANGE_CREATE || change == CHANGE_REPLACE ||
	       change == CHANGE_REMOVE || change == CHANGE_MAKE;
}

/* The slot's call has been drawn. */
static int change_one(struct slots *slots, const struct call_plan *plan,
		      const struct chip *chip, struct failure *failure,
		      struct ffs_error *error)
{
	struct slot *slot = plan->slot;
	int failed;

	if (chip_logged(chip, &slot->first, error))
		return -1;
	failed = make_call(plan);
	if (!failed && plan->synced && changes_names(slot->change) &&
	    fsync(plan->root))
		failed = errno;
	if (chip_logged(chip, &slot->last, error))
		return -1;
	slot->failed = failed;
	slot->durable = NEVER;
	if (failed)
		failure_note(failure, slot->name, failed);
	else if (plan->synced || slots->returned_is_durable)
		slot->durable = slot->last;
	return 0;
}

/* All that has been called before is durable from here on. */
static int sync_all(struct slots *slots, int root, const struct chip *chip,
		    struct failure *failure, struct ffs_error *error)
{
	uint64_t operations = 0;
	size_t i;
	int failed = syncfs(root) ? errno : 0;

	if (failed)
		failure_note(failure, "sync", failed);
	if (chip_logged(chip, &operations, error))
		return -1;
	for (i = 0; i < SLOTS && !failed; i++) {
		struct slot *slot = &slots->slot[i];

		if (slot->change != CHANGE_NONE && !slot->failed &&
		    slot->durable == NEVER)
			slot->durable = operations;
	}
	if (slots->acts && !failed)
		moves_synced(&slots->acts->moves, operations);
	return 0;
}

/* What is doubtful goes, and is known then. */
static int remove_doubtful(struct slots *slots, int root,
			   const struct chip *chip, struct failure *failure,
			   struct ffs_error *error)
{
	size_t i;

	for (i = 0; i < SLOTS; i++) {
		struct call_plan plan = { &slots->slot[i], root, 0, 0, true };

		slots->slot[i].change = CHANGE_NONE;
		if (!plan.slot->doubtful)
			continue;
		plan.slot->change = CHANGE_REMOVE;
		plan.slot->next.there = false;
		plan.slot->next.bytes = 0;
		if (change_one(slots, &plan, chip, failure, error))
			return -1;
		/* That it is gone already is as well. */
		if (plan.slot->failed && *failure->name &&
		    failure->name == plan.slot->name &&
		    failure->errnum == ENOENT)
			failure->name = "";
	}
	return 0;
}

int slots_change(struct slots *slots, int root, struct rng *rng,
		 const struct chip *chip, struct failure *failure,
		 struct ffs_error *error)
{
	uint64_t calls = rng_between(rng, CALLS_MIN, CALLS_MAX), i;
	uint64_t sync = rng_below(rng, SYNC_ONE_IN * calls);
	const struct move_calls others = {
		.root = root, .rng = rng, .chip = chip, .failure = failure,
		.error = error,
	};

	failure->name = "";
	/* It may be another name of a slot. */
	if (unlinkat(root, SLOT_NEW, 0) && errno != ENOENT)
		failure_note(failure, SLOT_NEW, errno);
	if (remove_doubtful(slots, root, chip, failure, error) ||
	    (slots->acts && acts_begin(slots->acts, &others, calls)))
		return -1;
	for (i = 0; i < calls; i++) {
		struct call_plan plan = {
			.slot = &slots->slot[rng_below(rng, SLOTS)],
			.root = root,
			.synced = rng_below(rng, 2),
		};

		if (slots->acts && acts_turns(slots->acts, i)) {
			if (sync_all(slots, root, chip, failure, error))
				return -1;
			acts_turn_over(slots->acts);
		}
		if (slots->acts && acts_between(slots->acts))
			return -1;
		if (plan.slot->change != CHANGE_NONE)
			continue;
		plan.slot->change = choose(plan.slot, rng);
		draw(&plan, rng);
		if (change_one(slots, &plan, chip, failure, error))
			return -1;
		if (i == sync &&
		    sync_all(slots, root, chip, failure, error))
			return -1;
	}
	return 0;
}
