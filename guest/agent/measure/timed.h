/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * timed.h - calls that are put off (core/calls.h), with the latencies of
 * requests and of whole operations.
 *
 * The end of one call begins the next: a request takes from there to its own
 * end, and an operation, of several calls, from the end of the one before to
 * the end of its last call.
 */
#ifndef FFSAGENT_TIMED_H
#define FFSAGENT_TIMED_H

#include "core/calls.h"
#include "measure/latency.h"

/* The tag of a call: whose latency it is, and which operation it completes. */
#define TIMED_PART 0u
#define TIMED_REQUEST(latency) (1u + (latency))
#define TIMED_WHOLE(latency) ((1u + (latency)) << 8)

struct timed_calls {
	struct calls calls;
	struct latency *latencies;	/* [LATENCY_OPS], the caller's */
	uint64_t bytes_read, bytes_written;
	uint64_t operations;		/* that are complete */
	uint64_t started, clock;	/* of the operation, of the last call */
	bool inside;			/* its first calls have been made */
};

/** timed_reserve() - as calls_reserve(). */
int timed_reserve(struct timed_calls *timed, size_t room, size_t text_bytes,
		  struct latency *latencies, struct ffs_error *error);
void timed_free(struct timed_calls *timed);

/* What failed: its errno, path, and the operation it was of. */
struct timed_failure {
	int errnum;
	const char *path;	/* "": of a file that was opened before */
	bool by_name;		/* the call itself was given the path */
	int whole;		/* enum latency_op; -1: not put off to its end */
};

/**
 * timed_run() - make the calls, and add up what they took.
 *
 * Return: 0, or -1 with @failure, whose path stays until the next call is put
 * off.
 */
int timed_run(struct timed_calls *timed, struct timed_failure *failure);

#endif
