// SPDX-License-Identifier: GPL-2.0-only
/*
 * check_names.c - names and paths: which exist, which are refused, and how.
 */
#include "posix.h"

static void exclusive(void)
{
	make_file("file", 10);
	OK(mkdir("dir", 0755));
	OK(symlink("nowhere", "link"));
	FAILS(EEXIST, open("file", O_CREAT | O_EXCL | O_RDWR, 0644));
	FAILS(EEXIST, open("dir", O_CREAT | O_EXCL | O_RDWR, 0644));
	FAILS(EEXIST, open("link", O_CREAT | O_EXCL | O_RDWR, 0644));
	FAILS(EEXIST, mkdir("file", 0755));
	FAILS(EEXIST, mkdir("dir", 0755));
	FAILS(EEXIST, mkdir("link", 0755));
	FAILS(EEXIST, symlink("x", "file"));
	FAILS(EEXIST, symlink("x", "dir"));
	FAILS(EEXIST, mknod("file", S_IFIFO | 0644, 0));
	FAILS(EEXIST, link("file", "dir"));
	FAILS(EEXIST, link("file", "link"));
	FAILS(EEXIST, mkdir(".", 0755));
	expect_pattern("file", 10);
	/* Without O_EXCL a link to nothing makes its target. */
	OK(close(must_open("link", O_CREAT | O_RDWR, 0644)));
	TRUE(S_ISREG(status_of("nowhere").st_mode), "the target was not made");
}

static void missing(void)
{
	struct timespec times[2] = { { 0, UTIME_NOW }, { 0, UTIME_NOW } };
	struct stat status;
	char text[10];

	FAILS(ENOENT, open("none", O_RDWR));
	FAILS(ENOENT, open("", O_RDWR));
	FAILS(ENOENT, stat("none", &status));
	FAILS(ENOENT, unlink("none"));
	FAILS(ENOENT, rmdir("none"));
	FAILS(ENOENT, rename("none", "other"));
	FAILS(ENOENT, link("none", "other"));
	FAILS(ENOENT, truncate("none", 0));
	FAILS(ENOENT, chmod("none", 0600));
	FAILS(ENOENT, chown("none", 1, 1));
	FAILS(ENOENT, utimensat(AT_FDCWD, "none", times, 0));
	FAILS(ENOENT, readlink("none", text, sizeof(text)));
	FAILS(ENOENT, mkdir("none/dir", 0755));
	FAILS(ENOENT, symlink("x", "none/link"));
	FAILS(ENOENT, mknod("none/fifo", S_IFIFO | 0644, 0));
	FAILS(ENOENT, open("none/file", O_CREAT | O_RDWR, 0644));
	make_empty("file");
	FAILS(ENOENT, rename("file", "none/file"));
	FAILS(ENOENT, link("file", "none/file"));
	FAILS(ENOENT, symlink("", "link"));
	OK(unlink("file"));
	FAILS(ENOENT, unlink("file"));
}

static void not_directory(void)
{
	struct stat status;

	make_file("file", 10);
	OK(mkdir("dir", 0755));
	FAILS(ENOTDIR, open("file/x", O_CREAT | O_RDWR, 0644));
	FAILS(ENOTDIR, stat("file/x", &status));
	FAILS(ENOTDIR, stat("file/", &status));
	FAILS(ENOTDIR, mkdir("file/x", 0755));
	FAILS(ENOTDIR, unlink("file/x"));
	FAILS(ENOTDIR, rmdir("file"));
	FAILS(ENOTDIR, rename("file/x", "y"));
	FAILS(ENOTDIR, rename("dir", "file"));
	FAILS(ENOTDIR, rename("file", "dir/../file/"));
	FAILS(ENOTDIR, link("file", "file/x"));
	FAILS(ENOTDIR, symlink("x", "file/x"));
	FAILS(ENOTDIR, open("file", O_RDONLY | O_DIRECTORY));
	FAILS(ENOTDIR, chdir("file"));
	expect_pattern("file", 10);
}

