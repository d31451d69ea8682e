// SPDX-License-Identifier: GPL-2.0-only
/*
 * use.c - operations on a file system; see use.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "guest.h"
#include "use.h"

#define NEW_NAMES	24
#define FILL_CHUNKS	200

static const char *any_path(struct use *u)
{
	return u->path[rng_below(&u->rng, u->paths)];
}

/* A path whose mode is of that kind if there is one. */
static const char *path_of(struct use *u, mode_t kind)
{
	unsigned int first = rng_below(&u->rng, u->paths), i;

	for (i = 0; i < u->paths; i++) {
		unsigned int n = (first + i) % u->paths;

		if ((u->mode[n] & S_IFMT) == kind)
			return u->path[n];
	}
	return u->path[0];
}

/* A name in some directory that may or may not exist; sometimes a long one. */
static void new_path(struct use *u, char path[PATH_BYTES])
{
	const char *directory = path_of(u, S_IFDIR);
	uint32_t n = rng_below(&u->rng, NEW_NAMES);

	if (rng_chance(&u->rng, 10))
		snprintf(path, PATH_BYTES, "%.500s/%0*u", directory,
			 (int)(200 + rng_below(&u->rng, 56)), n);
	else
		snprintf(path, PATH_BYTES, "%.1000s/n%u", directory, n);
}

static int open_some(struct use *u, int flags)
{
	char path[PATH_BYTES];
	int fd;

	if (rng_chance(&u->rng, 60)) {
		snprintf(path, sizeof(path), "%s", path_of(u, S_IFREG));
	} else {
		new_path(u, path);
		flags |= O_CREAT;
	}
	fd = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
	tally(u, fd >= 0);
	return fd;
}

static off_t some_offset(struct use *u)
{
	if (rng_chance(&u->rng, 80))
		return rng_below(&u->rng, 100000);
	return (off_t)(1ull << rng_below(&u->rng, 45)) -
	       rng_below(&u->rng, 3000);
}

static void op_write(struct use *u)
{
	int fd = open_some(u, O_RDWR | (rng_chance(&u->rng, 20) ? O_TRUNC : 0) |
			   (rng_chance(&u->rng, 40) ? O_APPEND : 0));
	uint32_t n = 1 + rng_below(&u->rng, 4), i;

	for (i = 0; fd >= 0 && i < n; i++)
		tally(u, pwrite(fd, u->buffer, rng_below(&u->rng, 5000),
				some_offset(u)) >= 0);
	if (fd >= 0)
		close(fd);
}

static void op_truncate(struct use *u)
{
	int fd = open_some(u, O_RDWR);
	off_t size = rng_chance(&u->rng, 30) ? 0 : some_offset(u);

	if (fd < 0)
		return;
	tally(u, !ftruncate(fd, size));
	if (rng_chance(&u->rng, 30))
		tally(u, !ftruncate(fd, size / 2));
	close(fd);
}

static void op_sync(struct use *u)
{
	int fd = open_some(u, O_RDWR);

	if (fd < 0)
		return;
	tally(u, write(fd, u->buffer, 100) >= 0);
	switch (rng_below(&u->rng, 3)) {
	case 0:
		tally(u, !fsync(fd));
		break;
	case 1:
		tally(u, !fdatasync(fd));
		break;
	default:
		tally(u, !syncfs(fd));
		break;
	}
	close(fd);
}

static void op_rename(struct use *u)
{
	static const unsigned int flags[] = {
		0, 0, 0, 0, RENAME_NOREPLACE, RENAME_EXCHANGE, RENAME_WHITEOUT,
	};
	char to[PATH_BYTES];

	if (rng_chance(&u->rng, 50))
		new_path(u, to);
	else
		snprintf(to, sizeof(to), "%s", any_path(u));
	tally(u, !renameat2(AT_FDCWD, any_path(u), AT_FDCWD, to,
			    flags[rng_below(&u->rng, 7)]));
}

static void op_remove(struct use *u)
{
	const char *path = any_path(u);

	tally(u, !(rng_chance(&u->rng, 70) ? unlink(path) : rmdir(path)));
}

