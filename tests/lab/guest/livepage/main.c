// SPDX-License-Identifier: GPL-2.0-only
/*
 * livepage - looks at the flash monitor's live page from inside a guest.
 *
 *   livepage protect MTD		the page must not be writable
 *   livepage time MTD		reading it must take no virtual time
 *   livepage write DIR TASK BYTES	overwrites a file, as a task of that name,
 *					and syncs it after every pass
 *   livepage write-later DIR TASK BYTES	leaves the syncing to the kernel
 *   livepage many DIR N		N tasks, one after the other, write a byte each
 *   livepage reset MTD		sets the monitor's counters to zero
 *   livepage detach MTD	a mapping must outlive its monitor
 *   livepage show MTD		prints the page and the counters:
 *	live PID READ PROGRAMMED ERASED BUSY_NS NAME
 *	counter NAME VALUE
 *
 * Exit status 0, or 1 after a message.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "flash/live.h"
#include "flash/live_format.h"

#define UNIT_BYTES 4096
#define FILE_BYTES (2 << 20)

static void __attribute__((format(printf, 1, 2), noreturn))
die(const char *format, ...)
{
	va_list args;

	fputs("livepage: ", stdout);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	exit(1);
}

static struct live open_live(const char *mtd)
{
	const struct flash_monitor monitor = { .mtd = mtd, .chip = "" };
	struct ffs_error error;
	struct live live;

	if (live_open(&live, &monitor, &error))
		die("%s", error.message);
	return live;
}

static int open_proc(const char *mtd, const char *name, int flags)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/proc/flashmon/%s/%s", mtd, name);
	fd = open(path, flags);
	if (fd < 0)
		die("%s: %s", path, strerror(errno));
	return fd;
}

static void refused(const char *what, int good, int expected)
{
	if (good)
		die("%s works", what);
	if (errno != expected)
		die("%s: %s", what, strerror(errno));
}

static int maps(int fd, size_t bytes, off_t at, int prot, int flags)
{
	return mmap(NULL, bytes, prot, flags, fd, at) != MAP_FAILED;
}

/* As root, whom the file's mode does not stop. */
static void protect(const char *mtd)
{
	const int both = PROT_READ | PROT_WRITE;
	struct live live = open_live(mtd);
	int fd = open_proc(mtd, "live", O_RDWR);
	char byte = 0;

	refused("a shared mapping for writing",
		maps(fd, 4096, 0, both, MAP_SHARED), EPERM);
	refused("a private mapping for writing",
		maps(fd, 4096, 0, both, MAP_PRIVATE), EPERM);
	refused("a mapping of two pages",
		maps(fd, 8192, 0, PROT_READ, MAP_SHARED), EINVAL);
	refused("a mapping behind the page",
		maps(fd, 4096, 4096, PROT_READ, MAP_SHARED), EINVAL);
	refused("making it writable later",
		!mprotect((void *)live.page, 4096, both), EACCES);
	refused("writing to the file", write(fd, &byte, 1) == 1, EIO);
	close(fd);
	live_close(&live);
}

static void measure_time(const char *mtd)
{
	static struct live_snapshot snapshot;
	struct live live = open_live(mtd);
	uint64_t before, after;
	int i;

	clock_open();
	if (strcmp(clock_name(), "page"))
		die("there is no time page");
	if (mlockall(MCL_CURRENT))
		die("mlockall: %s", strerror(errno));
	live_read(&live, &snapshot);
	before = clock_now_ns();
	for (i = 0; i < 1000; i++)
		live_read(&live, &snapshot);
	after = clock_now_ns();
	if (after != before)
		die("1,000 reads took %" PRIu64 " ns", after - before);
	live_close(&live);
}

static void write_file(const char *dir, const char *task, long bytes,
		       int sync)
{
	char path[256], unit[UNIT_BYTES];
	unsigned int state = 1;
	size_t i;
	long at;
	int fd;

	prctl(PR_SET_NAME, task);
	snprintf(path, sizeof(path), "%s/%s", dir, task);
	fd = open(path, O_RDWR | O_CREAT, 0644);
	if (fd < 0)
		die("%s: %s", path, strerror(errno));
	for (at = 0; at < bytes; at += UNIT_BYTES) {
		for (i = 0; i < sizeof(unit); i++)
			unit[i] = (char)((state = state * 1103515245 + 12345) >> 16);
		if (pwrite(fd, unit, sizeof(unit), at % FILE_BYTES) !=
		    UNIT_BYTES)
			die("write to %s: %s", path, strerror(errno));
		if (sync && (at + UNIT_BYTES) % FILE_BYTES == 0 && fsync(fd))
			die("fsync of %s: %s", path, strerror(errno));
	}
	if ((sync && fsync(fd)) || close(fd))
		die("the end of %s: %s", path, strerror(errno));
}