static void is_directory(void)
{
	char data[10];
	int fd;

	OK(mkdir("dir", 0755));
	make_empty("file");
	FAILS(EISDIR, open("dir", O_WRONLY));
	FAILS(EISDIR, open("dir", O_RDWR));
	FAILS(EISDIR, open("dir", O_RDONLY | O_CREAT, 0644));
	FAILS(EISDIR, open("dir", O_RDWR | O_TRUNC));
	FAILS(EISDIR, unlink("dir"));
	FAILS(EISDIR, rename("file", "dir"));
	FAILS(EISDIR, truncate("dir", 0));
	FAILS(EISDIR, unlink("."));
	fd = must_open("dir", O_RDONLY, 0);
	FAILS(EISDIR, read(fd, data, sizeof(data)));
	FAILS(EBADF, write(fd, data, sizeof(data)));
	FAILS(EINVAL, ftruncate(fd, 0));
	OK(close(fd));
}

static void not_empty(void)
{
	OK(mkdir("full", 0755));
	OK(mkdir("other", 0755));
	make_file("full/file", 10);
	FAILS(ENOTEMPTY, rmdir("full"));
	FAILS(ENOTEMPTY, rename("other", "full"));
	FAILS(ENOTEMPTY, rmdir("full/.."));
	FAILS(EINVAL, rmdir("full/."));
	FAILS(EINVAL, rmdir("."));
	FAILS(EBUSY, rename(".", "elsewhere"));
	FAILS(EBUSY, rename("other", "full/.."));
	OK(unlink("full/file"));
	OK(rename("other", "full"));
	OK(rmdir("full"));
}

static char *long_name(size_t bytes, char letter)
{
	char *name = malloc(bytes + 1);

	memset(name, letter, bytes);
	name[bytes] = '\0';
	return name;
}

static void longest(void)
{
	char *a = long_name(opt.name_max, 'a');
	char *b = long_name(opt.name_max, 'b');
	char *c = long_name(opt.name_max, 'c');
	char *d = long_name(opt.name_max, 'd');

	make_file(a, 3000);
	OK(mkdir(b, 0755));
	OK(symlink("target", c));
	OK(link(a, d));
	remount();
	expect_pattern(a, 3000);
	expect_pattern(d, 3000);
	EQUAL(2, status_of(a).st_nlink);
	TRUE(S_ISDIR(status_of(b).st_mode), "no directory after a mount");
	TRUE(S_ISLNK(status_of(c).st_mode), "no link after a mount");
	/* Names that differ in the last byte only. */
	a[opt.name_max - 1] = 'x';
	FAILS(ENOENT, unlink(a));
	OK(rename(d, a));
	remount();
	expect_pattern(a, 3000);
	FAILS(ENOENT, unlink(d));
	OK(unlink(a));
	a[opt.name_max - 1] = 'a';
	expect_pattern(a, 3000);
	OK(rmdir(b));
	OK(unlink(c));
}

static void too_long(void)
{
	char *name = long_name(opt.name_max + 1, 'n');
	struct stat status;

	make_file("file", 10);
	OK(mkdir("dir", 0755));
	FAILS(ENAMETOOLONG, open(name, O_CREAT | O_RDWR, 0644));
	FAILS(ENAMETOOLONG, open(name, O_RDONLY));
	FAILS(ENAMETOOLONG, mkdir(name, 0755));
	FAILS(ENAMETOOLONG, mknod(name, S_IFIFO | 0644, 0));
	FAILS(ENAMETOOLONG, symlink("x", name));
	FAILS(ENAMETOOLONG, link("file", name));
	FAILS(ENAMETOOLONG, rename("file", name));
	FAILS(ENAMETOOLONG, rename("dir", name));
	FAILS(ENAMETOOLONG, rename(name, "other"));
	FAILS(ENAMETOOLONG, stat(name, &status));
	FAILS(ENAMETOOLONG, unlink(name));
	FAILS(ENAMETOOLONG, rmdir(name));
	expect_pattern("file", 10);
}

