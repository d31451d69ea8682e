// SPDX-License-Identifier: GPL-2.0-only
/*
 * processes.c - see processes.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/process.h"
#include "workloads/micro/processes.h"

enum { READ_END, WRITE_END };

/* Never returns. */
static void child(struct stream *stream, const struct requests_site *site,
		  int start_fd, int ready_fd)
{
	int fd = streams_open_file(site, &stream->error);

	if (fd < 0) {
		stream->failed = true;
		_exit(1);
	}
	process_stay_in_memory();
	if (write(ready_fd, "", 1) == 1)
		stream_run_own(stream, site, fd, start_fd);
	_exit(0);
}

/* Make one process. Return: 0 once it waits for the start, or -1. */
static int launch(struct stream_processes *processes, struct stream *stream,
		  const struct requests_site *site, const int start[2],
		  struct ffs_error *error)
{
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
		child(stream, site, start[READ_END], ready[WRITE_END]);
	}
	close(ready[WRITE_END]);
	if (pid < 0) {
		close(ready[READ_END]);
		return ffs_fail(error, errno,
			"cannot make process %u of parallel=%u (too little memory?)",
			processes->n + 1, site->params->parallel);
	}
	processes->pids[processes->n++] = (int32_t)pid;
	do
		n = read(ready[READ_END], &byte, 1);
	while (n < 0 && errno == EINTR);
	close(ready[READ_END]);
	if (n == 1)
		return 0;
	if (stream->failed)
		*error = stream->error;
	else
		ffs_fail(error, 0, "process %u of parallel=%u ended before the start (too little memory?)",
			 processes->n, site->params->parallel);
	return -1;
}

int processes_launch(struct stream_processes *processes,
		     struct stream_set *set, const struct requests_site *site,
		     struct ffs_error *error)
{
	int start[2], result = 0;
	uint32_t i;

	processes->n = 0;
	if (pipe2(start, O_CLOEXEC))
		return ffs_fail(error, errno, "cannot make a pipe");
	processes->start_fd = start[WRITE_END];
	for (i = 0; i < set->n && !result; i++)
		result = launch(processes, &set->streams[i], site, start,
				error);
	close(start[READ_END]);
	if (result)
		processes_end(processes, set);
	return result;
}

int processes_start(struct stream_processes *processes, struct ffs_error *error)
{
	static const char go[MICRO_STREAMS_MAX];

	/* So few bytes fit into a pipe: the write is never short. */
	if (write(processes->start_fd, go, processes->n) < 0)
		return ffs_fail(error, errno, "cannot start the processes");
	return 0;
}

void processes_end(struct stream_processes *processes, struct stream_set *set)
{
	uint32_t i;

	close(processes->start_fd);
	for (i = 0; i < processes->n; i++) {
		struct stream *stream = &set->streams[i];
		int status = 0;
		pid_t ended;

		do
			ended = waitpid(processes->pids[i], &status, 0);
		while (ended < 0 && errno == EINTR);
		if ((ended < 0 || status) && !stream->failed) {
			stream->failed = true;
			ffs_fail(&stream->error, 0,
				 "process %u of the parallel streams crashed (wait status 0x%x)",
				 i, (unsigned int)status);
		}
	}
	processes->n = 0;
}
