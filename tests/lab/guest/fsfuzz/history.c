// SPDX-License-Identifier: GPL-2.0-only
/*
 * history.c - see history.h. A call that fails ends the program: the file system is
 * sound here. Only extended attributes may be missing.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "guest.h"
#include "history.h"
#include "random.h"

#define ORPHANS	4

static int orphan[ORPHANS];

static void need(bool good, const char *what, const char *path)
{
	if (!good)
		die("base image: %s %s: %s", what, path, strerror(errno));
}

/* The path @name under @root, in one of some buffers in turn. */
static const char *in(const char *root, const char *name)
{
	static char paths[4][1024];
	static unsigned int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", root, name);
	return path;
}

static int open_file(const char *path, int flags)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | flags, 0644);

	need(fd >= 0, "open", path);
	return fd;
}

static void put(int fd, off_t at, size_t bytes, char fill)
{
	char buffer[4096];
	size_t n;

	memset(buffer, fill, sizeof(buffer));
	for (; bytes; bytes -= n, at += (off_t)n) {
		n = bytes < sizeof(buffer) ? bytes : sizeof(buffer);
		need(pwrite(fd, buffer, n, at) == (ssize_t)n, "write", "");
	}
}

static void make_file(const char *path, size_t bytes, char fill)
{
	int fd = open_file(path, O_TRUNC);

	put(fd, 0, bytes, fill);
	close(fd);
}

static void set_xattr(const char *path, const char *name, size_t bytes)
{
	char value[400];

	memset(value, 'v', sizeof(value));
	if (!lsetxattr(path, name, value, bytes, 0))
		return;
	need(errno == EOPNOTSUPP || errno == EPERM, "setxattr", path);
	say("base image: no attribute %s on %s: %s", name, path,
	    strerror(errno));
}

static void make_directories(const char *root)
{
	static const char *const names[] = {
		"d0", "d0/d1", "d0/d1/d2", "d0/d1/d2/d3", "d4", "d4/empty",
		"d5", "gone",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		need(!mkdir(in(root, names[i]), 0755), "mkdir", names[i]);
	need(!rmdir(in(root, "gone")), "rmdir", "gone");
	set_xattr(in(root, "d4"), "user.a", 20);
}

static void make_files(const char *root)
{
	static const size_t sizes[] = {
		0, 1, 500, 1008, 1023, 1024, 1025, 2032, 2048, 2049, 5000,
		16384, 17000, 40000,
	};
	static const char *const directories[] = {
		".", "d0", "d0/d1", "d0/d1/d2/d3", "d4",
	};
	char name[300], base[260];
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		snprintf(name, sizeof(name), "%s/size-%zu", directories[i % 5],
			 sizes[i]);
		make_file(in(root, name), sizes[i], (char)('A' + i));
		if (i % 3 == 0)
			set_xattr(in(root, name), "user.a", 10 * i);
		if (i % 5 == 0)
			set_xattr(in(root, name), "user.colour", 100);
	}
	memset(base, 'L', sizeof(base));
	base[254] = '\0';
	make_file(in(root, base), 100, 'l');
	base[16] = '\0';
	make_file(in(root, base), 100, 'l');
	base[15] = '\0';
	make_file(in(root, base), 100, 'l');
}

/* Holes, at the depths that a tree of 16 and then 8 branches has. */
static void make_holes(const char *root)
{
	int fd = open_file(in(root, "holes"), 0);

	put(fd, 0, 1000, 'h');
	put(fd, 20000, 3000, 'h');
	put(fd, 300000, 3000, 'h');
	put(fd, 3000000, 3000, 'h');
	close(fd);
	fd = open_file(in(root, "shrunk"), 0);
	put(fd, 0, 30000, 's');
	need(!fsync(fd), "fsync", "shrunk");
	need(!ftruncate(fd, 5000), "truncate", "shrunk");
	need(!fsync(fd), "fsync", "shrunk");
	need(!ftruncate(fd, 200000), "truncate", "shrunk");
	put(fd, 190000, 2000, 's');
	close(fd);
}

static void make_links(const char *root)
{
	char target[160];

	need(!symlink("d0/d1", in(root, "symlink")), "symlink", "");
	memset(target, 't', sizeof(target));
	target[159] = '\0';
	need(!symlink(target, in(root, "d5/symlink-long")), "symlink", "");
	make_file(in(root, "d5/first"), 3000, 'f');
	need(!link(in(root, "d5/first"), in(root, "d0/second")), "link", "");
	need(!link(in(root, "d5/first"), in(root, "third")), "link", "");
	/* The object moves to the place of a link. */
	need(!unlink(in(root, "d5/first")), "unlink", "first");
	need(!link(in(root, "third"), in(root, "d4/fourth")), "link", "");
}

static void make_special(const char *root)
{
	need(!mknod(in(root, "fifo"), S_IFIFO | 0600, 0), "mknod", "fifo");
	need(!mknod(in(root, "socket"), S_IFSOCK | 0600, 0), "mknod", "socket");
	need(!mknod(in(root, "d0/char"), S_IFCHR | 0600, makedev(1, 3)),
	     "mknod", "char");
	need(!mknod(in(root, "d0/block"), S_IFBLK | 0600, makedev(31, 0)),
	     "mknod", "block");
}

