// SPDX-License-Identifier: GPL-2.0-only
/* facts.c - see facts.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "workloads/random/facts.h"
#include "workloads/random/model.h"

#define PROBE ".probe"
#define LONGEST_LINK 4095u
#define USUAL_XATTR 1000u

struct probe {
	struct options *opt;
	char dir[512], file[520], other[520];
};

static bool make_file(const char *path)
{
	int fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	bool made = fd >= 0 && write(fd, "probe", 5) == 5;

	if (fd >= 0)
		close(fd);
	return made;
}

/* An overlay promises the longer one of what its two layers take. */
static void find_longest_name(struct probe *probe)
{
	char path[sizeof(probe->dir) + NAME_MAX + 2];
	size_t length = NAME_MAX;
	bool made = false;

	for (; length && !made; length -= !made) {
		snprintf(path, sizeof(path), "%s/", probe->dir);
		memset(path + strlen(probe->dir) + 1, 'n', length);
		path[strlen(probe->dir) + 1 + length] = '\0';
		made = make_file(path);
		unlink(path);
	}
	probe->opt->name_max = length;
	probe->opt->name_used = length;
}

static bool takes_link(const struct probe *probe, size_t length)
{
	char target[LONGEST_LINK + 1];
	bool takes;

	memset(target, 't', length);
	target[length] = '\0';
	takes = !symlink(target, probe->other);
	unlink(probe->other);
	return takes;
}

static void find_longest_link(struct probe *probe)
{
	size_t fits = 2, too_long = LONGEST_LINK + 1;

	while (too_long - fits > 1) {
		size_t length = (fits + too_long) / 2;

		if (takes_link(probe, length))
			fits = length;
		else
			too_long = length;
	}
	probe->opt->symlink_max = fits;
}

/* Several names take more room than one: of less than usual half is used. */
static void find_xattrs(struct probe *probe)
{
	static const char value[USUAL_XATTR];
	size_t bytes = USUAL_XATTR;

	while (bytes >= 100 &&
	       setxattr(probe->file, "trusted.x", value, bytes, 0))
		bytes /= 2;
	probe->opt->no_xattr = probe->opt->no_xattr || bytes < 100;
	probe->opt->xattr_max = bytes == USUAL_XATTR ? bytes : bytes / 2;
	probe->opt->no_security =
		setxattr(probe->file, "security.x", "x", 1, 0) != 0;
}

static void find_calls(struct probe *probe)
{
	int fd = open(probe->dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	void *memory;

	probe->opt->tmpfile = fd >= 0;
	if (fd >= 0)
		close(fd);
	probe->opt->exchange = make_file(probe->other) &&
		!syscall(SYS_renameat2, AT_FDCWD, probe->file, AT_FDCWD,
			 probe->other, RENAME_EXCHANGE);
	unlink(probe->other);
	fd = open(probe->file, O_RDWR | O_CLOEXEC);
	memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	probe->opt->no_mmap_write = memory == MAP_FAILED;
	if (memory != MAP_FAILED)
		munmap(memory, PAGE);
	close(fd);
}

static void find_granularity(struct probe *probe)
{
	const struct timespec times[2] = { { 1000, 123456789 },
					   { 1000, 123456789 } };
	struct stat status;

	if (!utimensat(AT_FDCWD, probe->file, times, 0) &&
	    !stat(probe->file, &status) && !status.st_mtim.tv_nsec)
		probe->opt->granularity_ns = 1000000000;
}

/*
 * An overlay whose layers are two file systems has inode numbers of its own for
 * directories, and of readdir() those of the upper one for what was moved.
 */
static void find_inode_numbers(struct probe *probe)
{
	struct statfs status;

	probe->opt->no_inode_numbers =
		!statfs(probe->dir, &status) &&
		(unsigned long)status.f_type == OVERLAYFS_SUPER_MAGIC;
}

static int find_links(struct probe *probe, struct ffs_error *error)
{
	const char *dir = probe->opt->dir;
	unsigned int below = 0;
	struct dirent *item;
	struct stat status;
	DIR *stream;

	if (stat(probe->dir, &status))
		return ffs_fail(error, errno, "cannot look at %s", probe->dir);
	probe->opt->one_link = status.st_nlink == 1;
	stream = opendir(dir);
	if (!stream || stat(dir, &status))
		return ffs_fail(error, errno, "cannot look at %s", dir);
	while ((item = readdir(stream)))
		below += item->d_type == DT_DIR && strcmp(item->d_name, ".") &&
			 strcmp(item->d_name, "..");
	closedir(stream);
	probe->opt->root_one_link = status.st_nlink == 1;
	if (status.st_nlink != 1)
		probe->opt->root_links = status.st_nlink - 2 - below;
	return 0;
}

int facts_find(struct options *opt, struct ffs_error *error)
{
	struct probe probe = { .opt = opt };
	struct statvfs space;
	int result;

	snprintf(probe.dir, sizeof(probe.dir), "%s/" PROBE, opt->dir);
	snprintf(probe.file, sizeof(probe.file), "%s/file", probe.dir);
	snprintf(probe.other, sizeof(probe.other), "%s/other", probe.dir);
	if (statvfs(opt->dir, &space) || mkdir(probe.dir, 0700) ||
	    !make_file(probe.file))
		return ffs_fail(error, errno, "cannot try what %s can do",
				opt->dir);
	opt->name_shown = space.f_namemax;
	find_longest_name(&probe);
	find_longest_link(&probe);
	find_xattrs(&probe);
	find_calls(&probe);
	find_granularity(&probe);
	find_inode_numbers(&probe);
	result = find_links(&probe, error);
	if (unlink(probe.file) || rmdir(probe.dir))
		return ffs_fail(error, errno, "cannot remove %s", probe.dir);
	return result;
}
