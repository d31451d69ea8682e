// SPDX-License-Identifier: GPL-2.0-only
/* check_times.c - mtime and ctime; times of access are not looked at. */
#include <sys/xattr.h>
#include <time.h>

#include "posix.h"

#define NS_PER_S 1000000000ll
#define YEAR_2020_S 1577836800ll

static int64_t floor_ns(int64_t ns)
{
	return ns - ns % (int64_t)opt.granularity_ns;
}

/* Which of the two times an action must set, and which it must leave. */
static void expect_times(const char *what, const char *path, int64_t mtime,
			 int64_t ctime, bool sets_mtime, bool sets_ctime)
{
	TRUE((mtime_ns(path) != mtime) == sets_mtime, "%s %s mtime", what,
	     sets_mtime ? "leaves" : "sets");
	TRUE((ctime_ns(path) != ctime) == sets_ctime, "%s %s ctime", what,
	     sets_ctime ? "leaves" : "sets");
}

#define CHANGES(path, sets_mtime, sets_ctime, action) \
	do { \
		int64_t mtime_was = mtime_ns(path), ctime_was = ctime_ns(path); \
		tick(); \
		OK(action); \
		expect_times(#action, path, mtime_was, ctime_was, sets_mtime, \
			     sets_ctime); \
	} while (0)

static void wall_clock(void)
{
	int64_t before = floor_ns(now_ns()) - 50000000, found;

	TRUE(before > YEAR_2020_S * NS_PER_S, "the clock is not set");
	before = floor_ns(before);
	make_file("file", 10);
	OK(mkdir("dir", 0755));
	OK(symlink("x", "link"));
	remount();
	found = mtime_ns("file");
	TRUE(found >= before && found <= now_ns(), "mtime is %lld",
	     (long long)found);
	found = ctime_ns("dir");
	TRUE(found >= before && found <= now_ns(), "ctime is %lld",
	     (long long)found);
	found = mtime_ns("link");
	TRUE(found >= before && found <= now_ns(), "mtime is %lld",
	     (long long)found);
}

static void of_files(void)
{
	int fd = must_open("file", O_CREAT | O_RDWR, 0644);
	char data[10];

	CHANGES("file", true, true, write(fd, "abc", 3));
	CHANGES("file", false, false, pread(fd, data, 3, 0));
	if (!opt.lax_times)
		CHANGES("file", false, false, write(fd, "", 0));
	CHANGES("file", true, true, ftruncate(fd, 1000));
	CHANGES("file", true, true, ftruncate(fd, 10));
	CHANGES("file", true, true, ftruncate(fd, 10));
	if (!opt.lax_times)
		CHANGES("file", true, true, truncate("file", 5));
	CHANGES("file", false, true, fchmod(fd, 0600));
	CHANGES("file", false, true, chown("file", 5, 5));
	CHANGES("file", false, false, fsync(fd));
	OK(close(fd));
	CHANGES("file", false, false, close(open("file", O_RDWR)));
	CHANGES("file", true, true, close(open("file", O_RDWR | O_TRUNC)));
	if (!opt.lax_times) {
		CHANGES("file", false, true, link("file", "file2"));
		CHANGES("file", false, true, unlink("file2"));
		make_empty("file3");
		OK(link("file", "file2"));
		CHANGES("file", false, true, rename("file3", "file2"));
	}
	if (!opt.lax_times && !opt.no_xattr) {
		CHANGES("file", false, true,
			setxattr("file", "trusted.a", "b", 1, 0));
		CHANGES("file", false, true, removexattr("file", "trusted.a"));
	}
}

static void of_directories(void)
{
	OK(mkdir("d", 0755));
	CHANGES("d", true, true, close(open("d/f", O_CREAT | O_RDWR, 0644)));
	CHANGES("d", false, false, close(open("d/f", O_CREAT | O_RDWR, 0644)));
	CHANGES("d", false, false, truncate("d/f", 100));
	CHANGES("d", true, true, mkdir("d/s", 0755));
	CHANGES("d", true, true, symlink("x", "d/l"));
	CHANGES("d", true, true, mkfifo("d/p", 0644));
	CHANGES("d", true, true, link("d/f", "d/f2"));
	CHANGES("d", true, true, rename("d/f", "d/f3"));
	CHANGES("d", true, true, rename("d/f3", "outside"));
	CHANGES("d", true, true, rename("outside", "d/f"));
	CHANGES("d", true, true, unlink("d/f"));
	CHANGES("d", true, true, rmdir("d/s"));
	CHANGES("d", false, true, chmod("d", 0700));
	CHANGES("d", false, false, access("d/none", F_OK) ? 0 : -1);
}

