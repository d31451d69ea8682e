// SPDX-License-Identifier: GPL-2.0-only
/*
 * ops_mount.c - what the file system knows after it forgot its memory:
 * unmounted and mounted with other options, read-only, caches dropped.
 *
 * Nothing is mounted without --type; the history is the same then.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "workloads/random/history.h"

/* One of the alternatives of --options, drawn anew for each mount. */
static void choose_options(struct history *h)
{
	const char *at = h->opt.mount_options, *end;
	unsigned int count = 1, which;

	for (end = at; *end; end++)
		count += *end == '|';
	for (which = draw_below(h, count); which; which--)
		at = strchr(at, '|') + 1;
	end = strchr(at, '|');
	free(h->mount_data);
	h->mount_data = end ? strndup(at, end - at) : strdup(at);
	if (!h->mount_data)
		h->mount_data = allocate(1);
}

static void mount_now(struct history *h, unsigned long flags)
{
	if (!h->opt.type)
		return;
	CALL(h, 0, mount(h->opt.source, h->opt.dir, h->opt.type,
			 h->opt.mount_flags | flags, h->mount_data));
	h->mounted = h->live;
}

static void unmount_now(struct history *h)
{
	if (!h->opt.type)
		return;
	CALL(h, 0, umount(h->opt.dir));
	h->mounted = false;
}

void mount_first(struct history *h)
{
	choose_options(h);
	if (h->opt.stays_mounted)
		return;
	if (h->live && h->opt.type)
		mkdir(h->opt.dir, 0755);
	mount_now(h, 0);
}

void mount_last(struct history *h)
{
	if (h->mounted && !h->opt.stays_mounted)
		unmount_now(h);
}

void op_remount(struct history *h)
{
	bool read_only_first = chance(h, 15);

	handles_close_all(h);
	choose_options(h);
	describe(h, NULL, NULL, "umount, mount%s, options '%s'",
		 read_only_first ? " read-only, umount, mount" : "",
		 h->mount_data);
	unmount_now(h);
	if (read_only_first && h->opt.type) {
		mount_now(h, MS_RDONLY);
		if (h->live)
			compare_tree(h);
		unmount_now(h);
	}
	mount_now(h, 0);
	if (h->live)
		compare_tree(h);
}

/* Every kind of change must be refused while the file system is read-only. */
static void change_read_only(struct history *h)
{
	struct entry *entry = h->model.entries ?
		h->model.entry[rng_below(&h->aux, h->model.entries)] : NULL;
	char path[PATH_BYTES], fresh[PATH_BYTES];

	node_path(h, h->model.root, "no-such", fresh);
	CALL(h, EROFS, mkdir(fresh, 0755));
	CALL(h, EROFS, symlink("target", fresh));
	CALL(h, EROFS, open(fresh, O_CREAT | O_RDWR | O_CLOEXEC, 0644));
	if (!entry)
		return;
	entry_path(h, entry, path);
	CALL(h, EROFS, rename(path, fresh));
	CALL(h, EROFS, lchown(path, 1, 1));
	if (!S_ISLNK(entry->node->mode))
		CALL(h, EROFS, chmod(path, 0600));
	CALL(h, EROFS, utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW));
	if (!h->opt.no_xattr)
		CALL(h, EROFS, lsetxattr(path, "trusted.x", "x", 1, 0));
	if (S_ISDIR(entry->node->mode)) {
		CALL(h, EROFS, rmdir(path));
		return;
	}
	CALL(h, EROFS, unlink(path));
	CALL(h, EROFS, link(path, fresh));
	if (S_ISREG(entry->node->mode)) {
		CALL(h, EROFS, truncate(path, 1));
		CALL(h, EROFS, open(path, O_RDWR | O_CLOEXEC));
	}
}

void op_read_only(struct history *h)
{
	char path[PATH_BYTES];
	struct stat status;

	describe(h, NULL, NULL, "remount read-only and read-write");
	handles_close_all(h);
	if (!h->live || !h->opt.type)
		return;
	/* A file open for writing keeps the file system writable. */
	node_path(h, h->model.root, SCRATCH "/open", path);
	if (rng_below(&h->aux, 2)) {
		int fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);

		CALL(h, EBUSY, mount(NULL, h->opt.dir, NULL,
				     MS_REMOUNT | MS_RDONLY, h->mount_data));
		CALL(h, 0, close(fd));
		CALL(h, 0, unlink(path));
	}
	CALL(h, 0, mount(NULL, h->opt.dir, NULL, MS_REMOUNT | MS_RDONLY,
			 h->mount_data));
	change_read_only(h);
	if (rng_below(&h->aux, 2))
		compare_tree(h);
	CALL(h, 0, mount(NULL, h->opt.dir, NULL,
			 h->opt.mount_flags | MS_REMOUNT, h->mount_data));
	node_path(h, h->model.root, SCRATCH, path);
	CALL(h, 0, stat(path, &status));
}

void op_drop_caches(struct history *h)
{
	bool syncs = chance(h, 50);
	int fd;

	describe(h, NULL, NULL, "drop caches%s", syncs ? " after sync" : "");
	if (!h->live)
		return;
	if (syncs)
		sync();
	fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	CALL(h, 0, write(fd, "3", 1));
	CALL(h, 0, close(fd));
}

/* Time for what the file system does in the background. */
void op_sleep(struct history *h)
{
	uint64_t ms;

	if (!h->opt.sleep_max_ms)
		return;
	ms = draw_between(h, 1, h->opt.sleep_max_ms);
	describe(h, NULL, NULL, "sleep %llu ms", (unsigned long long)ms);
	if (h->live)
		nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 },
			  NULL);
}
