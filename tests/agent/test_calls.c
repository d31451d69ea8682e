// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_calls.c - system calls that were put off; here they are made one by one,
 * as on a board. That the lab's kernel makes them alike, and at the same times,
 * is tested in the lab.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>

#include "core/calls.h"
#include "core/files.h"
#include "harness.h"

static char directory[256];

static char *in_directory(const char *name)
{
	static char path[300];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static int open_files(void)
{
	DIR *all = opendir("/proc/self/fd");
	int n = 0;

	while (all && readdir(all))
		n++;
	closedir(all);
	return n;
}

static void put_off_file(struct calls *calls, const char *name, int flags,
			 const char *written)
{
	calls_open(calls, 1, AT_FDCWD, calls_text(calls, in_directory(name)),
		   flags);
	if (written)
		calls_write(calls, 2, CALLS_OPENED, written, strlen(written));
	calls_close(calls, 3, CALLS_OPENED);
}

static void several_files(struct calls *calls)
{
	char first[8] = "", second[8] = "";
	struct stat stat;
	size_t done, i;

	put_off_file(calls, "a", O_WRONLY | O_CREAT | O_EXCL, "alpha");
	put_off_file(calls, "b", O_WRONLY | O_CREAT | O_EXCL, "beta");
	CHECK(calls_run(calls, &done) == 0 && done == 6);
	for (i = 1; i < done; i++)
		CHECK(calls->queue[i].t_end_ns >= calls->queue[i - 1].t_end_ns);
	CHECK(calls->queue[1].result == 5 && calls->queue[4].result == 4);
	CHECK(calls->tags[4] == 2);
	calls_clear(calls);
	/* Two files at once: each transfer goes to the one opened before it. */
	calls_open(calls, 0, AT_FDCWD, calls_text(calls, in_directory("a")),
		   O_RDONLY);
	calls_read(calls, 0, CALLS_OPENED, first, 5);
	calls_close(calls, 0, CALLS_OPENED);
	calls_open(calls, 0, AT_FDCWD, calls_text(calls, in_directory("b")),
		   O_RDWR);
	calls_pread(calls, 0, CALLS_OPENED, second, 3, 1);
	calls_pwrite(calls, 0, CALLS_OPENED, "!", 1, 4);
	calls_fsync(calls, 0, CALLS_OPENED);
	calls_close(calls, 0, CALLS_OPENED);
	calls_lstat(calls, 0, AT_FDCWD, calls_text(calls, in_directory("b")),
		    &stat);
	calls_unlink(calls, 0, AT_FDCWD, calls_text(calls, in_directory("a")));
	CHECK(calls_run(calls, &done) == 0 && done == 10);
	calls_clear(calls);
	CHECK(!strcmp(first, "alpha") && !strcmp(second, "eta"));
	CHECK(stat.st_size == 5 && access(in_directory("a"), F_OK));
	CHECK(!unlink(in_directory("b")));
}

/* What is opened in one queue may be used in the next. */
static void over_the_edge(struct calls *calls)
{
	int before = open_files();
	char text[8] = "";
	size_t done;

	calls_open(calls, 0, AT_FDCWD, calls_text(calls, in_directory("c")),
		   O_RDWR | O_CREAT);
	calls_write(calls, 0, CALLS_OPENED, "gamma", 5);
	CHECK(calls_run(calls, &done) == 0 && done == 2);
	calls_clear(calls);
	calls_pread(calls, 0, CALLS_OPENED, text, 4, 1);
	calls_close(calls, 0, CALLS_OPENED);
	CHECK(calls_run(calls, &done) == 0 && !strcmp(text, "amma"));
	calls_clear(calls);
	CHECK(!unlink(in_directory("c")) && open_files() == before);
}

static void failures(struct calls *calls)
{
	int before = open_files();
	char text[16];
	size_t done;

	put_off_file(calls, "d", O_WRONLY | O_CREAT | O_EXCL, "delta");
	put_off_file(calls, "d", O_WRONLY | O_CREAT | O_EXCL, "twice");
	put_off_file(calls, "e", O_WRONLY | O_CREAT | O_EXCL, "never");
	CHECK(calls_run(calls, &done) == EEXIST && done == 3);
	CHECK(!strcmp(calls_path(calls, done), in_directory("d")));
	CHECK(access(in_directory("e"), F_OK) && open_files() == before);
	calls_clear(calls);
	/* Fails between open and close: the file is closed. */
	calls_open(calls, 0, AT_FDCWD, calls_text(calls, in_directory("d")),
		   O_RDONLY);
	calls_read(calls, 0, CALLS_OPENED, text, 5);
	calls_read(calls, 0, CALLS_OPENED, text, 1);
	calls_close(calls, 0, CALLS_OPENED);
	CHECK(calls_run(calls, &done) == EBADMSG && done == 2);
	CHECK(!strcmp(calls_path(calls, done), in_directory("d")));
	CHECK(open_files() == before);
	calls_clear(calls);
	calls_unlink(calls, 0, AT_FDCWD, calls_text(calls, in_directory("none")));
	CHECK(calls_run(calls, &done) == ENOENT && done == 0);
	calls_clear(calls);
	CHECK(!unlink(in_directory("d")));
}

static void on_alarm(int signal)
{
	(void)signal;
}

/* A pipe gives what it has, and SIGALRM interrupts the wait for more. */
static void in_pieces(struct calls *calls)
{
	struct itimerval soon = { { 0, 5000 }, { 0, 5000 } }, never = { 0 };
	struct sigaction action = { .sa_handler = on_alarm };
	char text[16] = "";
	int ends[2];
	size_t done;
	pid_t child;

	CHECK(!pipe(ends) && write(ends[1], "one", 3) == 3);
	child = fork();
	if (!child) {
		usleep(30000);
		_exit(write(ends[1], "two-and", 7) != 7);
	}
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	calls_read(calls, 0, ends[0], text, 6);
	calls_read(calls, 0, ends[0], text + 6, 4);
	CHECK(calls_run(calls, &done) == 0 && done == 2);
	setitimer(ITIMER_REAL, &never, NULL);
	CHECK(!strcmp(text, "onetwo-and"));
	CHECK(calls->queue[0].result == 6 && calls->queue[1].result == 4);
	calls_clear(calls);
	close(ends[0]);
	close(ends[1]);
}

/* A result that has to be looked at ends the queue without a failure. */
static void up_to_a_result(struct calls *all)
{
	struct calls_few few;
	struct calls calls;
	char text[8] = "";
	int before = open_files(), ends[2], waiting = -1;
	size_t done;

	put_off_file(all, "f", O_WRONLY | O_CREAT | O_EXCL, "delta");
	CHECK(calls_run(all, &done) == 0);
	calls_clear(all);
	calls_use(&calls, &few);
	calls_open(&calls, 0, AT_FDCWD, in_directory("f"), O_RDONLY);
	calls_read_some(&calls, 0, CALLS_OPENED, text, 3);
	calls_read_some(&calls, 7, CALLS_OPENED, text + 3, 4);
	calls_end_unless_zero(&calls);
	calls_close(&calls, 0, CALLS_OPENED);
	CHECK(calls_full(&calls, 1, 0) && !calls_full(&calls, 0, 0));
	CHECK(calls_run(&calls, &done) == 0 && done == 3);
	CHECK(calls.tags[done - 1] == 7 && calls.queue[2].result == 2);
	CHECK(!strcmp(text, "delta"));
	calls_clear(&calls);
	CHECK(open_files() == before + 1);
	/* At the end of the file it goes on. */
	calls_read_some(&calls, 0, CALLS_OPENED, text, 4);
	calls_end_unless_zero(&calls);
	calls_close(&calls, 0, CALLS_OPENED);
	CHECK(calls_run(&calls, &done) == 0 && done == 2);
	calls_clear(&calls);
	CHECK(open_files() == before && !unlink(in_directory("f")));

	CHECK(!pipe(ends) && write(ends[1], "abc", 3) == 3);
	calls_ioctl(&calls, 0, ends[0], FIONREAD, &waiting);
	calls_end_unless_zero(&calls);
	calls_ioctl(&calls, 5, ends[0], (unsigned long)-1, &waiting);
	calls_close(&calls, 0, ends[0]);
	CHECK(calls_run(&calls, &done) == ENOTTY && done == 1 && waiting == 3);
	CHECK(calls.tags[done] == 5);
	close(ends[0]);
	close(ends[1]);
}

/* The text of @bytes letters comes back as it is, however long it is. */
static void whole_file(size_t bytes)
{
	char *text = malloc(bytes + 1), *found;
	struct ffs_error error;
	size_t i, length = 0;
	int fd = open(in_directory("g"), O_WRONLY | O_CREAT, 0600);

	for (i = 0; i < bytes; i++)
		text[i] = (char)('a' + i * 7 % 23);
	CHECK(write(fd, text, bytes) == (ssize_t)bytes && !close(fd));
	found = file_read(in_directory("g"), bytes, &length, &error);
	if (CHECK(found && length == bytes && !found[length]))
		CHECK(!memcmp(found, text, bytes));
	free(found);
	if (bytes) {
		CHECK(!file_read(in_directory("g"), bytes - 1, NULL, &error));
		CHECK(error.errnum == EFBIG &&
		      strstr(error.message, "cannot read"));
	}
	free(text);
	CHECK(!unlink(in_directory("g")));
}

static void whole_files(void)
{
	static const size_t sizes[] = { 0, 1, 16383, 16384, 16385, 32768,
					32769, 131072, 200000 };
	int before = open_files();
	struct ffs_error error;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		whole_file(sizes[i]);
	CHECK(!file_read(in_directory("none"), 10, NULL, &error));
	CHECK(error.errnum == ENOENT && strstr(error.message, "cannot open"));
	CHECK(!file_read(directory, 10, NULL, &error));
	CHECK(error.errnum == EISDIR && strstr(error.message, "cannot read"));
	CHECK(open_files() == before);
}

/* A call that does not wait says so, and is not made for ever. */
static void without_waiting(struct calls *calls)
{
	char data[8];
	size_t done;
	int ends[2];

	if (!CHECK(!pipe2(ends, O_NONBLOCK | O_CLOEXEC)))
		return;
	alarm(60);
	calls_read_some(calls, 1, ends[0], data, sizeof(data));
	CHECK(calls_run(calls, &done) == EAGAIN && !done);
	calls_clear(calls);
	alarm(0);
	close(ends[0]);
	close(ends[1]);
}

static void room(struct calls *calls)
{
	static char longest[4095];
	const char *text = NULL;
	size_t i;

	CHECK(!calls_full(calls, 16, 0) && calls_full(calls, 17, 0));
	memset(longest, 'x', sizeof(longest) - 1);
	CHECK(!calls_full(calls, 1, sizeof(longest)));
	for (i = 0; i < 8 && !calls_full(calls, 0, sizeof(longest)); i++) {
		text = calls_text(calls, longest);
		/* Never over the edge of a page, nor at its beginning. */
		CHECK((uintptr_t)text % 4096 == 1);
		CHECK(!strcmp(text, longest));
	}
	CHECK(i == 2);
	calls_clear(calls);
	for (i = 0; i < 16; i++)
		calls_close(calls, 0, -1);
	CHECK(calls_full(calls, 1, 0));
	calls_clear(calls);
	CHECK(!calls_full(calls, 16, 100));
}

void test_calls(void)
{
	struct ffs_error error;
	struct calls calls;

	scratch_template(directory, sizeof(directory), "calls");
	if (!CHECK(mkdtemp(directory) != NULL) ||
	    !CHECK(!calls_reserve(&calls, 16, 8192, &error)))
		return;
	CHECK(!calls.together);
	several_files(&calls);
	over_the_edge(&calls);
	failures(&calls);
	in_pieces(&calls);
	up_to_a_result(&calls);
	whole_files();
	without_waiting(&calls);
	room(&calls);
	calls_free(&calls);
	CHECK(!rmdir(directory));
}