/* A file that goes on being written after it has lost its name. */
static void op_orphan(struct use *u)
{
	const char *path = path_of(u, S_IFREG);
	int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (!tally(u, fd >= 0))
		return;
	tally(u, !unlink(path));
	tally(u, pwrite(fd, u->buffer, 3000, some_offset(u)) >= 0);
	tally(u, pread(fd, u->buffer, 3000, 0) >= 0);
	close(fd);
}

static void op_make(struct use *u)
{
	char path[PATH_BYTES];

	new_path(u, path);
	switch (rng_below(&u->rng, 5)) {
	case 0:
	case 1:
		tally(u, !mkdir(path, 0755));
		break;
	case 2:
		u->buffer[rng_below(&u->rng, 300)] = '\0';
		tally(u, !symlink(*u->buffer ? u->buffer : "x", path));
		u->buffer[0] = 'b';
		break;
	case 3:
		tally(u, !mknod(path, S_IFIFO | 0600, 0));
		break;
	default:
		tally(u, !link(any_path(u), path));
		break;
	}
}

static void op_attributes(struct use *u)
{
	const char *path = any_path(u);
	struct timespec times[2] = {
		{ (time_t)rng_next(&u->rng), 0 }, { 1000, 5 },
	};

	switch (rng_below(&u->rng, 3)) {
	case 0:
		tally(u, !chmod(path, rng_below(&u->rng, 07777)));
		break;
	case 1:
		tally(u, !lchown(path, rng_below(&u->rng, 70000), 1));
		break;
	default:
		tally(u, !utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW));
		break;
	}
}

static void op_xattr(struct use *u)
{
	static const char *const names[] = {
		"user.a", "user.b", "user.colour", "trusted.y", "security.z",
	};
	const char *path = any_path(u);
	const char *name = names[rng_below(&u->rng, 5)];

	switch (rng_below(&u->rng, 4)) {
	case 0:
		tally(u, !lremovexattr(path, name));
		break;
	case 1:
		tally(u, lgetxattr(path, name, u->buffer,
				   rng_below(&u->rng, 2000)) >= 0);
		break;
	default:
		tally(u, !lsetxattr(path, name, u->buffer,
				    rng_below(&u->rng, 700),
				    (int)rng_below(&u->rng, 3)));
		break;
	}
}

/* A file without a name, which may get one. */
static void op_tmpfile(struct use *u)
{
	int fd = open(path_of(u, S_IFDIR), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char path[PATH_BYTES], self[40];

	if (!tally(u, fd >= 0))
		return;
	tally(u, pwrite(fd, u->buffer, 3000, some_offset(u)) >= 0);
	if (rng_chance(&u->rng, 50)) {
		new_path(u, path);
		snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
		tally(u, !linkat(AT_FDCWD, self, AT_FDCWD, path,
				 AT_SYMLINK_FOLLOW));
	}
	close(fd);
}

static void read_text(struct use *u, const char *directory, const char *name)
{
	char path[PATH_BYTES], *text;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	text = file_text(path);
	tally(u, text);
	free(text);
}

static void op_statistics(struct use *u)
{
	DIR *directory = u->statistics ? opendir(u->statistics) : NULL;
	struct dirent *entry;
	struct statfs s;

	tally(u, !statfs(any_path(u), &s));
	read_text(u, "/proc", "mounts");
	while (directory && (entry = readdir(directory)))
		if (entry->d_name[0] != '.')
			read_text(u, u->statistics, entry->d_name);
	if (directory)
		closedir(directory);
}

static void op_remount(struct use *u)
{
	unsigned long flags = MS_REMOUNT | MS_NODEV | MS_NOSUID;
	char path[PATH_BYTES];

	tally(u, !mount(NULL, u->root, NULL, flags | MS_RDONLY, NULL));
	new_path(u, path);
	tally(u, mkdir(path, 0700) < 0);
	tally(u, !mount(NULL, u->root, NULL, flags,
			rng_chance(&u->rng, 10) ? u->remount : NULL));
}

/* Virtual time for the file system's background work; it costs no time. */
static void op_wait(struct use *u)
{
	sleep_ms(100u << rng_below(&u->rng, 8));
}

static void op_drop_caches(struct use *u)
{
	drop_caches();
	(void)u;
}

/* Enough that blocks must be collected; mostly removed again. */
static void op_fill(struct use *u)
{
	char path[PATH_BYTES];
	unsigned int n = rng_below(&u->rng, FILL_CHUNKS), i;
	int fd;

	new_path(u, path);
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
		  0644);
	if (!tally(u, fd >= 0))
		return;
	for (i = 0; i < n; i++)
		if (!tally(u, write(fd, u->buffer, 4096) > 0))
			break;
	close(fd);
	if (rng_chance(&u->rng, 60))
		tally(u, !unlink(path));
}

