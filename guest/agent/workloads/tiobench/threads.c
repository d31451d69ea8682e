// SPDX-License-Identifier: GPL-2.0-only
/*
 * threads.c - see threads.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/process.h"
#include "workloads/tiobench/threads.h"

enum { READ_END, WRITE_END };

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
	threads->start_fd = -1;
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

/* Never returns. */
static void child(struct tio_work *work, const struct tio_task *task,
		  int start_fd, int ready_fd)
{
	struct tio_queue *queue;
	char go;

	process_stay_in_memory();
	queue = tio_queue_new(task->params, false, &work->error);
	if (!queue) {
		work->failed = true;
		_exit(1);
	}
	/* The end of the pipe means that there will be no start. */
	if (write(ready_fd, "", 1) == 1 && read(start_fd, &go, 1) == 1)
		tio_work_run(work, task, queue);
	_exit(0);
}

/* Return: 0 once the process waits for the start, or -1. */
static int launch(struct tio_threads *threads, uint32_t i, const int start[2],
		  struct ffs_error *error)
{
	struct tio_work *work = &threads->works[i];
	int ready[2];
	ssize_t n;
	char byte;
	pid_t pid;

	if (pipe2(ready, O_CLOEXEC))
		return ffs_fail(error, errno, "cannot make a pipe");
	pid = fork();
	if (pid == 0) {
		/* Else it would keep its own pipe from ending. */
		close(start[WRITE_END]);
		close(ready[READ_END]);
		child(work, &threads->tasks[i], start[READ_END],
		      ready[WRITE_END]);
	}
	close(ready[WRITE_END]);
	if (pid < 0) {
		close(ready[READ_END]);
		return ffs_fail(error, errno,
				"cannot make thread %u (too little memory?)",
				(unsigned int)i);
	}
	threads->pids[threads->launched++] = (int32_t)pid;
	do
		n = read(ready[READ_END], &byte, 1);
	while (n < 0 && errno == EINTR);
	close(ready[READ_END]);
	if (n == 1)
		return 0;
	if (work->failed)
		*error = work->error;
	else
		ffs_fail(error, 0,
			 "thread %u ended before the start (too little memory?)",
			 (unsigned int)i);
	return -1;
}

int threads_launch(struct tio_threads *threads, struct ffs_error *error)
{
	int start[2], result = 0;
	uint32_t i;

	for (i = 0; i < threads->n; i++)
		tio_work_reset(&threads->works[i]);
	threads->launched = 0;
	if (threads->n == 1)
		return 0;
	if (pipe2(start, O_CLOEXEC))
		return ffs_fail(error, errno, "cannot make a pipe");
	threads->start_fd = start[WRITE_END];
	for (i = 0; i < threads->n && !result; i++)
		result = launch(threads, i, start, error);
	close(start[READ_END]);
	if (result)
		threads_end(threads);
	return result;
}

void threads_run(struct tio_threads *threads)
{
	static const char go[TIO_THREADS_MAX];

	if (threads->n == 1) {
		tio_work_run(threads->works, threads->tasks, threads->queue);
		return;
	}
	/* So few bytes fit into a pipe: the write is never short. */
	if (write(threads->start_fd, go, threads->n) < 0) {
		threads->works[0].failed = true;
		ffs_fail(&threads->works[0].error, errno,
			 "cannot start the threads");
	}
	threads_end(threads);
}

void threads_end(struct tio_threads *threads)
{
	uint32_t i;

	if (threads->start_fd >= 0)
		close(threads->start_fd);
	threads->start_fd = -1;
	for (i = 0; i < threads->launched; i++) {
		struct tio_work *work = &threads->works[i];
		int status = 0;
		pid_t ended;

		do
			ended = waitpid(threads->pids[i], &status, 0);
		while (ended < 0 && errno == EINTR);
		if ((ended < 0 || status) && !work->failed) {
			work->failed = true;
			ffs_fail(&work->error, 0,
				 "thread %u crashed (wait status 0x%x)",
				 (unsigned int)i, (unsigned int)status);
		}
	}
	threads->launched = 0;
}
