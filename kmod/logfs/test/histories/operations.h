/* SPDX-License-Identifier: GPL-2.0-only */
/* What a history does to a mount, and to the model at the same time: operations.c. */
#ifndef LOGFS_TEST_OPERATIONS_H
#define LOGFS_TEST_OPERATIONS_H

#include "../../core/device.h"
#include "chip.h"
#include "model.h"

/**
 * struct history - a mount with its model
 * @chip: below it
 * @dev: NULL: it is not mounted
 * @model: of the tree
 * @random: decides what happens
 * @blocks: that files have at most
 * @compress: files are
 * @no_commits: none is asked for by operate()
 * @may_end: the chip may fail for good, as when it is worn out
 * @has_ended: it has
 * @next_seed: of blocks
 * @directories: inodes
 * @refused: operations for which there was no room
 */
struct history {
	struct chip chip;
	struct logfs_device *dev;
	struct model model;
	u64 random;
	u32 blocks;
	bool compress;
	bool no_commits;
	bool may_end;
	bool has_ended;
	u32 next_seed;
	u64 directories[MODEL_DIRECTORIES];
	u32 refused;
};

/* Each ends early if the chip is switched off, or if the history may end and has. */
void make_directories(struct history *h);
void operate(struct history *h);
void commit(struct history *h);
static inline bool is_over(const struct history *h)
{
	return h->chip.is_off || h->has_ended;
}

/* The sum of what is there, and that nothing is behind ends of files. With the lock. */
u64 sum_of_mount(struct history *h);

void judge_history(bool good, const char *what, long value);

#endif
