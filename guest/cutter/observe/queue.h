/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * queue.h - queued system calls of which some may fail, on the agent's calls.h.
 *
 * A queue ends at the first call that fails, which suits a workload.  A check of
 * a damaged file system goes on: what is put off here belongs to things, numbered
 * by the caller, and if a call fails, only the further ones of the same thing are
 * not made.
 */
#ifndef FFSCRASH_QUEUE_H
#define FFSCRASH_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "core/calls.h"
#include "core/error.h"

/* The tag of a call: which thing, and which of its calls. */
#define QUEUE_STEPS 8u

static inline uint32_t queue_tag(size_t thing, uint32_t step)
{
	return (uint32_t)thing * QUEUE_STEPS + step;
}

/**
 * queue_run() - make all calls, and tell @ended what became of each.
 * @ended: gets the result, negative errno if the call failed.
 *
 * The queue is empty afterwards.
 */
void queue_run(struct calls *calls,
	       void (*ended)(void *context, size_t thing, uint32_t step,
			     int64_t result),
	       void *context);

/** queue_pread() - put off one pread(); fewer bytes are no failure. */
void queue_pread(struct calls *calls, uint32_t tag, int fd, void *data,
		 size_t bytes, uint64_t offset);

#endif
