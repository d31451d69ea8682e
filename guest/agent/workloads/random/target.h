/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * target.h - the file that an operation is about: one that is open already,
 * or one that is opened by a name of its own for this operation.
 */
#ifndef RANDOM_TARGET_H
#define RANDOM_TARGET_H

#include "workloads/random/history.h"

struct target {
	struct node *node;
	struct handle *handle;	/* NULL: opened for this operation */
	struct entry *entry;	/* NULL: one that was open */
	int fd;
	char path[PATH_BYTES];
};

/** target_pick() - Return: false if there is no file. */
bool target_pick(struct history *h, struct target *target, int flags);
void target_done(struct history *h, struct target *target);

/** target_name() - the file's path for messages. */
const char *target_name(struct history *h, const struct target *target);

#endif
