// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls - asks the lab's kernel to execute queued system calls, rightly and
 * wrongly; see arch/um/kernel/skas/calls.c in kernel/patches.
 *
 *   calls DIR		a directory of a file system that is mounted
 *   calls touch FILE	only makes a file
 *
 * Exit status 0, or 1 after a message for each check that failed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"

#define NR_RUN_CALLS 4095
#define NR_COPY 4096
#define OPENED 1
#define OPENS 2
#define WHOLE 4
#define ZERO 8

struct call {
	uint32_t number, flags;
	uint64_t args[5];
	int64_t result;
	uint64_t t_end_ns;
};

static _Alignas(4096) struct call queue[64];
static int failed;

#define CHECK(condition) check((condition), __LINE__, #condition)

static void check(bool good, int line, const char *what)
{
	if (good)
		return;
	printf("calls: line %d: %s\n", line, what);
	failed = 1;
}

static struct call *put(int i, uint32_t number, uint32_t flags, uint64_t a,
			uint64_t b, uint64_t c, uint64_t d)
{
	queue[i] = (struct call){ number, flags, { a, b, c, d, 0 }, -1, 0 };
	return &queue[i];
}

static long run(void *address, long n)
{
	long made = syscall(NR_RUN_CALLS, address, n, sizeof(struct call));

	return made < 0 ? -errno : made;
}

static uint64_t at(const void *address)
{
	return (uintptr_t)address;
}

static void files(void)
{
	static char text[8];
	uint64_t before = clock_now_ns(), last = before;
	struct stat ignored;
	int i;

	put(0, SYS_openat, OPENS, AT_FDCWD, at("a"), O_RDWR | O_CREAT, 0600);
	put(1, SYS_write, OPENED | WHOLE, 0, at("queue"), 5, 0);
	put(2, SYS_pread64, OPENED | WHOLE, 0, at(text), 3, 1);
	put(3, SYS_close, OPENED, 0, 0, 0, 0);
	put(4, SYS_unlink, 0, at("a"), 0, 0, 0);
	CHECK(run(queue, 5) == 5);
	CHECK(queue[0].result >= 0 && queue[1].result == 5);
	CHECK(queue[2].result == 3 && !strcmp(text, "ueu"));
	CHECK(!queue[3].result && !queue[4].result);
	for (i = 0; i < 5; i++) {
		CHECK(queue[i].t_end_ns > last);
		last = queue[i].t_end_ns;
	}
	/* Leaving takes no time. */
	CHECK(clock_now_ns() == last);
	CHECK(fstatat(AT_FDCWD, "a", &ignored, 0) && errno == ENOENT);
}

static void what_fails_ends_it(void)
{
	static char text[16];
	static int waiting = -1;
	uint64_t start;

	put(0, SYS_openat, OPENS, AT_FDCWD, at("none"), O_RDONLY, 0);
	put(1, SYS_close, OPENED, 0, 0, 0, 0);
	start = clock_now_ns();
	CHECK(run(queue, 2) == 1 && queue[0].result == -ENOENT);
	/* It takes as long as a call that fails. */
	CHECK(queue[0].t_end_ns - start >= 1000);
	CHECK(queue[1].result == -1);
	put(0, SYS_openat, OPENS, AT_FDCWD, at("b"), O_RDWR | O_CREAT, 0600);
	put(1, SYS_write, OPENED | WHOLE, 0, at("abc"), 3, 0);
	put(2, SYS_pread64, OPENED | WHOLE, 0, at(text), 9, 0);
	put(3, SYS_close, OPENED, 0, 0, 0, 0);
	CHECK(run(queue, 4) == 3 && queue[2].result == 3);
	CHECK(!close((int)queue[0].result) && !unlink("b"));
	/* A result that the program would look at first is no failure. */
	put(0, SYS_openat, OPENS, AT_FDCWD, at("b"), O_RDWR | O_CREAT, 0600);
	put(1, SYS_ioctl, OPENED | ZERO, 0, FIONREAD, at(&waiting), 0);
	put(2, SYS_write, OPENED | ZERO, 0, at("abc"), 3, 0);
	put(3, SYS_close, OPENED, 0, 0, 0, 0);
	CHECK(run(queue, 4) == 3 && queue[2].result == 3 && !waiting);
	CHECK(!close((int)queue[0].result) && !unlink("b"));
	/* Without a file that was opened there is none. */
	put(0, SYS_close, OPENED, 0, 0, 0, 0);
	CHECK(run(queue, 1) == 1 && queue[0].result == -EBADF);
}

