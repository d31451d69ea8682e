// SPDX-License-Identifier: GPL-2.0-only
/*
 * queue.c - see queue.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "flash/live_format.h"
#include "workloads/micro/queue.h"
#include "workloads/micro/request.h"

#define PAGE_BYTES ((size_t)4096)
#define MEMORY_BYTES ((size_t)256 << 10)
#define ROOM_MAX ((size_t)64)
/* fadvise(), a copy, the transfer, fsync(), a copy. */
#define CALLS_EACH 5
/* The live page before and after each. */
#define PAGES_EACH 2

int queue_reserve(struct request_queue *queue, size_t request_bytes,
		  struct ffs_error *error)
{
	size_t each;

	memset(queue, 0, sizeof(*queue));
	/* It need not begin at the start of a page. */
	queue->buffer_bytes = (request_bytes / PAGE_BYTES + 2) * PAGE_BYTES;
	each = queue->buffer_bytes + PAGES_EACH * PAGE_BYTES;
	queue->room = MEMORY_BYTES / each;
	if (queue->room > ROOM_MAX)
		queue->room = ROOM_MAX;
	if (!queue->room)
		return 0;
	queue->requests = calloc(queue->room, sizeof(*queue->requests));
	queue->memory = aligned_alloc(PAGE_BYTES, queue->room * each);
	if (!queue->requests || !queue->memory) {
		queue_free(queue);
		return ffs_fail(error, ENOMEM, "no memory for requests");
	}
	memset(queue->memory, 1, queue->room * each);
	if (calls_reserve(&queue->calls, queue->room * CALLS_EACH, 0, error)) {
		queue_free(queue);
		return -1;
	}
	return 0;
}

void queue_free(struct request_queue *queue)
{
	calls_free(&queue->calls);
	free(queue->requests);
	free(queue->memory);
	memset(queue, 0, sizeof(*queue));
}

bool queue_is_used(const struct request_queue *queue)
{
	return queue->room && queue->calls.together;
}

/* Of request @i: the live page before (0) and after (1) it. */
static struct flashmon_live *page_of(const struct request_queue *queue,
				     size_t i, size_t after)
{
	return (void *)(queue->memory + (PAGES_EACH * i + after) * PAGE_BYTES);
}

/* As far into a page as the stream's own: what lies in one page should not lie
 * in two. */
static unsigned char *buffer_of(const struct request_queue *queue, size_t i,
				const struct stream *stream)
{
	return queue->memory + PAGES_EACH * queue->room * PAGE_BYTES +
	       i * queue->buffer_bytes + (uintptr_t)stream->buffer % PAGE_BYTES;
}

static void put_look(struct request_queue *queue,
		     const struct requester *requester, size_t after)
{
	if (requester->live->page)
		calls_copy(&queue->calls, 0, page_of(queue, queue->n, after),
			   requester->live->page, FLASHMON_LIVE_BYTES);
}

static void put_transfer(struct request_queue *queue,
			 const struct requester *requester,
			 const struct stream *stream, uint64_t index)
{
	unsigned char *buffer = buffer_of(queue, queue->n, stream);
	size_t bytes = stream->pattern.request_bytes;

	if (micro_reads(stream->pattern.kind))
		calls_pread(&queue->calls, 0, requester->fd, buffer, bytes,
			    stream->offset[index]);
	else
		calls_pwrite(&queue->calls, 0, requester->fd, buffer, bytes,
			     stream->offset[index]);
}

int queue_put(struct request_queue *queue, struct requester *requester,
	      struct stream *stream)
{
	struct queued_request *request = &queue->requests[queue->n];
	uint64_t index = stream->done + stream->put_off;

	request->stream = stream;
	if (!micro_reads(stream->pattern.kind))
		content_fill(&requester->written, stream->offset[index],
			     buffer_of(queue, queue->n, stream),
			     stream->pattern.request_bytes);
	else if (requester->params->cache == MICRO_CACHE_BYPASS)
		calls_fadvise(&queue->calls, 0, requester->fd,
			      POSIX_FADV_DONTNEED);
	put_look(queue, requester, 0);
	request->transfer = queue->calls.n;
	put_transfer(queue, requester, stream, index);
	if (request_is_synced(requester, stream, index))
		calls_fsync(&queue->calls, 0, requester->fd);
	request->last = queue->calls.n - 1;
	put_look(queue, requester, 1);
	stream->put_off++;
	queue->n++;
	return queue->n == queue->room ? queue_flush(queue, requester) : 0;
}

/* As the live page was then. */
static void look_again(const struct requester *requester,
		       const struct flashmon_live *page,
		       struct live_snapshot *snapshot)
{
	snapshot->n = 0;
	if (requester->live->page)
		live_decode(page, snapshot);
}

/* @done: calls that were made; @failed: the errno of the one behind them. */
static int note(struct request_queue *queue, struct requester *requester,
		size_t i, uint64_t start_ns, size_t done, int failed)
{
	const struct queued_request *request = &queue->requests[i];
	const struct call *call = queue->calls.queue;
	struct stream *stream = request->stream;
	struct request_outcome outcome = {
		.start_ns = request->transfer ?
				    call[request->transfer - 1].t_end_ns :
				    start_ns,
		.data = buffer_of(queue, i, stream),
	};
	size_t last = request->last;

	if (done <= last) {
		last = done;
		outcome.failed = failed;
	}
	outcome.end_ns = call[last].t_end_ns;
	look_again(requester, page_of(queue, i, 0), &requester->before);
	request_begins(requester);
	look_again(requester, page_of(queue, i, 1), &requester->after);
	return request_ended(requester, stream, &outcome);
}

int queue_flush(struct request_queue *queue, struct requester *requester)
{
	uint64_t start_ns = clock_now_ns();
	size_t done, i, n = queue->n;
	int failed, result = 0;

	if (!n)
		return 0;
	failed = calls_run(&queue->calls, &done);
	for (i = 0; i < n; i++)
		queue->requests[i].stream->put_off = 0;
	for (i = 0; i < n && !result; i++)
		result = note(queue, requester, i, start_ns, done, failed);
	queue->n = 0;
	calls_clear(&queue->calls);
	return result;
}
