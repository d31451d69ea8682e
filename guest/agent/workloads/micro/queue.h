/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * queue.h - requests of the micro-benchmark that are put off (core/calls.h).
 *
 * Between two of them the live page is copied by the queue itself, in no time,
 * as the process would have looked at it.
 */
#ifndef FFSAGENT_MICRO_QUEUE_H
#define FFSAGENT_MICRO_QUEUE_H

#include "core/calls.h"
#include "core/error.h"
#include "flash/live.h"

struct requester;
struct stream;

/* A request that was put off, by the numbers of its calls. */
struct queued_request {
	struct stream *stream;
	uint64_t index;
	size_t transfer, last;	/* the last of which counts: transfer or fsync */
};

struct request_queue {
	struct calls calls;
	struct queued_request *requests;	/* [room] */
	size_t n, room;
	unsigned char *memory;		/* pages and buffers of the requests */
	size_t buffer_bytes;		/* of one request, whole pages */
};

/**
 * queue_reserve() - allocate and touch the memory.
 * @request_bytes: the longest request.
 */
int queue_reserve(struct request_queue *queue, size_t request_bytes,
		  struct ffs_error *error);
void queue_free(struct request_queue *queue);

/** queue_is_used() - whether requests are to be put off at all. */
bool queue_is_used(const struct request_queue *queue);

/**
 * queue_put() - put off the next request of @stream; makes all if there is no
 * room for another one.
 *
 * Return: 0, or -1 when a stream is over before its last request.
 */
int queue_put(struct request_queue *queue, struct requester *requester,
	      struct stream *stream);

/** queue_flush() - make all that were put off; returns the same. */
int queue_flush(struct request_queue *queue, struct requester *requester);

#endif
