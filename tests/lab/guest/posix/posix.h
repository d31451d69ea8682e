/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * posix.h - small named checks of what POSIX and Linux promise of a file
 * system.
 *
 * Each check runs in a process of its own, as root, with an empty directory of
 * the file system as its working directory, and ends at the first thing that
 * is not as expected.  What a file system does by design stands in the
 * options; a check that does not apply says why it is skipped.
 */
#ifndef POSIX_H
#define POSIX_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "core/random.h"

struct options {
	const char *dir;
	const char *type;		/* NULL: nothing is mounted anew */
	const char *source;
	const char *mount_options;	/* the first of several by '|' */
	uint64_t name_max;
	uint64_t symlink_max;
	uint64_t granularity_ns;
	uint64_t time_max_s;
	uint64_t id_max;
	uint64_t id_refused;		/* 0: none */
	uint64_t root_links;
	uint64_t xattr_max;
	uint64_t xattr_refused;
	uint64_t size_max;		/* of a file */
	uint64_t entries;		/* of the large directory */
	bool no_xattr;
	bool no_security;
	bool no_mmap_write;
	bool clean_tail;
	bool one_link;
	bool exchange;
	bool tmpfile;
	bool small_devices;
	const char *except;		/* checks not to run, by ',' */
	bool blocks_by_size;
	bool lax_times;
	bool no_dir_times;
	bool list;
};

extern struct options opt;

struct check {
	const char *name;
	void (*run)(void);
};

/* The checks of one file; the last one has no name. */
extern const struct check name_checks[];
extern const struct check rename_checks[];
extern const struct check link_checks[];
extern const struct check open_checks[];
extern const struct check data_checks[];
extern const struct check hole_checks[];
extern const struct check map_checks[];
extern const struct check time_checks[];
extern const struct check access_checks[];
extern const struct check special_checks[];
extern const struct check directory_checks[];
extern const struct check xattr_checks[];
extern const struct check mount_checks[];

/* support.c */
void unexpected(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4), noreturn));
void skip(const char *reason) __attribute__((noreturn));
void expect_result(const char *file, int line, const char *call, int wanted,
		   long result);
void expect_number(const char *file, int line, const char *what,
		   unsigned long long wanted, unsigned long long found);

/** OK(), FAILS() - the call succeeds; it fails with this errno. */
#define OK(call) \
	(errno = 0, expect_result(__FILE__, __LINE__, #call, 0, (long)(call)))
#define FAILS(wanted, call) \
	(errno = 0, expect_result(__FILE__, __LINE__, #call, wanted, \
				  (long)(call)))
/** EQUAL() - two numbers, the expected one first. */
#define EQUAL(wanted, found) \
	expect_number(__FILE__, __LINE__, #found, wanted, found)
#define TRUE(condition, ...) \
	do { \
		if (!(condition)) \
			unexpected(__FILE__, __LINE__, __VA_ARGS__); \
	} while (0)

/** must_open() - a descriptor. */
int must_open(const char *path, int flags, mode_t mode);

/** make_file() - a file with @bytes of pattern(), synchronised or not. */
void make_file(const char *path, size_t bytes);
void make_empty(const char *path);

/** pattern() - the bytes of make_file() at @at. */
void pattern(uint64_t at, unsigned char *data, size_t bytes);

/** expect_file() - its whole contents. */
void expect_file(const char *path, const void *data, size_t bytes);
void expect_pattern(const char *path, size_t bytes);
void expect_zeros(int fd, uint64_t at, uint64_t bytes);

/* st_nlink of a directory in which there are so many others. */
nlink_t directory_links(nlink_t directories);
struct stat status_of(const char *path);
bool exists(const char *path);

/** remount() - umount and mount; nothing without --type. */
void remount(void);
bool can_remount(void);
/** mount_again() - the parts of it, from outside of the file system. */
void leave_and_unmount(void);
void mount_and_enter(unsigned long flags);
const char *mount_data(void);

/** become() - another user for the rest of the check, without groups. */
void become(uid_t uid, gid_t gid);

/** in_child() - runs @run in a process; its failure is the check's. */
void in_child(void (*run)(void));
/** as_user() - the same as another user. */
void as_user(uid_t uid, gid_t gid, void (*run)(void));

/** tick() - waits until the times of files have a new value. */
void tick(void);
int64_t now_ns(void);
int64_t mtime_ns(const char *path);
int64_t ctime_ns(const char *path);

uint64_t free_bytes(void);
void sync_here(void);

#endif
