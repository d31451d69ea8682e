// SPDX-License-Identifier: GPL-2.0-only
/*
 * worker.c - see worker.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/calls.h"
#include "core/clock.h"
#include "core/content.h"
#include "flash/live_format.h"
#include "workloads/tiobench/worker.h"

#define PAGE_BYTES ((size_t)4096)
#define MEMORY_BYTES ((size_t)512 << 10)
#define ROOM_MAX ((size_t)128)

struct tio_queue {
	struct calls calls;
	bool copies;		/* the queue itself looks at the live page */
	size_t n, room;
	unsigned char *memory;	/* [room + 1] live pages, [room] buffers */
	size_t buffer_bytes;	/* of one request, whole pages */
	uint64_t offsets[ROOM_MAX];
	size_t transfers[ROOM_MAX];	/* numbers of their calls */
	struct content_source source;
	struct content written, readable[2];
};

/* --- memory -------------------------------------------------------------- */

struct tio_queue *tio_queue_new(const struct tio_params *params, bool alone,
				struct ffs_error *error)
{
	struct tio_queue *queue = calloc(1, sizeof(*queue));
	size_t bytes;

	if (!queue) {
		ffs_fail(error, ENOMEM, "no memory for requests");
		return NULL;
	}
	if (calls_reserve(&queue->calls, 2 * ROOM_MAX + 1, 0, error) ||
	    content_source_init(&queue->source, &params->contents, error)) {
		tio_queue_free(queue);
		return NULL;
	}
	queue->buffer_bytes = (params->block_bytes + PAGE_BYTES - 1) /
			      PAGE_BYTES * PAGE_BYTES;
	queue->room = 1;
	queue->copies = alone && queue->calls.together;
	if (queue->copies) {
		queue->room = MEMORY_BYTES / (queue->buffer_bytes + PAGE_BYTES);
		if (queue->room > ROOM_MAX)
			queue->room = ROOM_MAX;
		if (!queue->room)
			queue->room = 1;
	}
	bytes = (queue->room + 1) * PAGE_BYTES +
		queue->room * queue->buffer_bytes;
	queue->memory = aligned_alloc(PAGE_BYTES, bytes);
	if (!queue->memory) {
		tio_queue_free(queue);
		ffs_fail(error, ENOMEM, "no memory for requests (%zu bytes)",
			 bytes);
		return NULL;
	}
	/* Touched now, so that no page fault falls into a measured phase. */
	memset(queue->memory, 0, bytes);
	content_init(&queue->readable[0], &queue->source, params->seed,
		     CONTENT_TEST, 0);
	content_init(&queue->readable[1], &queue->source, params->seed,
		     CONTENT_TEST, 1);
	return queue;
}

void tio_queue_free(struct tio_queue *queue)
{
	if (!queue)
		return;
	calls_free(&queue->calls);
	content_source_free(&queue->source);
	free(queue->memory);
	free(queue);
}

void tio_work_reset(struct tio_work *work)
{
	work->done = work->above_2s = work->above_10s = work->sync_ns = 0;
	work->synced = work->failed = false;
	latency_reset(&work->latency);
	memset(&work->slowest, 0, sizeof(work->slowest));
}

void tio_work_merge(struct tio_work *into, const struct tio_work *from)
{
	size_t i;

	into->done += from->done;
	into->above_2s += from->above_2s;
	into->above_10s += from->above_10s;
	histogram_merge(&into->latency.histogram, &from->latency.histogram);
	for (i = 0; i < from->latency.n_values &&
	     into->latency.n_values < into->latency.room; i++)
		into->latency.values[into->latency.n_values++] =
			from->latency.values[i];
	if (from->done && (into->done == from->done ||
	    from->slowest.latency_ns > into->slowest.latency_ns))
		into->slowest = from->slowest;
	if (from->failed && !into->failed) {
		into->failed = true;
		into->error = from->error;
	}
}

/* --- the requests of a queue --------------------------------------------- */

static struct flashmon_live *page_of(const struct tio_queue *queue, size_t i)
{
	return (void *)(queue->memory + i * PAGE_BYTES);
}

static unsigned char *buffer_of(const struct tio_queue *queue, size_t i)
{
	return queue->memory + (queue->room + 1) * PAGE_BYTES +
	       i * queue->buffer_bytes;
}

static void look(struct tio_queue *queue, const struct tio_task *task, size_t i)
{
	if (queue->copies && task->live->page)
		calls_copy(&queue->calls, 0, page_of(queue, i),
			   task->live->page, FLASHMON_LIVE_BYTES);
}

static void put_request(struct tio_queue *queue, const struct tio_task *task,
			uint64_t offset)
{
	const struct tio_params *params = task->params;
	unsigned char *buffer = buffer_of(queue, queue->n);

	if (!queue->n)
		look(queue, task, 0);
	queue->offsets[queue->n] = offset;
	queue->transfers[queue->n] = queue->calls.n;
	if (tio_reads(task->part)) {
		calls_pread(&queue->calls, 0, task->fd, buffer,
			    params->block_bytes, offset);
	} else {
		content_fill(&queue->written, offset, buffer,
			     params->block_bytes);
		calls_pwrite(&queue->calls, 0, task->fd, buffer,
			     params->block_bytes, offset);
	}
	queue->n++;
	look(queue, task, queue->n);
}