/* What stat() says of a change is what a later mount says. */
static void survive(void)
{
	static const char *const names[] = { "file", "dir", "link", "fifo",
					     "renamed", "linked", "replaced" };
	int64_t mtime[7], ctime[7];
	size_t i;

	make_file("file", 5000);
	OK(mkdir("dir", 0755));
	OK(symlink("x", "link"));
	OK(mkfifo("fifo", 0644));
	make_file("old", 100);
	make_file("linked", 100);
	make_file("replaced", 100);
	OK(link("replaced", "replaced2"));
	make_file("over", 5);
	remount();
	tick();
	make_file("file", 6000);
	make_file("dir/inner", 10);
	OK(lchown("link", 3, 3));
	OK(chmod("fifo", 0600));
	OK(rename("old", "renamed"));
	OK(link("linked", "linked2"));
	OK(rename("over", "replaced2"));
	for (i = 0; i < 7; i++) {
		mtime[i] = mtime_ns(names[i]);
		ctime[i] = ctime_ns(names[i]);
	}
	tick();
	remount();
	for (i = 0; i < 7; i++) {
		TRUE(mtime_ns(names[i]) == mtime[i],
		     "mtime of %s was %lld and is %lld after a mount",
		     names[i], (long long)mtime[i],
		     (long long)mtime_ns(names[i]));
		TRUE(ctime_ns(names[i]) == ctime[i],
		     "ctime of %s was %lld and is %lld after a mount",
		     names[i], (long long)ctime[i],
		     (long long)ctime_ns(names[i]));
	}
}

/* 1970, the ends of 31 and 32 bits, and what a clock may show one day. */
static void set(void)
{
	static const int64_t seconds[] = { 0, 1, 86400, 2147483647, 2147483648,
					   2208988800, 4102444800, 4294967295,
					   4294967296, 7258118400 };
	struct timespec times[2] = { { 0, 0 }, { 0, 123456789 } };
	char name[20];
	size_t i;

	for (i = 0; i < 10; i++) {
		if ((uint64_t)seconds[i] > opt.time_max_s)
			continue;
		snprintf(name, sizeof(name), "file%zu", i);
		make_file(name, 10);
		times[1].tv_sec = seconds[i];
		times[0].tv_sec = seconds[9 - i];
		OK(utimensat(AT_FDCWD, name, times, 0));
	}
	remount();
	for (i = 0; i < 10; i++) {
		int64_t wanted = seconds[i] * NS_PER_S + 123456789;

		if ((uint64_t)seconds[i] > opt.time_max_s)
			continue;
		snprintf(name, sizeof(name), "file%zu", i);
		/* The kernel drops those of the first second that there is. */
		if (!seconds[i] && !mtime_ns(name))
			continue;
		TRUE(mtime_ns(name) == floor_ns(wanted),
		     "mtime: expected %lld, found %lld",
		     (long long)floor_ns(wanted), (long long)mtime_ns(name));
	}
}

static void set_partly(void)
{
	struct timespec times[2] = { { 1, 0 }, { 0, UTIME_OMIT } };
	struct stat status;

	make_file("file", 10);
	CHANGES("file", false, true, utimensat(AT_FDCWD, "file", times, 0));
	times[1].tv_nsec = UTIME_NOW;
	CHANGES("file", true, true, utimensat(AT_FDCWD, "file", times, 0));
	CHANGES("file", true, true, utimensat(AT_FDCWD, "file", NULL, 0));
	TRUE(mtime_ns("file") <= now_ns(), "mtime is in the future");
	times[1].tv_nsec = NS_PER_S;
	FAILS(EINVAL, utimensat(AT_FDCWD, "file", times, 0));
	times[1].tv_nsec = 0;
	times[1].tv_sec = 1000;
	OK(symlink("file", "link"));
	OK(utimensat(AT_FDCWD, "link", times, AT_SYMLINK_NOFOLLOW));
	EQUAL(1000, status_of("link").st_mtim.tv_sec);
	status = status_of("file");
	TRUE(status.st_mtim.tv_sec != 1000, "the link was followed");
	remount();
	EQUAL(1000, status_of("link").st_mtim.tv_sec);
}

static void set_by_others(void)
{
	struct timespec times[2] = { { 1, 0 }, { 1, 0 } };

	FAILS(EPERM, utimensat(AT_FDCWD, "file", times, 0));
	FAILS(EACCES, utimensat(AT_FDCWD, "file", NULL, 0));
	OK(utimensat(AT_FDCWD, "writable", NULL, 0));
	FAILS(EPERM, utimensat(AT_FDCWD, "writable", times, 0));
	OK(utimensat(AT_FDCWD, "own", times, 0));
}

static void permission(void)
{
	make_file("file", 10);
	make_file("writable", 10);
	OK(chmod("writable", 0666));
	make_file("own", 10);
	OK(chown("own", 1000, 1000));
	as_user(1000, 1000, set_by_others);
}

const struct check time_checks[] = {
	{ "time-wall-clock", wall_clock },
	{ "time-of-files", of_files },
	{ "time-of-directories", of_directories },
	{ "time-survives", survive },
	{ "time-set", set },
	{ "time-set-partly", set_partly },
	{ "time-permission", permission },
	{ NULL, NULL },
};