static void many_tasks(const char *dir, int n)
{
	int i, status;

	for (i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			write_file(dir, "one-of-many", 1, 1);
			_exit(0);
		}
		if (waitpid(pid, &status, 0) != pid || status)
			die("task %d of %d failed", i, n);
	}
}

static void control(const char *verb, const char *mtd)
{
	int fd = open("/proc/flashmon/control", O_WRONLY);

	if (fd < 0 || dprintf(fd, "%s %s", verb, mtd) < 0)
		die("%s: %s", verb, strerror(errno));
	close(fd);
}

/* Afterwards there is a new monitor. */
static void detach_mapped(const char *mtd)
{
	static struct live_snapshot before, after;
	const struct flash_monitor monitor = { .mtd = mtd, .chip = "" };
	struct live live = open_live(mtd), other;
	int fd = open_proc(mtd, "live", O_RDONLY);
	struct ffs_error error;

	live_read(&live, &before);
	control("detach", mtd);
	live_read(&live, &after);
	if (!before.n || before.n != after.n)
		die("%zu tasks became %zu", before.n, after.n);
	if (!live_open(&other, &monitor, &error))
		die("a detached monitor still has a page");
	refused("a mapping of a detached monitor's page",
		maps(fd, 4096, 0, PROT_READ, MAP_SHARED), EIO);
	control("attach", mtd);
	other = open_live(mtd);
	live_read(&live, &after);
	if (before.n != after.n)
		die("the old page has changed");
	live_close(&other);
	live_close(&live);
	close(fd);
}

/* The file's text, as it was while the page was as in @snapshot. */
static const char *read_counters(const char *mtd, const struct live *live,
				 struct live_snapshot *snapshot)
{
	static struct live_snapshot after;
	static char text[4096];
	int fd = open_proc(mtd, "counters", O_RDONLY);
	ssize_t n;
	int i;

	/* A collector may be at work while the file is read. */
	for (i = 0; i < 1000; i++) {
		live_read(live, snapshot);
		n = pread(fd, text, sizeof(text) - 1, 0);
		if (n <= 0)
			die("counters: %s", strerror(errno));
		text[n] = 0;
		live_read(live, &after);
		if (!memcmp(snapshot, &after, sizeof(after))) {
			close(fd);
			return text;
		}
	}
	die("the page does not come to rest");
}

static void show(const char *mtd)
{
	static struct live_snapshot snapshot;
	struct live live = open_live(mtd);
	char line[128];
	const char *text = read_counters(mtd, &live, &snapshot);
	int length;
	size_t i;

	for (i = 0; i < snapshot.n; i++) {
		const struct live_task *task = &snapshot.tasks[i];

		printf("live %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		       " %" PRIu64 " %s\n", task->pid, task->pages_read,
		       task->pages_programmed, task->blocks_erased,
		       task->busy_ns, task->oob_pages, task->name);
	}
	for (; sscanf(text, "%127[^\n]%n", line, &length) == 1;
	     text += length + 1)
		printf("counter %s\n", line);
	live_close(&live);
}

int main(int argc, char **argv)
{
	const char *verb = argc > 2 ? argv[1] : "";

	if (!strcmp(verb, "protect"))
		protect(argv[2]);
	else if (!strcmp(verb, "time"))
		measure_time(argv[2]);
	else if (!strcmp(verb, "write") && argc == 5)
		write_file(argv[2], argv[3], atol(argv[4]), 1);
	else if (!strcmp(verb, "write-later") && argc == 5)
		write_file(argv[2], argv[3], atol(argv[4]), 0);
	else if (!strcmp(verb, "many") && argc == 4)
		many_tasks(argv[2], atoi(argv[3]));
	else if (!strcmp(verb, "reset"))
		control("reset", argv[2]);
	else if (!strcmp(verb, "detach"))
		detach_mapped(argv[2]);
	else if (!strcmp(verb, "show"))
		show(argv[2]);
	else
		die("wrong usage");
	return 0;
}