static void fail_request(struct tio_work *work, const struct tio_task *task,
			 int failed, uint64_t offset)
{
	work->failed = true;
	ffs_fail(&work->error, failed,
		 "cannot %s %llu bytes at %llu of the file of thread %u, request %llu%s",
		 tio_reads(task->part) ? "read" : "write",
		 (unsigned long long)task->params->block_bytes,
		 (unsigned long long)offset, (unsigned int)task->thread,
		 (unsigned long long)work->done,
		 failed == ENOSPC ? " (the partition is full: lower file_bytes)" :
		 failed == EBADMSG ? " (the file is shorter than it was, or the file system found its data damaged)" : "");
}

static void verify(struct tio_work *work, const struct tio_task *task,
		   const struct tio_queue *queue, size_t i)
{
	uint64_t bytes = task->params->block_bytes, wrong_at = queue->offsets[i];
	const unsigned char *data = buffer_of(queue, i);

	if (content_check(queue->readable, queue->offsets[i], data, bytes,
			  bytes % CONTENT_SECTOR_BYTES, &wrong_at))
		return;
	work->failed = true;
	ffs_fail(&work->error, EBADMSG,
		 "the file of thread %u differs from what was written, first at byte %llu (the file system lost data)",
		 (unsigned int)task->thread, (unsigned long long)wrong_at);
}

static void note_slowest(struct tio_work *work, const struct tio_task *task,
			 const struct tio_queue *queue, size_t i)
{
	struct tio_slowest *slowest = &work->slowest;

	slowest->thread = task->thread;
	slowest->request = work->done;
	slowest->offset = queue->offsets[i];
	if (queue->copies && task->live->page) {
		live_decode(page_of(queue, i), &slowest->before);
		live_decode(page_of(queue, i + 1), &slowest->after);
	}
}

static void note(struct tio_work *work, const struct tio_task *task,
		 const struct tio_queue *queue, size_t i, uint64_t start_ns)
{
	const struct call *call = &queue->calls.queue[queue->transfers[i]];
	uint64_t began_ns = queue->transfers[i] ? call[-1].t_end_ns : start_ns;
	uint64_t latency_ns = call->t_end_ns - began_ns;

	latency_add(&work->latency, latency_ns);
	tio_work_count(work, latency_ns);
	if (!work->done || latency_ns > work->slowest.latency_ns) {
		note_slowest(work, task, queue, i);
		work->slowest.t_start_ns = began_ns;
		work->slowest.latency_ns = latency_ns;
	}
	work->done++;
	if (tio_reads(task->part))
		verify(work, task, queue, i);
}

/* Around a request that was made by itself. */
struct looks {
	struct live_snapshot before, after;
};

static void flush(struct tio_work *work, const struct tio_task *task,
		  struct tio_queue *queue, struct looks *looks)
{
	uint64_t start_ns, slowest_ns = work->slowest.latency_ns;
	bool first = !work->done;
	size_t done, i;
	int failed;

	if (!queue->n)
		return;
	if (!queue->copies)
		live_read(task->live, &looks->before);
	start_ns = clock_now_ns();
	failed = calls_run(&queue->calls, &done);
	if (!queue->copies)
		live_read(task->live, &looks->after);
	for (i = 0; i < queue->n && !work->failed; i++) {
		if (failed && queue->transfers[i] >= done)
			fail_request(work, task, failed, queue->offsets[i]);
		else
			note(work, task, queue, i, start_ns);
	}
	if (!queue->copies &&
	    (first || work->slowest.latency_ns > slowest_ns)) {
		work->slowest.before = looks->before;
		work->slowest.after = looks->after;
	}
	queue->n = 0;
	calls_clear(&queue->calls);
}

static void sync_file(struct tio_work *work, const struct tio_task *task)
{
	uint64_t start_ns = clock_now_ns();

	if (fsync(task->fd)) {
		work->failed = true;
		ffs_fail(&work->error, errno,
			 "cannot sync the file of thread %u",
			 (unsigned int)task->thread);
		return;
	}
	work->sync_ns = clock_now_ns() - start_ns;
	work->synced = true;
}

void tio_work_run(struct tio_work *work, const struct tio_task *task,
		  struct tio_queue *queue)
{
	uint64_t requests = tio_requests(task->params, task->part), i;
	struct tio_places places;
	struct looks looks;

	tio_places_init(&places, task->params, task->part, task->thread);
	queue->written = queue->readable[task->part == TIO_RANDOM_WRITE];
	/* The first look at the page may cost a page fault. */
	live_read(task->live, &looks.before);
	live_read(task->live, &looks.after);
	for (i = 0; i < requests && !work->failed; i++) {
		put_request(queue, task, tio_place(&places));
		if (queue->n == queue->room)
			flush(work, task, queue, &looks);
	}
	flush(work, task, queue, &looks);
	if (!work->failed && !tio_reads(task->part) &&
	    task->params->sync == TIO_SYNC_END)
		sync_file(work, task);
}