/* Every byte but '/' and NUL is good in a name, and names mean nothing. */
static void any_bytes(void)
{
	static const char *const odd[] = {
		"...", " ", "\n", "-", "\\", "lost+found", "unlinked",
		"deleted", "obj257", "\xff\xfe", "\xc3\xa4", "A", "a",
	};
	char name[3] = "xx";
	size_t i;
	int c;

	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		make_file(odd[i], 100 + i);
	for (c = 1; c < 256; c++) {
		if (c == '/')
			continue;
		name[1] = c;
		make_file(name, c);
	}
	remount();
	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		expect_pattern(odd[i], 100 + i);
	for (c = 1; c < 256; c++) {
		if (c == '/')
			continue;
		name[1] = c;
		expect_pattern(name, c);
	}
}

static void symlink_lengths(void)
{
	char text[5000], *target = long_name(opt.symlink_max, 't');
	size_t lengths[] = { 1, 2, 59, 60, 61, 100, opt.symlink_max - 1,
			     opt.symlink_max };
	char name[20];
	size_t i;

	for (i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "link%zu", i);
		target[lengths[i]] = '\0';
		OK(symlink(target, name));
		target[lengths[i]] = 't';
	}
	remount();
	for (i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "link%zu", i);
		EQUAL(lengths[i], status_of(name).st_size);
		EQUAL(lengths[i], readlink(name, text, sizeof(text)));
		TRUE(!memcmp(text, target, lengths[i]), "another target");
	}
	/* A small buffer gets what fits. */
	EQUAL(5, readlink("link5", text, 5));
	FAILS(EINVAL, readlink("link5", text, 0));
	target = long_name(opt.symlink_max + 1, 't');
	FAILS(ENAMETOOLONG, symlink(target, "link"));
	TRUE(!exists("link"), "a refused link is there");
	make_empty("file");
	FAILS(EINVAL, readlink("file", text, sizeof(text)));
	FAILS(EINVAL, readlink(".", text, sizeof(text)));
}

static void symlink_following(void)
{
	struct stat status;
	char name[20], next[20];
	int i;

	make_file("file", 5000);
	OK(mkdir("dir", 0755));
	make_file("dir/inner", 20);
	OK(symlink("file", "to-file"));
	OK(symlink("dir", "to-dir"));
	OK(symlink("b", "a"));
	OK(symlink("a", "b"));
	expect_pattern("to-file", 5000);
	expect_pattern("to-dir/inner", 20);
	OK(stat("to-file", &status));
	EQUAL(status_of("file").st_ino, status.st_ino);
	FAILS(ELOOP, open("a", O_RDONLY));
	FAILS(ELOOP, stat("a/x", &status));
	FAILS(ELOOP, open("to-file", O_RDONLY | O_NOFOLLOW));
	FAILS(ENOTDIR, open("to-dir", O_RDONLY | O_NOFOLLOW | O_DIRECTORY));
	FAILS(ENOTDIR, rmdir("to-dir"));
	OK(truncate("to-file", 100));
	expect_pattern("file", 100);
	OK(unlink("to-file"));
	expect_pattern("file", 100);
	OK(symlink("file", "chain0"));
	for (i = 1; i <= 41; i++) {
		snprintf(name, sizeof(name), "chain%d", i);
		snprintf(next, sizeof(next), "chain%d", i - 1);
		OK(symlink(next, name));
	}
	expect_pattern("chain39", 100);
	FAILS(ELOOP, open("chain40", O_RDONLY));
	OK(unlink("file"));
	FAILS(ENOENT, open("chain0", O_RDONLY));
}

const struct check name_checks[] = {
	{ "names-exclusive", exclusive },
	{ "names-missing", missing },
	{ "names-not-directory", not_directory },
	{ "names-is-directory", is_directory },
	{ "names-not-empty", not_empty },
	{ "names-longest", longest },
	{ "names-too-long", too_long },
	{ "names-any-bytes", any_bytes },
	{ "symlink-lengths", symlink_lengths },
	{ "symlink-following", symlink_following },
	{ NULL, NULL },
};
