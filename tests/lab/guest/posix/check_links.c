// SPDX-License-Identifier: GPL-2.0-only
/* check_links.c - link counts, and files that lost their names. */
#include <sys/mman.h>

#include "posix.h"

#define LINKS 100

static void counts(void)
{
	char name[20];
	int i;

	make_file("file", 3000);
	for (i = 2; i <= LINKS; i++) {
		snprintf(name, sizeof(name), "link%d", i);
		OK(link("file", name));
		EQUAL(i, status_of("file").st_nlink);
		EQUAL(status_of("file").st_ino, status_of(name).st_ino);
	}
	FAILS(EEXIST, link("file", "link2"));
	remount();
	EQUAL(LINKS, status_of("link50").st_nlink);
	OK(unlink("file"));
	EQUAL(LINKS - 1, status_of("link50").st_nlink);
	remount();
	EQUAL(LINKS - 1, status_of("link50").st_nlink);
	for (i = 2; i < LINKS; i++) {
		snprintf(name, sizeof(name), "link%d", i);
		OK(unlink(name));
	}
	snprintf(name, sizeof(name), "link%d", LINKS);
	EQUAL(1, status_of(name).st_nlink);
	remount();
	expect_pattern(name, 3000);
	EQUAL(1, status_of(name).st_nlink);
}

/* The first name is nothing special. */
static void original_deleted(void)
{
	ino_t inode;

	OK(mkdir("dir", 0755));
	make_file("first", 6000);
	OK(chmod("first", 0751));
	OK(link("first", "dir/second"));
	OK(link("dir/second", "third"));
	inode = status_of("first").st_ino;
	OK(unlink("first"));
	remount();
	EQUAL(inode, status_of("third").st_ino);
	EQUAL(2, status_of("third").st_nlink);
	EQUAL(S_IFREG | 0751, status_of("dir/second").st_mode);
	expect_pattern("dir/second", 6000);
	/* Through any name it is one file. */
	OK(truncate("third", 5000));
	OK(chmod("dir/second", 0600));
	OK(rename("third", "fourth"));
	OK(unlink("dir/second"));
	OK(rmdir("dir"));
	remount();
	expect_pattern("fourth", 5000);
	EQUAL(S_IFREG | 0600, status_of("fourth").st_mode);
	EQUAL(inode, status_of("fourth").st_ino);
	EQUAL(1, status_of("fourth").st_nlink);
}

static void kinds(void)
{
	OK(mkdir("dir", 0755));
	OK(symlink("dir", "symlink"));
	OK(mkfifo("fifo", 0600));
	FAILS(EPERM, link("dir", "dir2"));
	OK(link("symlink", "symlink2"));
	OK(link("fifo", "fifo2"));
	remount();
	TRUE(S_ISLNK(status_of("symlink2").st_mode), "the link was followed");
	EQUAL(2, status_of("symlink2").st_nlink);
	EQUAL(2, status_of("fifo2").st_nlink);
	OK(unlink("symlink"));
	OK(unlink("fifo"));
	remount();
	EQUAL(1, status_of("symlink2").st_nlink);
	EQUAL(1, status_of("fifo2").st_nlink);
	TRUE(S_ISFIFO(status_of("fifo2").st_mode), "no FIFO any more");
}

static void directory_counts(void)
{
	struct stat status;

	EQUAL(directory_links(0), status_of(".").st_nlink);
	OK(mkdir("a", 0755));
	OK(mkdir("b", 0755));
	make_empty("file");
	EQUAL(directory_links(2), status_of(".").st_nlink);
	EQUAL(directory_links(0), status_of("a").st_nlink);
	OK(rmdir("a"));
	EQUAL(directory_links(1), status_of(".").st_nlink);
	remount();
	EQUAL(directory_links(1), status_of(".").st_nlink);
	OK(stat(opt.dir, &status));
	TRUE(status.st_nlink >= directory_links(1) + opt.root_links, "the root has %u links",
	     (unsigned int)status.st_nlink);
}

static void unlinked_open(void)
{
	unsigned char *data = malloc(20000);
	struct stat status;
	ino_t inode;
	int fd;

	make_file("file", 10000);
	fd = must_open("file", O_RDWR, 0);
	inode = status_of("file").st_ino;
	OK(unlink("file"));
	FAILS(ENOENT, open("file", O_RDONLY));
	OK(fstat(fd, &status));
	EQUAL(0, status.st_nlink);
	EQUAL(10000, status.st_size);
	make_file("file", 50);
	TRUE(status_of("file").st_ino != inode, "one inode number for two files");
	sync_here();
	EQUAL(5000, pwrite(fd, data, 5000, 15000));
	OK(ftruncate(fd, 12000));
	OK(ftruncate(fd, 16000));
	OK(fchmod(fd, 0600));
	OK(fsync(fd));
	OK(fstat(fd, &status));
	EQUAL(16000, status.st_size);
	EQUAL(16000, pread(fd, data, 20000, 0));
	expect_zeros(fd, 12000, 4000);
	OK(close(fd));
	expect_pattern("file", 50);
	remount();
	expect_pattern("file", 50);
	free(data);
}

/* No name may be given to a file that lost its last one. */
static void unlinked_again(void)
{
	char path[40];
	int fd = must_open("file", O_CREAT | O_RDWR, 0644);

	OK(unlink("file"));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!exists(path))
		skip("no /proc");
	FAILS(ENOENT, linkat(AT_FDCWD, path, AT_FDCWD, "again",
			     AT_SYMLINK_FOLLOW));
	OK(close(fd));
}

static void unlinked_space(void)
{
	const uint64_t bytes = 1 << 20;
	uint64_t before, used;
	int fd;

	sync_here();
	before = free_bytes();
	make_file("file", bytes);
	sync_here();
	used = before - free_bytes();
	TRUE(used >= bytes / 2 && used < 3 * bytes,
	     "a file of %llu bytes took %llu", (unsigned long long)bytes,
	     (unsigned long long)used);
	fd = must_open("file", O_RDWR, 0);
	OK(unlink("file"));
	sync_here();
	TRUE(free_bytes() + bytes / 2 < before,
	     "space of an open file is free");
	OK(close(fd));
	sync_here();
	TRUE(free_bytes() + bytes / 2 >= before,
	     "free before %llu, after the file is gone %llu",
	     (unsigned long long)before, (unsigned long long)free_bytes());
}

/* A directory that is gone, but is still somebody's working directory. */
static void removed_directory(void)
{
	struct stat status;

	OK(mkdir("dir", 0755));
	OK(chdir("dir"));
	OK(rmdir("../dir"));
	FAILS(ENOENT, open("file", O_CREAT | O_RDWR, 0644));
	FAILS(ENOENT, mkdir("sub", 0755));
	FAILS(ENOENT, symlink("x", "link"));
	OK(stat(".", &status));
	EQUAL(0, status.st_nlink);
	OK(chdir(".."));
}

const struct check link_checks[] = {
	{ "link-counts", counts },
	{ "link-original-deleted", original_deleted },
	{ "link-kinds", kinds },
	{ "link-directory-counts", directory_counts },
	{ "unlinked-open", unlinked_open },
	{ "unlinked-again", unlinked_again },
	{ "unlinked-space", unlinked_space },
	{ "removed-directory", removed_directory },
	{ NULL, NULL },
};
