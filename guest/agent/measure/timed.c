// SPDX-License-Identifier: GPL-2.0-only
/*
 * timed.c - see timed.h.
 */
#include <string.h>

#include "core/clock.h"
#include "measure/timed.h"

int timed_reserve(struct timed_calls *timed, size_t room, size_t text_bytes,
		  struct latency *latencies, struct ffs_error *error)
{
	memset(timed, 0, sizeof(*timed));
	timed->latencies = latencies;
	return calls_reserve(&timed->calls, room, text_bytes, error);
}

void timed_free(struct timed_calls *timed)
{
	calls_free(&timed->calls);
}

/* Of a tag, as enum latency_op, or -1. */
static int request_of(uint32_t tag)
{
	return (int)(tag & 0xff) - 1;
}

static int whole_of(uint32_t tag)
{
	return (int)(tag >> 8) - 1;
}

static void account(struct timed_calls *timed, size_t index)
{
	const struct call *call = &timed->calls.queue[index];
	int request = request_of(timed->calls.tags[index]);
	int whole = whole_of(timed->calls.tags[index]);

	if (request == LATENCY_REQUEST_READ)
		timed->bytes_read += (uint64_t)call->result;
	if (request == LATENCY_REQUEST_WRITE)
		timed->bytes_written += (uint64_t)call->result;
	if (request >= 0)
		latency_add_at(&timed->latencies[request], timed->clock,
			       call->t_end_ns);
	timed->clock = call->t_end_ns;
	if (whole < 0)
		return;
	latency_add_at(&timed->latencies[whole], timed->started, timed->clock);
	timed->operations++;
	timed->started = timed->clock;
}

static void explain(const struct timed_calls *timed, size_t failed_at,
		    struct timed_failure *failure)
{
	size_t i;

	failure->path = calls_path(&timed->calls, failed_at);
	failure->by_name = calls_is_by_name(&timed->calls, failed_at);
	failure->whole = -1;
	for (i = failed_at; i < timed->calls.n && failure->whole < 0; i++)
		failure->whole = whole_of(timed->calls.tags[i]);
}

int timed_run(struct timed_calls *timed, struct timed_failure *failure)
{
	struct calls *calls = &timed->calls;
	size_t done, i;

	if (!calls->n)
		return 0;
	/* What the caller did since is in the operation, but in no request. */
	timed->clock = clock_now_ns();
	if (!timed->inside)
		timed->started = timed->clock;
	failure->errnum = calls_run(calls, &done);
	for (i = 0; i < done; i++)
		account(timed, i);
	if (failure->errnum)
		explain(timed, done, failure);
	timed->inside = !failure->errnum &&
			whole_of(calls->tags[calls->n - 1]) < 0;
	calls_clear(calls);
	return failure->errnum ? -1 : 0;
}