/*
 * Through a mapping. The kernel is the one that touches the pages, so that beyond
 * the end of the file there is EFAULT and no SIGBUS.
 */
static void op_map(struct use *u)
{
	int fd = open_some(u, O_RDWR);
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	char *map = MAP_FAILED;
	size_t n = 1 + rng_below(&u->rng, 16384);

	if (fd >= 0)
		map = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			   (off_t)rng_below(&u->rng, 8) * 4096);
	if (tally(u, map != MAP_FAILED)) {
		tally(u, read(zero, map, n) >= 0);
		tally(u, pwrite(fd, map, n, some_offset(u)) >= 0);
		if (rng_chance(&u->rng, 50))
			tally(u, !msync(map, n, MS_SYNC));
		munmap(map, n);
	}
	if (fd >= 0)
		close(fd);
	close(zero);
}

/* File handles as NFS has them, also of objects that there are not. */
static void op_handle(struct use *u)
{
	struct file_handle *h = calloc(1, sizeof(*h) + MAX_HANDLE_SZ);
	int root = open(u->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int mount_id, fd;

	if (!h)
		die("no memory for a file handle");
	h->handle_bytes = MAX_HANDLE_SZ;
	if (tally(u, !name_to_handle_at(AT_FDCWD, any_path(u), h, &mount_id, 0))) {
		unsigned char *bytes = (unsigned char *)(h + 1);

		if (rng_chance(&u->rng, 60))
			bytes[rng_below(&u->rng, h->handle_bytes)] ^=
				(unsigned char)(1 + rng_below(&u->rng, 255));
		fd = open_by_handle_at(root, h, O_RDONLY | O_NONBLOCK);
		if (tally(u, fd >= 0))
			close(fd);
	}
	if (root >= 0)
		close(root);
	free(h);
}

static void op_ioctl(struct use *u)
{
	int fd = open(any_path(u), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int flags = 0;

	if (!tally(u, fd >= 0))
		return;
	tally(u, !ioctl(fd, FS_IOC_GETFLAGS, &flags));
	tally(u, !fallocate(fd, 0, 0, 10000));
	tally(u, !posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
	close(fd);
}

static void op_walk(struct use *u)
{
	use_walk(u);
}

static const struct {
	void (*function)(struct use *u);
	uint32_t weight;
} operations[] = {
	{ op_write, 20 },
	{ op_truncate, 8 },
	{ op_sync, 5 },
	{ op_rename, 12 },
	{ op_remove, 10 },
	{ op_orphan, 4 },
	{ op_make, 12 },
	{ op_attributes, 5 },
	{ op_xattr, 7 },
	{ op_tmpfile, 2 },
	{ op_statistics, 1 },
	{ op_remount, 2 },
	{ op_wait, 3 },
	{ op_drop_caches, 3 },
	{ op_fill, 3 },
	{ op_map, 4 },
	{ op_handle, 1 },
	{ op_ioctl, 1 },
	{ op_walk, 2 },
};

void use_operate(struct use *u, unsigned int n)
{
	uint32_t total = 0, draw, i;

	memset(u->buffer, 'b', sizeof(u->buffer));
	for (i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		total += operations[i].weight;
	while (n--) {
		draw = rng_below(&u->rng, total);
		for (i = 0; draw >= operations[i].weight; i++)
			draw -= operations[i].weight;
		operations[i].function(u);
	}
}
