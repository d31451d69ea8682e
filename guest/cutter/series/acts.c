// SPDX-License-Identifier: GPL-2.0-only
/*
 * acts.c - see acts.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include "history/file.h"
#include "series/acts.h"
#include "series/blocks.h"

#define CACHES_ONE_IN 4		/* calls */
#define TURN_ONE_IN 32		/* cycles */
#define TURN_NAME "turn"
#define TURN_FILES 8u		/* there at a time */
#define TURN_BYTES 12000u	/* of a file */
#define TURN_SYNC_EVERY 2u
#define TURN_LOOK_EVERY 64u
#define TURN_REST_NS 10000000	/* then, for what is done in the background */
#define TURN_FLASHES 3u		/* written at most */

bool acts_take(struct acts *acts, const char *name, size_t bytes)
{
	const struct {
		const char *name;
		bool *one, *other;
	} known[] = {
		{ "moves", &acts->moving, NULL },
		{ "over-emptied", &acts->moving, &acts->moves.over_emptied },
		{ "drop-caches", &acts->drop_caches, NULL },
		{ "turn-over", &acts->turn_over, NULL },
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (strlen(known[i].name) != bytes ||
		    strncmp(known[i].name, name, bytes))
			continue;
		*known[i].one = true;
		if (known[i].other)
			*known[i].other = true;
		return true;
	}
	return false;
}

/* --- caches ------------------------------------------------------------------ */

static void drop_caches(struct acts *acts)
{
	int fd, failed;

	if (!acts->drop_caches || rng_below(&acts->rng, CACHES_ONE_IN))
		return;
	fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
	failed = fd < 0 ? errno : write(fd, "3", 1) == 1 ? 0 : errno;
	if (fd >= 0)
		failed = close_after(fd, failed);
	if (failed)
		failure_note(acts->calls.failure, "drop-caches", failed);
}

static void between_moves(struct move_calls *calls)
{
	drop_caches((struct acts *)((char *)calls -
				    offsetof(struct acts, calls)));
}

/* --- turning over ---------------------------------------------------------------- */

static void turn_name(uint64_t number, char name[SLOT_NAME_BYTES])
{
	snprintf(name, SLOT_NAME_BYTES, TURN_NAME "%u",
		 (unsigned int)(number % TURN_FILES));
}

static int remove_turned(int root)
{
	char name[SLOT_NAME_BYTES];
	unsigned int i;

	for (i = 0; i < TURN_FILES; i++) {
		turn_name(i, name);
		if (unlinkat(root, name, 0) && errno != ENOENT)
			return errno;
	}
	return 0;
}

static int write_one(struct acts *acts, uint64_t number)
{
	unsigned char data[TURN_BYTES];
	char name[SLOT_NAME_BYTES];
	int root = acts->calls.root, failed, fd;

	turn_name(number, name);
	if (unlinkat(root, name, 0) && errno != ENOENT)
		return errno;
	rng_fill(&acts->rng, data, sizeof(data));
	fd = openat(root, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return errno;
	failed = write_all(fd, data, sizeof(data), 0);
	if (!failed && number % TURN_SYNC_EVERY == 0 && fsync(fd))
		failed = errno;
	return close_after(fd, failed);
}

/* Blocks that never were erased are of no partition that anybody uses. */
static void count_erased(struct acts *acts, const struct blocks *before,
			 const struct blocks *now)
{
	size_t i;

	acts->turned.blocks = 0;
	acts->turned.erased = 0;
	for (i = 0; i < before->n; i++) {
		if (!before->block[i].erases || before->block[i].bad)
			continue;
		acts->turned.blocks++;
		acts->turned.erased += now->block[i].erases >
				       before->block[i].erases;
	}
}

static bool is_turned(struct acts *acts, const struct blocks *before,
		      int *failed)
{
	const struct timespec rest = { 0, TURN_REST_NS };
	static struct blocks now;

	nanosleep(&rest, NULL);
	*failed = blocks_read(acts->chip_name, &now);
	if (*failed)
		return false;
	count_erased(acts, before, &now);
	return acts->turned.erased == acts->turned.blocks;
}

static int turn(struct acts *acts)
{
	static struct blocks before;
	int root = acts->calls.root, failed;
	struct statfs space;
	uint64_t number, files;

	if (fstatfs(root, &space))
		return errno;
	failed = blocks_read(acts->chip_name, &before);
	files = TURN_FLASHES * (uint64_t)space.f_blocks *
		(uint64_t)space.f_bsize / TURN_BYTES;
	for (number = 0; number < files && !failed; number++) {
		failed = write_one(acts, number);
		acts->turned.bytes += TURN_BYTES;
		if (!failed && number % TURN_LOOK_EVERY == 0 &&
		    is_turned(acts, &before, &failed))
			break;
	}
	if (!failed)
		failed = remove_turned(root);
	return failed || !syncfs(root) ? failed : errno;
}

void acts_turn_over(struct acts *acts)
{
	int failed = turn(acts);

	if (failed)
		failure_note(acts->calls.failure, "turn-over", failed);
}

/* --- all ------------------------------------------------------------------------- */

int acts_begin(struct acts *acts, const struct move_calls *calls,
	       uint64_t calls_n)
{
	int failed;

	acts->calls = *calls;
	rng_seed(&acts->rng, rng_next(calls->rng));
	acts->calls.rng = &acts->rng;
	acts->calls.moves = &acts->moves;
	acts->calls.between = between_moves;
	acts->turn_at = rng_below(&acts->rng, TURN_ONE_IN * calls_n);
	acts->turned.bytes = 0;
	failed = acts->turn_over ? remove_turned(calls->root) : 0;
	if (failed)
		failure_note(calls->failure, TURN_NAME, failed);
	return acts->moving ? moves_begin(&acts->calls) : 0;
}

bool acts_turns(const struct acts *acts, uint64_t number)
{
	return acts->turn_over && number == acts->turn_at;
}

int acts_between(struct acts *acts)
{
	drop_caches(acts);
	if (!acts->moving || rng_below(&acts->rng, 2))
		return 0;
	return moves_change(&acts->calls);
}

bool acts_owns(const struct acts *acts, const char *name)
{
	return (acts->moving && tree_find_name(name) < TREE_NAMES) ||
	       (acts->turn_over &&
		!strncmp(name, TURN_NAME, strlen(TURN_NAME)));
}

int acts_remove(const struct acts *acts, int root)
{
	int failed = acts->turn_over ? remove_turned(root) : 0;
	int moved = acts->moving ? moves_remove(root) : 0;

	return failed || acts->moves.twice ? failed : moved;
}