static void what_is_refused(void)
{
	char *gone = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(run(NULL, 0) == 0);
	CHECK(syscall(NR_RUN_CALLS, queue, 1, 56) == -1 && errno == EINVAL);
	put(0, SYS_fork, 0, 0, 0, 0, 0);
	CHECK(run(queue, 1) == 1 && queue[0].result == -ENOSYS);
	put(0, 100000, 0, 0, 0, 0, 0);
	CHECK(run(queue, 1) == 1 && queue[0].result == -ENOSYS);
	put(0, SYS_close, 16, 1000, 0, 0, 0);
	CHECK(run(queue, 1) == 1 && queue[0].result == -EINVAL);
	put(0, SYS_close, 0, 1000, 0, 0, 0);
	CHECK(run((char *)queue + 8, 1) == -EFAULT);
	CHECK(run((void *)0x7ffffffff000, 1) == -EFAULT);
	CHECK(run((void *)0x60000000, 1) == -EFAULT);
	CHECK(run((void *)-64, 1) == -EFAULT);
	/* Never touched: its page is not there. */
	CHECK(run(gone, 1) == -EFAULT);
	CHECK(!mprotect(memset(gone, 0, 8192), 8192, PROT_READ));
	CHECK(run(gone, 1) == -EFAULT);
	CHECK(!munmap(gone, 8192) && run(gone, 1) == -EFAULT);
}

static void copies(void)
{
	static char from[9000], to[9000];
	uint64_t start;
	size_t i;

	for (i = 0; i < sizeof(from); i++)
		from[i] = (char)(i * 7);
	memset(to, 1, sizeof(to));
	put(0, NR_COPY, 0, at(to + 11), at(from + 5), 8900, 0);
	start = clock_now_ns();
	CHECK(run(queue, 1) == 1 && !queue[0].result);
	CHECK(clock_now_ns() == start);
	CHECK(!memcmp(to + 11, from + 5, 8900) && to[10] == 1 && to[8911] == 1);
	put(0, NR_COPY, 0, at(to), 0x60000000, 8, 0);
	CHECK(run(queue, 1) == 1 && queue[0].result == -EFAULT);
	put(0, NR_COPY, 0, 16, at(from), 8, 0);
	CHECK(run(queue, 1) == 1 && queue[0].result == -EFAULT);
}

/* What a close() and an umount() leave to be done later is done before the next. */
static void mounts(void)
{
	static _Alignas(8) char listing[1024];
	int i;

	CHECK(!mkdir("m", 0700));
	put(0, SYS_mount, 0, at("none"), at("m"), at("tmpfs"), 0);
	put(1, SYS_openat, OPENS, AT_FDCWD, at("m/file"), O_RDWR | O_CREAT, 0600);
	put(2, SYS_close, OPENED, 0, 0, 0, 0);
	put(3, SYS_openat, OPENS, AT_FDCWD, at("m"), O_RDONLY | O_DIRECTORY, 0);
	put(4, SYS_getdents64, OPENED, 0, at(listing), sizeof(listing), 0);
	put(5, SYS_getdents64, OPENED | ZERO, 0, at(listing), sizeof(listing), 0);
	put(6, SYS_close, OPENED, 0, 0, 0, 0);
	put(7, SYS_umount2, 0, at("m"), 0, 0, 0);
	put(8, SYS_rmdir, 0, at("m"), 0, 0, 0);
	CHECK(run(queue, 9) == 9);
	for (i = 0; i < 9; i++)
		CHECK(i == 1 || i == 3 || i == 4 || !queue[i].result);
	CHECK(queue[4].result > 0);
	CHECK(memmem(listing, (size_t)queue[4].result, "file", sizeof("file")));
	put(0, SYS_umount2, 0, at("/proc/self"), 0, 0, 0);
	CHECK(run(queue, 1) == 1 && queue[0].result == -EINVAL);
}

/* After fork() the page is shared until one writes to it. */
static void of_a_child(void)
{
	int status = -1;
	pid_t child;

	put(0, SYS_close, 0, 1000, 0, 0, 0);
	child = fork();
	if (!child) {
		if (run(queue, 1) != -EFAULT)
			_exit(1);
		put(0, SYS_close, 0, 1000, 0, 0, 0);
		_exit(run(queue, 1) != 1 || queue[0].result != -EBADF);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	CHECK(queue[0].result == -1);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "touch"))
		return open(argv[2], O_WRONLY | O_CREAT | O_EXCL, 0600) < 0;
	if (argc != 2 || chdir(argv[1])) {
		puts("usage: calls DIR");
		return 1;
	}
	clock_open();
	CHECK(ffs_time_page != NULL);
	files();
	what_fails_ends_it();
	what_is_refused();
	copies();
	mounts();
	of_a_child();
	return failed;
}
