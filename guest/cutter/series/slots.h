/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slots.h - what a series of power cuts writes: a fixed set of names, each of
 * which is changed by at most one call between two cuts.
 *
 * So a name has two bodies: the one that was there when the file system was
 * mounted, and the one that the call makes; and where the chip's log stood tells
 * which of them must be there after a cut.
 */
#ifndef FFSCRASH_SLOTS_H
#define FFSCRASH_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chip/chip.h"
#include "core/error.h"
#include "core/random.h"
#include "series/told.h"
#include "text/text.h"

#define SLOT_FILES 24
#define SLOT_DIRECTORIES 4
#define SLOTS (SLOT_FILES + SLOT_DIRECTORIES)
#define SLOT_BYTES_MAX ((size_t)24 << 10)
#define SLOT_NAME_BYTES 8
/* What a file is written as before it takes a name. */
#define SLOT_NEW "new"

enum change {
	CHANGE_NONE,
	CHANGE_CREATE,		/* a file that was not there */
	CHANGE_REPLACE,		/* by renaming a synced one */
	CHANGE_REMOVE,
	CHANGE_OVERWRITE,	/* within the file */
	CHANGE_APPEND,
	CHANGE_SHORTEN,
	CHANGE_MAKE,		/* a directory */
};

/* Contents of a file; @data has room for SLOT_BYTES_MAX. */
struct body {
	bool there;
	size_t bytes;
	unsigned char *data;
};

#define NEVER UINT64_MAX

/**
 * struct slot - a name and what may be under it
 * @now: what was there when it was mounted
 * @next: what @change makes of it
 * @first, @last: operations that the chip had logged before the call, and after
 * @durable: that many had to be logged for it to survive; NEVER
 * @failed: the call did, so either or anything between may be there
 * @doubtful: nothing is known of what is there
 */
struct slot {
	char name[SLOT_NAME_BYTES];
	bool directory;
	struct body now, next;
	enum change change;
	uint64_t first, last, durable;
	bool failed;
	bool doubtful;
};

struct acts;

/* @acts: what is done beside their calls, or NULL. */
struct slots {
	struct slot slot[SLOTS];
	unsigned char *memory;
	bool returned_is_durable;
	struct acts *acts;
};

int slots_reserve(struct slots *slots, struct ffs_error *error);
void slots_free(struct slots *slots);

/** slots_clear() - nothing is there. */
void slots_clear(struct slots *slots);

/**
 * slots_change() - some calls, as @rng has it, below the directory @root.
 * @chip: logs what they do to the flash.
 *
 * What is doubtful is removed first.  Return: 0, or -1 if the chip's state cannot
 * be read.
 */
int slots_change(struct slots *slots, int root, struct rng *rng,
		 const struct chip *chip, struct failure *failure,
		 struct ffs_error *error);

/**
 * slots_tell() - a line "call NAME WHAT before= after= first= last= durable=" for
 * each call since the last mount; the first two are sizes.
 */
void slots_tell(const struct slots *slots, struct text *out);

/** change_name() - one word. */
const char *change_name(enum change change);

/** slots_remove() - all names, durably. Return: 0 or an errno. */
int slots_remove(struct slots *slots, int root);

#endif
