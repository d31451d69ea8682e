// SPDX-License-Identifier: GPL-2.0-only
/* check_rename.c - rename() in its corner cases. */
#include "posix.h"

static void over_file(void)
{
	struct stat status;
	ino_t inode;
	int fd;

	make_file("old", 100);
	make_file("new", 7000);
	inode = status_of("old").st_ino;
	fd = must_open("new", O_RDWR, 0);
	OK(rename("old", "new"));
	EQUAL(inode, status_of("new").st_ino);
	TRUE(!exists("old"), "the old name is still there");
	expect_pattern("new", 100);
	/* What was replaced lives on for who has it open. */
	OK(fstat(fd, &status));
	EQUAL(0, status.st_nlink);
	EQUAL(7000, status.st_size);
	EQUAL(3, pwrite(fd, "abc", 3, 8000));
	OK(close(fd));
	remount();
	expect_pattern("new", 100);
	EQUAL(1, status_of("new").st_nlink);
	TRUE(!exists("old"), "the old name is back after a mount");
}

static void over_linked(void)
{
	make_file("a", 100);
	make_file("b", 5000);
	OK(link("b", "c"));
	OK(rename("a", "b"));
	EQUAL(1, status_of("c").st_nlink);
	remount();
	expect_pattern("b", 100);
	expect_pattern("c", 5000);
	EQUAL(1, status_of("c").st_nlink);
	EQUAL(1, status_of("b").st_nlink);
}

/* Two names of one file: rename does nothing, both stay. */
static void same_file(void)
{
	make_file("a", 100);
	OK(link("a", "b"));
	OK(rename("a", "b"));
	TRUE(exists("a") && exists("b"), "a name is gone");
	EQUAL(2, status_of("a").st_nlink);
	OK(rename("a", "a"));
	OK(mkdir("d", 0755));
	OK(rename("d", "d"));
	EQUAL(2, status_of("b").st_nlink);
}

static void directories(void)
{
	struct stat status;

	OK(mkdir("a", 0755));
	OK(mkdir("b", 0755));
	OK(mkdir("a/sub", 0755));
	make_file("a/sub/file", 3000);
	EQUAL(directory_links(1), status_of("a").st_nlink);
	EQUAL(directory_links(0), status_of("b").st_nlink);
	OK(rename("a/sub", "b/sub"));
	EQUAL(directory_links(0), status_of("a").st_nlink);
	EQUAL(directory_links(1), status_of("b").st_nlink);
	OK(stat("b/sub/..", &status));
	EQUAL(status_of("b").st_ino, status.st_ino);
	remount();
	expect_pattern("b/sub/file", 3000);
	EQUAL(directory_links(0), status_of("a").st_nlink);
	OK(stat("b/sub/..", &status));
	EQUAL(status_of("b").st_ino, status.st_ino);
	/* Over an empty directory. */
	OK(mkdir("a/empty", 0755));
	OK(rename("b/sub", "a/empty"));
	expect_pattern("a/empty/file", 3000);
	EQUAL(directory_links(1), status_of("a").st_nlink);
	EQUAL(directory_links(0), status_of("b").st_nlink);
	remount();
	expect_pattern("a/empty/file", 3000);
	EQUAL(directory_links(1), status_of("a").st_nlink);
	TRUE(!exists("b/sub"), "the old name is back after a mount");
}

static void into_itself(void)
{
	OK(mkdir("a", 0755));
	OK(mkdir("a/b", 0755));
	OK(mkdir("a/b/c", 0755));
	FAILS(EINVAL, rename("a", "a/b/c/a"));
	FAILS(EINVAL, rename("a", "a/x"));
	FAILS(EINVAL, rename("a", "a/b"));
	FAILS(ENOTEMPTY, rename("a/b/c", "a"));
	FAILS(ENOTEMPTY, rename("a/b/c", "a/b"));
	OK(rename("a/b/c", "a/c"));
	TRUE(exists("a/b") && exists("a/c"), "a directory is gone");
}

static void no_replace(void)
{
	make_file("a", 100);
	make_file("b", 200);
	FAILS(EEXIST, renameat2(AT_FDCWD, "a", AT_FDCWD, "b",
				RENAME_NOREPLACE));
	FAILS(EEXIST, renameat2(AT_FDCWD, "a", AT_FDCWD, "a",
				RENAME_NOREPLACE));
	expect_pattern("b", 200);
	OK(renameat2(AT_FDCWD, "a", AT_FDCWD, "c", RENAME_NOREPLACE));
	expect_pattern("c", 100);
	FAILS(EINVAL, renameat2(AT_FDCWD, "b", AT_FDCWD, "c",
				RENAME_NOREPLACE | RENAME_EXCHANGE));
}

static void exchange(void)
{
	make_file("a", 100);
	OK(mkdir("d", 0755));
	OK(mkdir("d/sub", 0755));
	FAILS(ENOENT, renameat2(AT_FDCWD, "a", AT_FDCWD, "none",
				RENAME_EXCHANGE));
	if (!opt.exchange) {
		FAILS(EINVAL, renameat2(AT_FDCWD, "a", AT_FDCWD, "d/sub",
					RENAME_EXCHANGE));
		expect_pattern("a", 100);
		EQUAL(directory_links(1), status_of("d").st_nlink);
		return;
	}
	OK(renameat2(AT_FDCWD, "a", AT_FDCWD, "d/sub", RENAME_EXCHANGE));
	remount();
	expect_pattern("d/sub", 100);
	EQUAL(directory_links(0), status_of("d").st_nlink);
	TRUE(S_ISDIR(status_of("a").st_mode), "not exchanged");
}

/* A descriptor follows its file; a link is renamed itself. */
static void open_and_links(void)
{
	char text[20];
	int fd;

	make_file("file", 100);
	fd = must_open("file", O_RDWR, 0);
	OK(mkdir("dir", 0755));
	OK(rename("file", "dir/moved"));
	EQUAL(3, pwrite(fd, "abc", 3, 0));
	OK(close(fd));
	fd = must_open("dir/moved", O_RDONLY, 0);
	EQUAL(3, pread(fd, text, 3, 0));
	TRUE(!memcmp(text, "abc", 3), "the write went elsewhere");
	OK(close(fd));
	OK(symlink("dir", "link"));
	OK(rename("link", "link2"));
	EQUAL(3, readlink("link2", text, sizeof(text)));
	make_file("file", 50);
	OK(rename("file", "link2"));
	TRUE(S_ISREG(status_of("link2").st_mode), "the link was followed");
	TRUE(S_ISDIR(status_of("dir").st_mode), "the target was replaced");
}

/* Each replaces the one before: one file is left, whatever was on the flash. */
static void many_times(void)
{
	char name[20];
	int i;

	for (i = 1; i <= 200; i++) {
		snprintf(name, sizeof(name), "new%d", i % 7);
		make_file(name, i * 10);
		OK(rename(name, "file"));
	}
	remount();
	expect_pattern("file", 2000);
	for (i = 0; i < 7; i++) {
		snprintf(name, sizeof(name), "new%d", i);
		TRUE(!exists(name), "%s is back after a mount", name);
	}
}

const struct check rename_checks[] = {
	{ "rename-over-file", over_file },
	{ "rename-over-linked", over_linked },
	{ "rename-same-file", same_file },
	{ "rename-directories", directories },
	{ "rename-into-itself", into_itself },
	{ "rename-no-replace", no_replace },
	{ "rename-exchange", exchange },
	{ "rename-open-and-links", open_and_links },
	{ "rename-many-times", many_times },
	{ NULL, NULL },
};
