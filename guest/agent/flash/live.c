// SPDX-License-Identifier: GPL-2.0-only
/*
 * live.c - see live.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "flash/live.h"
#include "flash/live_format.h"

/* The unit tests put a directory of their own in its place. */
#ifndef MONITOR_ROOT
#define MONITOR_ROOT "/proc/flashmon"
#endif

static int map_page(struct live *live, const char *path,
		    struct ffs_error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *page;
	int saved;

	if (fd < 0 && errno == ENOENT)
		return ffs_fail(error, ENOENT,
			"there is no %s: the flash monitor is not attached, or flashmon.ko is of an older build",
			path);
	if (fd < 0)
		return ffs_fail(error, errno, "cannot open %s", path);
	page = mmap(NULL, FLASHMON_LIVE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	saved = errno;
	close(fd);
	if (page == MAP_FAILED)
		return ffs_fail(error, saved, "cannot map %s", path);
	live->page = page;
	return 0;
}

int live_open(struct live *live, const struct flash_monitor *monitor,
	      struct ffs_error *error)
{
	char path[256];
	uint32_t magic, version;

	live->page = NULL;
	if (!monitor)
		return 0;
	snprintf(path, sizeof(path), MONITOR_ROOT "/%s/live", monitor->mtd);
	if (map_page(live, path, error))
		return -1;
	magic = live->page->magic;
	version = live->page->version;
	if (magic == FLASHMON_LIVE_MAGIC && version == FLASHMON_LIVE_VERSION)
		return 0;
	live_close(live);
	return ffs_fail(error, 0,
		"%s has magic %08x and version %u instead of %08x and %u: agent and flashmon.ko are of different builds",
		path, magic, version, FLASHMON_LIVE_MAGIC,
		FLASHMON_LIVE_VERSION);
}

void live_decode(const struct flashmon_live *page,
		 struct live_snapshot *snapshot)
{
	size_t i;

	snapshot->n = page->tasks;
	if (snapshot->n > LIVE_TASKS_MAX)
		snapshot->n = LIVE_TASKS_MAX;
	for (i = 0; i < snapshot->n; i++) {
		const struct flashmon_live_task *from = &page->task[i];
		struct live_task *to = &snapshot->tasks[i];

		to->pid = from->pid;
		memcpy(to->name, from->name, sizeof(to->name));
		to->name[sizeof(to->name) - 1] = '\0';
		to->pages_read = from->pages_read;
		to->pages_programmed = from->pages_programmed;
		to->blocks_erased = from->blocks_erased;
		to->busy_ns = from->busy_ns;
		to->oob_pages = from->oob_pages;
	}
}

void live_read(const struct live *live, struct live_snapshot *snapshot)
{
	const struct flashmon_live *page = live->page;
	uint32_t before, after;

	_Static_assert(LIVE_TASKS_MAX == FLASHMON_LIVE_TASKS,
		       "a snapshot has room for the page");
	snapshot->n = 0;
	if (!page)
		return;
	do {
		before = __atomic_load_n(&page->sequence, __ATOMIC_ACQUIRE);
		live_decode(page, snapshot);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		after = __atomic_load_n(&page->sequence, __ATOMIC_RELAXED);
	} while (before % 2 || before != after);
}

void live_close(struct live *live)
{
	if (live->page)
		munmap((void *)live->page, FLASHMON_LIVE_BYTES);
	live->page = NULL;
}
