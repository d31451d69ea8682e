// SPDX-License-Identifier: GPL-2.0-only
/* check_directory.c - directories: listing, size, depth. */
#include <dirent.h>
#include <time.h>

#include "posix.h"

static DIR *open_dir(const char *path)
{
	DIR *dir = opendir(path);

	TRUE(dir, "opendir(%s): %s", path, strerror(errno));
	return dir;
}

static unsigned int count_entries(const char *path)
{
	unsigned int count = 0;
	DIR *dir = open_dir(path);

	while (errno = 0, readdir(dir))
		count++;
	EQUAL(0, errno);
	OK(closedir(dir));
	return count;
}

static void dots(void)
{
	unsigned int seen = 0;
	struct dirent *item;
	DIR *dir;

	OK(mkdir("dir", 0755));
	EQUAL(2, count_entries("dir"));
	dir = open_dir("dir");
	while ((item = readdir(dir))) {
		if (!strcmp(item->d_name, "."))
			EQUAL(status_of("dir").st_ino, item->d_ino);
		else if (!strcmp(item->d_name, ".."))
			EQUAL(status_of(".").st_ino, item->d_ino);
		else
			TRUE(false, "%s should not be there", item->d_name);
		TRUE(item->d_type == DT_DIR || item->d_type == DT_UNKNOWN,
		     "d_type is %u", item->d_type);
		seen++;
	}
	EQUAL(2, seen);
	OK(closedir(dir));
}

static void types(void)
{
	struct dirent *item;
	struct stat status;
	unsigned int seen = 0;
	DIR *dir;

	OK(mkdir("dir", 0755));
	OK(chdir("dir"));
	make_empty("file");
	OK(mkdir("sub", 0755));
	OK(symlink("x", "link"));
	OK(mkfifo("fifo", 0644));
	OK(mknod("socket", S_IFSOCK | 0644, 0));
	OK(mknod("char", S_IFCHR | 0644, 0x103));
	OK(mknod("block", S_IFBLK | 0644, 0x103));
	OK(link("file", "hard"));
	OK(link("link", "hard-link"));
	OK(chdir(".."));
	remount();
	dir = open_dir("dir");
	OK(chdir("dir"));
	while ((item = readdir(dir))) {
		if (item->d_name[0] == '.')
			continue;
		status = status_of(item->d_name);
		TRUE(item->d_type == DT_UNKNOWN ||
		     item->d_type == IFTODT(status.st_mode),
		     "d_type of %s is %u", item->d_name, item->d_type);
		EQUAL(status.st_ino, item->d_ino);
		seen++;
	}
	EQUAL(9, seen);
	OK(closedir(dir));
	OK(chdir(".."));
}

/* A stream that is rewound shows what is there then. */
static void rewound(void)
{
	char name[20];
	DIR *dir;
	int i;

	OK(mkdir("dir", 0755));
	dir = open_dir("dir");
	while (readdir(dir))
		;
	for (i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "dir/%d", i);
		make_empty(name);
	}
	rewinddir(dir);
	for (i = 0; readdir(dir); i++)
		;
	EQUAL(22, i);
	OK(unlink("dir/7"));
	rewinddir(dir);
	for (i = 0; readdir(dir); i++)
		;
	EQUAL(21, i);
	OK(closedir(dir));
}

static void removed_while_read(void)
{
	char path[300];
	struct dirent *item;
	unsigned int seen = 0;
	DIR *dir;
	int i;

	OK(mkdir("dir", 0755));
	for (i = 0; i < 500; i++) {
		snprintf(path, sizeof(path), "dir/%d", i);
		make_empty(path);
	}
	dir = open_dir("dir");
	while ((item = readdir(dir))) {
		if (item->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "dir/%s", item->d_name);
		OK(unlink(path));
		seen++;
	}
	EQUAL(500, seen);
	OK(rmdir("dir"));
	/* The stream of a directory that is gone has come to its end. */
	rewinddir(dir);
	while ((item = readdir(dir)))
		TRUE(item->d_name[0] == '.', "%s is still listed",
		     item->d_name);
	OK(closedir(dir));
}

static void deep(void)
{
	int depth;

	for (depth = 0; depth < 60; depth++) {
		OK(mkdir("level", 0755));
		OK(chdir("level"));
	}
	make_file("file", 3000);
	for (depth = 0; depth < 60; depth++)
		OK(chdir(".."));
	remount();
	for (depth = 0; depth < 60; depth++)
		OK(chdir("level"));
	expect_pattern("file", 3000);
	OK(unlink("file"));
	for (depth = 0; depth < 60; depth++) {
		OK(chdir(".."));
		OK(rmdir("level"));
	}
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static void entry_name(uint64_t i, char *name)
{
	sprintf(name, "large/%llx-entry", (unsigned long long)rng_mix(i));
}

/* Each step of the work is printed with its time, in ms for each entry. */
static void timed(const char *what, double start, uint64_t count)
{
	printf("  directory-large: %s: %.4f ms for each of %llu\n", what,
	       (seconds() - start) * 1000 / count, (unsigned long long)count);
}

static void create_entries(uint64_t from, uint64_t to)
{
	double start = seconds();
	char name[60];
	uint64_t i;

	for (i = from; i < to; i++) {
		entry_name(i, name);
		make_empty(name);
	}
	timed("create", start, to - from);
}

static void look_up(uint64_t entries)
{
	double start = seconds();
	char name[60];
	uint64_t i;

	for (i = 0; i < 2000; i++) {
		entry_name(rng_mix(~i) % entries, name);
		TRUE(exists(name), "%s is missing", name);
	}
	timed("look up", start, 2000);
	sprintf(name, "large/none");
	TRUE(!exists(name), "%s is there", name);
}

static void large(void)
{
	uint64_t n = opt.entries, i;
	char name[60];
	double start;

	OK(mkdir("large", 0755));
	create_entries(0, n / 10);
	create_entries(n / 10, n);
	start = seconds();
	EQUAL(n + 2, count_entries("large"));
	timed("list", start, n);
	start = seconds();
	remount();
	timed("umount and mount", start, 1);
	EQUAL(n + 2, count_entries("large"));
	look_up(n);
	start = seconds();
	for (i = 0; i < n; i += 2) {
		entry_name(i, name);
		OK(unlink(name));
	}
	timed("delete", start, n / 2);
	EQUAL(n / 2 + 2, count_entries("large"));
	remount();
	EQUAL(n / 2 + 2, count_entries("large"));
	for (i = 1; i < n; i += 2) {
		entry_name(i, name);
		OK(unlink(name));
	}
	EQUAL(2, count_entries("large"));
	OK(rmdir("large"));
}

const struct check directory_checks[] = {
	{ "directory-dots", dots },
	{ "directory-types", types },
	{ "directory-rewound", rewound },
	{ "directory-removed-while-read", removed_while_read },
	{ "directory-deep", deep },
	{ "directory-large", large },
	{ NULL, NULL },
};
