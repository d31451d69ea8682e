// SPDX-License-Identifier: GPL-2.0-only
/* support.c - see posix.h. */
#include <grp.h>
#include <stdarg.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>

#include "posix.h"

#define NS_PER_S 1000000000ll
#define EXIT_SKIPPED 77

void unexpected(const char *file, int line, const char *format, ...)
{
	const char *base = strrchr(file, '/');
	va_list arguments;

	printf("  %s:%d: ", base ? base + 1 : file, line);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
	fflush(stdout);
	_exit(1);
}

void skip(const char *reason)
{
	printf("  skipped: %s\n", reason);
	fflush(stdout);
	_exit(EXIT_SKIPPED);
}

static const char *name_of(int number)
{
	const char *name = number ? strerrorname_np(number) : "success";

	return name ? name : "an unknown errno";
}

void expect_result(const char *file, int line, const char *call, int wanted,
		   long result)
{
	int found = result < 0 ? errno : 0;

	if (found != wanted)
		unexpected(file, line, "%s: expected %s, found %s", call,
			   name_of(wanted), name_of(found));
}

void expect_number(const char *file, int line, const char *what,
		   unsigned long long wanted, unsigned long long found)
{
	if (wanted != found)
		unexpected(file, line,
			   "%s: expected %llu (0x%llx), found %llu (0x%llx)",
			   what, wanted, wanted, found, found);
}

int must_open(const char *path, int flags, mode_t mode)
{
	int fd = open(path, flags | O_CLOEXEC, mode);

	if (fd < 0)
		unexpected(__FILE__, __LINE__,
			   "open(%.40s, 0x%x): expected success, found %s",
			   path, flags, name_of(errno));
	return fd;
}

void pattern(uint64_t at, unsigned char *data, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++, at++)
		data[i] = rng_mix(at / 8 + 1) >> at % 8 * 8 | 1;
}

void make_empty(const char *path)
{
	OK(close(must_open(path, O_RDWR | O_CREAT | O_EXCL, 0644)));
}

void make_file(const char *path, size_t bytes)
{
	unsigned char *data = malloc(bytes + 1);
	int fd = must_open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);

	pattern(0, data, bytes);
	EQUAL(bytes, write(fd, data, bytes));
	OK(close(fd));
	free(data);
}

void expect_file(const char *path, const void *data, size_t bytes)
{
	unsigned char *found = malloc(bytes + 2);
	const unsigned char *wanted = data;
	int fd = must_open(path, O_RDONLY, 0);
	size_t done = 0;
	ssize_t part;

	while ((part = read(fd, found + done, bytes + 1 - done)) > 0)
		done += part;
	OK(part);
	TRUE(done == bytes, "contents of %.40s: expected %zu bytes, found %zu%s",
	     path, bytes, done, done > bytes ? " or more" : "");
	for (done = 0; done < bytes; done++)
		TRUE(found[done] == wanted[done],
		     "contents of %.40s at %zu: expected %02x, found %02x",
		     path, done, wanted[done], found[done]);
	OK(close(fd));
	free(found);
}

void expect_pattern(const char *path, size_t bytes)
{
	unsigned char *data = malloc(bytes + 1);

	pattern(0, data, bytes);
	expect_file(path, data, bytes);
	free(data);
}

void expect_zeros(int fd, uint64_t at, uint64_t bytes)
{
	static unsigned char found[65536];

	while (bytes) {
		size_t part = bytes < sizeof(found) ? bytes : sizeof(found), i;

		EQUAL(part, pread(fd, found, part, at));
		for (i = 0; i < part; i++)
			TRUE(!found[i], "byte %llu: expected 00, found %02x",
			     (unsigned long long)(at + i), found[i]);
		at += part;
		bytes -= part;
	}
}

nlink_t directory_links(nlink_t directories)
{
	return opt.one_link ? 1 : 2 + directories;
}

struct stat status_of(const char *path)
{
	struct stat status;

	TRUE(!lstat(path, &status), "lstat(%.40s): expected success, found %s",
	     path, name_of(errno));
	return status;
}

bool exists(const char *path)
{
	struct stat status;

	return !lstat(path, &status);
}

bool can_remount(void)
{
	return opt.type;
}

const char *mount_data(void)
{
	static char data[256];

	snprintf(data, sizeof(data), "%s", opt.mount_options);
	data[strcspn(data, "|")] = '\0';
	return data;
}

void leave_and_unmount(void)
{
	OK(chdir("/"));
	OK(umount(opt.dir));
}

void mount_and_enter(unsigned long flags)
{
	OK(mount(opt.source, opt.dir, opt.type, flags, mount_data()));
	OK(chdir(opt.dir));
	OK(chdir("check"));
}

void remount(void)
{
	if (!can_remount())
		return;
	leave_and_unmount();
	mount_and_enter(0);
}

void become(uid_t uid, gid_t gid)
{
	OK(setgroups(0, NULL));
	OK(setresgid(gid, gid, gid));
	OK(setresuid(uid, uid, uid));
}

static void wait_for(pid_t child)
{
	int status;

	OK(child);
	EQUAL(child, waitpid(child, &status, 0));
	if (!WIFEXITED(status))
		unexpected(__FILE__, __LINE__, "a process died of signal %d",
			   WTERMSIG(status));
	if (WEXITSTATUS(status))
		_exit(WEXITSTATUS(status));
}

void in_child(void (*run)(void))
{
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		run();
		_exit(0);
	}
	wait_for(child);
}

void as_user(uid_t uid, gid_t gid, void (*run)(void))
{
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		become(uid, gid);
		run();
		_exit(0);
	}
	wait_for(child);
}

/* The clock that stamps inodes moves with the timer: wait for some of them. */
void tick(void)
{
	uint64_t ns = opt.granularity_ns + 30000000;

	nanosleep(&(struct timespec){ ns / NS_PER_S, ns % NS_PER_S }, NULL);
}

static int64_t in_ns(const struct timespec *time)
{
	return time->tv_sec * NS_PER_S + time->tv_nsec;
}

int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return in_ns(&now);
}

int64_t mtime_ns(const char *path)
{
	struct stat status = status_of(path);

	return in_ns(&status.st_mtim);
}

int64_t ctime_ns(const char *path)
{
	struct stat status = status_of(path);

	return in_ns(&status.st_ctim);
}

uint64_t free_bytes(void)
{
	struct statvfs space;

	OK(statvfs(".", &space));
	return (uint64_t)space.f_bfree * space.f_frsize;
}

void sync_here(void)
{
	int fd = must_open(".", O_RDONLY | O_DIRECTORY, 0);

	OK(syncfs(fd));
	OK(close(fd));
}
