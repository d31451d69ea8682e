// SPDX-License-Identifier: GPL-2.0-only
/*
 * ops_full.c - the file system is filled to the last byte, used while it is
 * full, and emptied again.
 *
 * What may fail for want of space is done in the scratch directory and removed
 * before the operation ends, so the model need not know how much fitted.  The
 * rules: a call either succeeds or fails with ENOSPC; after ENOSPC everything
 * is as before; a short write changed exactly the bytes that it reports; what
 * was there before stays readable; removing always works, and gives the space
 * back.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "workloads/random/history.h"

#define FILL_FILE_BYTES (3u << 20)
#define FILL_FILES 64
#define VICTIM_BYTES 40000

struct fill {
	uint64_t seed;
	unsigned int files;
	uint64_t bytes[FILL_FILES];
};

static void scratch_path(struct history *h, const char *name, char *path)
{
	node_path(h, h->model.root, SCRATCH, path);
	sprintf(path + strlen(path), "/%s", name);
}

static void fill_path(struct history *h, unsigned int i, char *path)
{
	char name[32];

	snprintf(name, sizeof(name), "fill-%u", i);
	scratch_path(h, name, path);
}

/* Bytes that are a function of the seed and of their place in the file. */
static void pattern(uint64_t seed, uint64_t at, unsigned char *data,
		    size_t bytes)
{
	uint64_t word = 0;
	size_t i;

	for (i = 0; i < bytes; i++, at++) {
		if (!i || at % 8 == 0)
			word = rng_mix(seed + at / 8);
		data[i] = word >> at % 8 * 8;
	}
}

static uint64_t free_bytes(struct history *h, uint64_t *total)
{
	struct statvfs space;

	CALL(h, 0, statvfs(h->opt.dir, &space));
	if (total)
		*total = space.f_blocks * space.f_frsize;
	return space.f_bfree * space.f_frsize;
}

static void expect_size(struct history *h, int fd, uint64_t wanted)
{
	struct stat status;

	CALL(h, 0, fstat(fd, &status));
	if ((uint64_t)status.st_size != wanted)
		fail(h, NULL, "size after ENOSPC: expected %llu, found %llu",
		     (unsigned long long)wanted,
		     (unsigned long long)status.st_size);
}

/* Return: false once not even a small write finds space. */
static bool fill_file(struct history *h, struct fill *fill, int fd)
{
	uint64_t *bytes = &fill->bytes[fill->files];
	size_t longest = 64 * 1024;

	while (*bytes < FILL_FILE_BYTES && longest >= 256) {
		size_t part = rng_between(&h->aux, 1, longest);
		ssize_t done;

		pattern(fill->seed + fill->files, *bytes, h->buffer, part);
		done = pwrite(fd, h->buffer, part, *bytes);
		if (done < 0 && errno != ENOSPC)
			fail(h, NULL, "pwrite(): expected ENOSPC, found %s",
			     errno_name(errno));
		*bytes += done > 0 ? done : 0;
		if (done < (ssize_t)part) {
			expect_size(h, fd, *bytes);
			longest /= 4;
		}
	}
	return longest >= 256;
}

static void fill_up(struct history *h, struct fill *fill)
{
	char path[PATH_BYTES];
	bool more = true;
	int fd;

	for (fill->files = 0; more; fill->files++) {
		if (fill->files == FILL_FILES)
			fail(h, NULL, "%u files of %u bytes do not fill it",
			     FILL_FILES, FILL_FILE_BYTES);
		fill_path(h, fill->files, path);
		fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
		if (fd < 0 && errno == ENOSPC)
			return;
		CALL(h, 0, fd);
		more = fill_file(h, fill, fd);
		CALL(h, 0, fsync(fd));
		CALL(h, 0, close(fd));
	}
}

static void check_pattern(struct history *h, const char *path, uint64_t seed,
			  uint64_t bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t at;
	size_t part;

	CALL(h, 0, fd);
	expect_size(h, fd, bytes);
	for (at = 0; at < bytes; at += part) {
		part = bytes - at < 65536 ? bytes - at : 65536;
		pattern(seed, at, h->buffer, part);
		CALL(h, 0, pread(fd, h->other, part, at) == (ssize_t)part ?
				   0 : -1);
		if (memcmp(h->buffer, h->other, part))
			fail(h, NULL, "%s: wrong contents at %llu to %llu",
			     strrchr(path, '/'), (unsigned long long)at,
			     (unsigned long long)(at + part));
	}
	CALL(h, 0, close(fd));
}

static void check_fill(struct history *h, const struct fill *fill)
{
	char path[PATH_BYTES];
	unsigned int i;

	for (i = 0; i < fill->files; i++) {
		fill_path(h, i, path);
		check_pattern(h, path, fill->seed + i, fill->bytes[i]);
	}
}

/* Return: whether the call, whose result is @result, succeeded. */
static bool allowed(struct history *h, const char *call, long result)
{
	if (result < 0 && errno != ENOSPC)
		fail(h, NULL, "%s when full: expected success or ENOSPC, found %s",
		     call, errno_name(errno));
	return result >= 0;
}

static void expect_there(struct history *h, const char *path, bool there)
{
	struct stat status;

	CALL(h, there ? 0 : ENOENT, lstat(path, &status));
}