/* Names that change: what is replaced leaves traces of its own. */
static void rename_things(const char *root)
{
	make_file(in(root, "new"), 2500, 'n');
	make_file(in(root, "old"), 7000, 'o');
	need(!rename(in(root, "new"), in(root, "old")), "rename", "new");
	make_file(in(root, "moving"), 1500, 'm');
	need(!rename(in(root, "moving"), in(root, "d4/moved")), "rename", "");
	need(!rename(in(root, "d0/d1/d2"), in(root, "d5/d2")), "rename", "d2");
	make_file(in(root, "deleted"), 9000, 'x');
	need(!unlink(in(root, "deleted")), "unlink", "deleted");
	need(!chmod(in(root, "d0"), 0700), "chmod", "d0");
	need(!chown(in(root, "old"), 1000, 1000), "chown", "old");
}

void history_objects(const char *root)
{
	make_directories(root);
	make_files(root);
	make_holes(root);
	make_links(root);
	make_special(root);
	rename_things(root);
}

static uint64_t space(const char *root, bool total)
{
	struct statfs s;

	need(!statfs(root, &s), "statfs", root);
	return (uint64_t)s.f_bsize * (total ? s.f_blocks : s.f_bavail);
}

void history_churn(const char *root, unsigned int times)
{
	uint64_t left = space(root, true) * times;
	struct rng r = rng_for(1, 2, 3);
	char name[40];
	int fd;

	while (left > 5000) {
		uint32_t n = rng_below(&r, 12), bytes = 1 + rng_below(&r, 5000);

		snprintf(name, sizeof(name), "d4/churn-%u", n);
		fd = open_file(in(root, name), 0);
		put(fd, rng_below(&r, 20000), bytes, (char)('a' + n));
		if (rng_chance(&r, 20))
			need(!ftruncate(fd, rng_below(&r, 20000)), "truncate", "");
		close(fd);
		if (rng_chance(&r, 10))
			need(!unlink(in(root, name)), "unlink", name);
		left -= bytes;
	}
}

void history_many(const char *root, unsigned int n)
{
	char name[40];

	while (n--) {
		snprintf(name, sizeof(name), "d5/many-%u", n);
		make_file(in(root, name), 1 + n % 1500, 'M');
	}
}

void history_fill(const char *root, unsigned int percent)
{
	uint64_t keep = space(root, true) * percent / 100;
	char name[40], buffer[3000];
	unsigned int n = 0;
	bool full = false;

	memset(buffer, 'F', sizeof(buffer));
	while (!full && space(root, false) > keep) {
		int fd, i;

		snprintf(name, sizeof(name), "fill-%u", n++);
		fd = open(in(root, name), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0)
			break;
		for (i = 0; i < 6 && !full; i++)
			full = write(fd, buffer, sizeof(buffer)) <= 0;
		close(fd);
	}
}

/*
 * Two words of one hash in LogFS, found by trying: every way to put such words behind each
 * other has one hash, too. More names than the tries that a name has before its bucket.
 */
static void make_collisions(const char *root)
{
	static const char *const words[] = { "rlrqatdq", "nkziyqsv" };
	char name[60];
	unsigned int i;

	need(!mkdir(in(root, "hash"), 0755), "mkdir", "hash");
	for (i = 0; i < 16; i++) {
		snprintf(name, sizeof(name), "hash/%s%s%s%s", words[i & 1],
			 words[i >> 1 & 1], words[i >> 2 & 1], words[i >> 3]);
		make_file(in(root, name), 10 * i, (char)('0' + i));
	}
}

void history_deep(const char *root)
{
	static const off_t at[] = {
		70000, 3 << 20, (off_t)1 << 30, (off_t)3 << 30, (off_t)1 << 38,
		(off_t)600 << 30,
	};
	char name[40];
	size_t i;
	int fd;

	make_collisions(root);
	for (i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		snprintf(name, sizeof(name), "deep-%zu", i);
		fd = open_file(in(root, name), 0);
		put(fd, 0, 5000, 'D');
		put(fd, at[i], 9000, 'd');
		put(fd, at[i] / 2, 100, 'e');
		close(fd);
	}
}

void history_orphans(const char *root)
{
	char name[40];
	int i;

	for (i = 0; i < ORPHANS; i++) {
		snprintf(name, sizeof(name), "orphan-%d", i);
		orphan[i] = open_file(in(root, name), 0);
		put(orphan[i], 0, 5000, 'O');
		need(!fsync(orphan[i]), "fsync", name);
		need(!unlink(in(root, name)), "unlink", name);
	}
	make_file(in(root, "after"), 10, 'a');
	sync();
}

void history_close(void)
{
	int i;

	for (i = 0; i < ORPHANS; i++)
		if (orphan[i])
			close(orphan[i]);
}
