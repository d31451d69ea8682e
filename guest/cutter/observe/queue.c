// SPDX-License-Identifier: GPL-2.0-only
/*
 * queue.c - see queue.h.
 */
#include <string.h>

#include "observe/queue.h"

/* The first @n calls have been looked at. */
static void drop(struct calls *calls, size_t n)
{
	size_t left = calls->n - n;

	memmove(calls->queue, calls->queue + n, left * sizeof(*calls->queue));
	memmove(calls->tags, calls->tags + n, left * sizeof(*calls->tags));
	memmove(calls->asked, calls->asked + n, left * sizeof(*calls->asked));
	calls->n = left;
}

void queue_run(struct calls *calls,
	       void (*ended)(void *context, size_t thing, uint32_t step,
			     int64_t result),
	       void *context)
{
	while (calls->n) {
		size_t done, i, thing;
		int failed = calls_run(calls, &done);

		for (i = 0; i < done; i++)
			ended(context, calls->tags[i] / QUEUE_STEPS,
			      calls->tags[i] % QUEUE_STEPS,
			      calls->queue[i].result);
		if (!failed)
			break;
		thing = calls->tags[done] / QUEUE_STEPS;
		ended(context, thing, calls->tags[done] % QUEUE_STEPS,
		      -failed);
		while (done < calls->n &&
		       calls->tags[done] / QUEUE_STEPS == thing)
			done++;
		drop(calls, done);
	}
	calls_clear(calls);
}

void queue_pread(struct calls *calls, uint32_t tag, int fd, void *data,
		 size_t bytes, uint64_t offset)
{
	calls_pread(calls, tag, fd, data, bytes, offset);
	/* Without the mark that all bytes are wanted. */
	calls->queue[calls->n - 1].flags = 0;
}