static void names_when_full(struct history *h)
{
	char path[PATH_BYTES], victim[PATH_BYTES];
	bool done;
	int fd;

	scratch_path(h, "victim", victim);
	scratch_path(h, "new", path);
	done = allowed(h, "mkdir()", mkdir(path, 0700));
	expect_there(h, path, done);
	if (done)
		CALL(h, 0, rmdir(path));
	done = allowed(h, "symlink()", symlink("target", path));
	expect_there(h, path, done);
	if (done)
		CALL(h, 0, unlink(path));
	done = allowed(h, "link()", link(victim, path));
	expect_there(h, path, done);
	if (done)
		CALL(h, 0, unlink(path));
	fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	done = allowed(h, "open()", fd);
	expect_there(h, path, done);
	if (done) {
		ssize_t part = pwrite(fd, h->buffer, 9000, 100);

		if (allowed(h, "pwrite()", part))
			expect_size(h, fd, 100 + part);
		else
			expect_size(h, fd, 0);
		CALL(h, 0, close(fd));
		CALL(h, 0, unlink(path));
	}
	done = allowed(h, "rename()", rename(victim, path));
	expect_there(h, path, done);
	expect_there(h, victim, !done);
	if (done && allowed(h, "rename()", rename(path, victim)))
		expect_there(h, path, false);
	else if (done)
		CALL(h, 0, unlink(path));
}

static void attributes_when_full(struct history *h, const char *victim)
{
	struct stat before, after;
	bool done;

	CALL(h, 0, lstat(victim, &before));
	done = allowed(h, "chmod()", chmod(victim, 0711));
	CALL(h, 0, lstat(victim, &after));
	if (after.st_mode != (done ? (S_IFREG | 0711) : before.st_mode))
		fail(h, NULL, "mode after chmod() %s: found %o",
		     done ? "succeeded" : "failed", after.st_mode);
	if (h->opt.no_xattr)
		return;
	done = allowed(h, "setxattr()",
		       setxattr(victim, "trusted.full", "abc", 3, 0));
	CALL(h, done ? 0 : ENODATA,
	     getxattr(victim, "trusted.full", h->other, 100));
}

/* An overwrite changes exactly what it reports. */
static void overwrite_when_full(struct history *h, const char *victim,
				uint64_t seed)
{
	uint64_t at = rng_below(&h->aux, VICTIM_BYTES - 9000);
	int fd = open(victim, O_RDWR | O_CLOEXEC);
	ssize_t done;

	CALL(h, 0, fd);
	pattern(~seed, at, h->buffer, 9000);
	done = pwrite(fd, h->buffer, 9000, at);
	if (!allowed(h, "pwrite()", done))
		done = 0;
	if (allowed(h, "fsync()", fsync(fd))) {
		pattern(seed, 0, h->buffer, VICTIM_BYTES);
		pattern(~seed, at, h->buffer + at, done);
		CALL(h, 0, pread(fd, h->other, VICTIM_BYTES, 0) ==
			   VICTIM_BYTES ? 0 : -1);
		if (memcmp(h->buffer, h->other, VICTIM_BYTES))
			fail(h, NULL, "an overwrite of 9000 bytes at %llu that reported %zd left other contents",
			     (unsigned long long)at, done);
	}
	if (allowed(h, "ftruncate()", ftruncate(fd, VICTIM_BYTES / 3)))
		expect_size(h, fd, VICTIM_BYTES / 3);
	else
		expect_size(h, fd, VICTIM_BYTES);
	CALL(h, 0, close(fd));
}

static void make_victim(struct history *h, const char *path, uint64_t seed)
{
	int fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);

	CALL(h, 0, fd);
	pattern(seed, 0, h->buffer, VICTIM_BYTES);
	CALL(h, 0, write(fd, h->buffer, VICTIM_BYTES) == VICTIM_BYTES ?
			   0 : -1);
	CALL(h, 0, fsync(fd));
	CALL(h, 0, close(fd));
}

static void use_when_full(struct history *h, struct fill *fill, bool remount)
{
	char victim[PATH_BYTES];
	struct stat status;

	scratch_path(h, "victim", victim);
	check_fill(h, fill);
	names_when_full(h);
	if (!lstat(victim, &status)) {
		attributes_when_full(h, victim);
		overwrite_when_full(h, victim, ~fill->seed);
	}
	if (remount && h->opt.type) {
		CALL(h, 0, umount(h->opt.dir));
		CALL(h, 0, mount(h->opt.source, h->opt.dir, h->opt.type,
				 h->opt.mount_flags, h->mount_data));
	}
	check_fill(h, fill);
	compare_tree(h);
}

static void empty_again(struct history *h, const struct fill *fill)
{
	char path[PATH_BYTES];
	unsigned int i;

	for (i = 0; i < fill->files; i++) {
		fill_path(h, i, path);
		CALL(h, 0, unlink(path));
	}
	scratch_path(h, "victim", path);
	unlink(path);
	sync();
}

void op_fill(struct history *h)
{
	bool remount = chance(h, 40);
	struct fill fill = { 0 };
	uint64_t before, total;
	char path[PATH_BYTES];

	describe(h, NULL, NULL, "fill the file system%s",
		 remount ? ", umount and mount it" : "");
	if (remount)
		handles_close_all(h);
	if (!h->live)
		return;
	fill.seed = rng_next(&h->aux);
	sync();
	before = free_bytes(h, &total);
	scratch_path(h, "victim", path);
	make_victim(h, path, ~fill.seed);
	fill_up(h, &fill);
	use_when_full(h, &fill, remount);
	empty_again(h, &fill);
	if (free_bytes(h, NULL) + total / 8 < before)
		fail(h, NULL, "free bytes: %llu before filling, %llu after",
		     (unsigned long long)before,
		     (unsigned long long)free_bytes(h, NULL));
}
