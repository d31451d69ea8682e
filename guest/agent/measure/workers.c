// SPDX-License-Identifier: GPL-2.0-only
/*
 * workers.c - see workers.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/workers.h"

enum { READ_END, WRITE_END };

/* Make one process. Return: 0 once it waits for the start, or -1. */
static int launch(struct workers *workers, uint32_t i, const int start[2],
		  struct ffs_error *error)
{
	const struct worker_kind *kind = workers->kind;
	struct worker_fate fate = kind->fate(workers->context, i);
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
		_exit(kind->run(workers->context, i, start[READ_END],
				ready[WRITE_END]));
	}
	close(ready[WRITE_END]);
	if (pid < 0) {
		close(ready[READ_END]);
		return ffs_fail(error, errno,
				"cannot make %s %u (too little memory?)",
				kind->name, (unsigned int)i);
	}
	workers->pids[workers->n++] = (int32_t)pid;
	do
		n = read(ready[READ_END], &byte, 1);
	while (n < 0 && errno == EINTR);
	close(ready[READ_END]);
	if (n == 1)
		return 0;
	if (*fate.failed)
		*error = *fate.error;
	else
		ffs_fail(error, 0,
			 "%s %u ended before the start (too little memory?)",
			 kind->name, (unsigned int)i);
	return -1;
}

int workers_launch(struct workers *workers, const struct worker_kind *kind,
		   void *context, uint32_t n, struct ffs_error *error)
{
	int start[2], result = 0;
	uint32_t i;

	workers->kind = kind;
	workers->context = context;
	workers->n = 0;
	if (pipe2(start, O_CLOEXEC))
		return ffs_fail(error, errno, "cannot make a pipe");
	workers->start_fd = start[WRITE_END];
	for (i = 0; i < n && !result; i++)
		result = launch(workers, i, start, error);
	close(start[READ_END]);
	if (result)
		workers_end(workers);
	return result;
}

bool workers_ready(int ready_fd)
{
	return write(ready_fd, "", 1) == 1;
}

int workers_start(struct workers *workers, struct ffs_error *error)
{
	static const char go[WORKERS_MAX];

	/* So few bytes fit into a pipe: the write is never short. */
	if (write(workers->start_fd, go, workers->n) < 0)
		return ffs_fail(error, errno, "cannot start %s 0 to %u",
				workers->kind->name, workers->n - 1);
	return 0;
}

void workers_end(struct workers *workers)
{
	uint32_t i;

	close(workers->start_fd);
	for (i = 0; i < workers->n; i++) {
		struct worker_fate fate =
			workers->kind->fate(workers->context, i);
		int status = 0;
		pid_t ended;

		do
			ended = waitpid(workers->pids[i], &status, 0);
		while (ended < 0 && errno == EINTR);
		if ((ended < 0 || status) && !*fate.failed) {
			*fate.failed = true;
			ffs_fail(fate.error, 0,
				 "%s %u crashed (wait status 0x%x)",
				 workers->kind->name, (unsigned int)i,
				 (unsigned int)status);
		}
	}
	workers->n = 0;
}
