// SPDX-License-Identifier: GPL-2.0-only
/*
 * threads.c - see threads.h.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/process.h"
#include "workloads/tiobench/threads.h"

static_assert(TIO_THREADS_MAX <= WORKERS_MAX, "a worker for each thread");

/* The most requests that one thread makes in a phase. */
static size_t most_requests(const struct tio_params *params)
{
	uint64_t random = tio_requests(params, TIO_RANDOM_WRITE);
	uint64_t blocks = tio_file_blocks(params);

	return random > blocks ? random : blocks;
}

static size_t memory_bytes(const struct tio_params *params)
{
	size_t values = params->full ? most_requests(params) : 0;

	return params->threads *
	       (sizeof(struct tio_work) + values * sizeof(uint64_t));
}

int threads_reserve(struct tio_threads *threads,
		    const struct tio_params *params, struct ffs_error *error)
{
	size_t bytes = memory_bytes(params), room = most_requests(params);
	uint64_t *values;
	uint32_t i;

	threads->n = params->threads;
	threads->works = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			      MAP_ANONYMOUS | MAP_SHARED, -1, 0);
	if (threads->works == MAP_FAILED) {
		threads->works = NULL;
		return ffs_fail(error, ENOMEM,
				"no memory for what threads note (%zu bytes); set full=0, or lower threads",
				bytes);
	}
	memset(threads->works, 0, bytes);
	values = (uint64_t *)(threads->works + threads->n);
	for (i = 0; i < threads->n && params->full; i++) {
		threads->works[i].latency.values = values + i * room;
		threads->works[i].latency.room = room;
	}
	if (threads->n > 1)
		return 0;
	threads->queue = tio_queue_new(params, true, error);
	return threads->queue ? 0 : -1;
}

void threads_free(struct tio_threads *threads)
{
	tio_queue_free(threads->queue);
	threads->queue = NULL;
	if (threads->works)
		munmap(threads->works, memory_bytes(threads->tasks[0].params));
	threads->works = NULL;
}

static int run(void *context, uint32_t i, int start_fd, int ready_fd)
{
	struct tio_threads *threads = context;
	struct tio_work *work = &threads->works[i];
	struct tio_task *task = &threads->tasks[i];
	struct tio_queue *queue;
	char go;

	process_stay_in_memory();
	queue = tio_queue_new(task->params, false, &work->error);
	if (!queue) {
		work->failed = true;
		return 1;
	}
	/* The end of the pipe means that there will be no start. */
	if (workers_ready(ready_fd) && read(start_fd, &go, 1) == 1)
		tio_work_run(work, task, queue);
	return 0;
}

static struct worker_fate fate(void *context, uint32_t i)
{
	struct tio_threads *threads = context;

	return (struct worker_fate){ &threads->works[i].failed,
				     &threads->works[i].error };
}

int threads_launch(struct tio_threads *threads, struct ffs_error *error)
{
	static const struct worker_kind kind = { "thread", run, fate };
	uint32_t i;

	for (i = 0; i < threads->n; i++)
		tio_work_reset(&threads->works[i]);
	if (threads->n == 1)
		return 0;
	return workers_launch(&threads->workers, &kind, threads, threads->n,
			      error);
}

void threads_run(struct tio_threads *threads)
{
	struct tio_work *first = threads->works;

	if (threads->n == 1) {
		tio_work_run(first, threads->tasks, threads->queue);
		return;
	}
	if (workers_start(&threads->workers, &first->error))
		first->failed = true;
	threads_end(threads);
}

void threads_end(struct tio_threads *threads)
{
	if (threads->n > 1)
		workers_end(&threads->workers);
}
