// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_live.c - reading the live page while the flash monitor's own code writes
 * it, in another process, to a file that stands for /proc/flashmon/chip/live.
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../kmod/flashmon/live_slots.c"
#include "flash/live.h"
#include "harness.h"
#include "live_page.h"

#define FILE_NAME MONITOR_ROOT "/live-chip/live"
#define CHANGES 200000

static const struct flash_monitor live_chip = { .mtd = "live-chip", .chip = "" };

/* Requests of 70 tasks, each of n pages read, programmed and so on. */
static void write_page(struct flashmon_live *page)
{
	unsigned int i;

	for (i = 0; i < CHANGES; i++) {
		const struct flashmon_share one = {
			.pages_read = i, .pages_programmed = i,
			.blocks_erased = i, .busy_ns = i, .oob_pages = i,
		};

		flashmon_live_add(page, (int)(i % 70), "writer", &one);
	}
}

static bool is_whole(const struct live_snapshot *snapshot)
{
	size_t i;

	for (i = 0; i < snapshot->n; i++) {
		const struct live_task *task = &snapshot->tasks[i];

		if (task->pages_read != task->pages_programmed ||
		    task->pages_read != task->blocks_erased ||
		    task->pages_read != task->busy_ns ||
		    task->pages_read != task->oob_pages ||
		    task->pid != (i == 62 ? -1 : (int)i) ||
		    strcmp(task->name, i == 62 ? "(others)" : "writer"))
			return false;
	}
	return true;
}

static void read_while_written(void)
{
	struct flashmon_live *page = live_page_new(FILE_NAME);
	struct live_snapshot snapshot;
	unsigned int reads = 0, torn = 0;
	struct ffs_error error;
	uint64_t sum = 0;
	struct live live;
	pid_t writer;
	size_t i;

	flashmon_live_init(page);
	if (!CHECKF(!live_open(&live, &live_chip, &error), "%s", error.message))
		return;
	live_read(&live, &snapshot);
	CHECK(snapshot.n == 0);
	writer = fork();
	if (writer == 0) {
		write_page(page);
		_exit(0);
	}
	do {
		live_read(&live, &snapshot);
		reads++;
		torn += !is_whole(&snapshot);
	} while (!waitpid(writer, NULL, WNOHANG));
	CHECKF(!torn, "%u of %u snapshots are torn", torn, reads);
	live_read(&live, &snapshot);
	CHECK(snapshot.n == 63 && is_whole(&snapshot));
	for (i = 0; i < snapshot.n; i++)
		sum += snapshot.tasks[i].pages_read;
	CHECK(sum == (uint64_t)CHANGES * (CHANGES - 1) / 2);
	live_close(&live);
	live_read(&live, &snapshot);
	CHECK(snapshot.n == 0);
	munmap(page, sizeof(*page));
}

static void refuse(void)
{
	struct flashmon_live *page = live_page_new(FILE_NAME);
	struct live_snapshot snapshot;
	struct ffs_error error;
	struct live live;

	CHECK(live_open(&live, &live_chip, &error) && !live.page);
	CHECK(strstr(error.message, "different builds"));
	page->magic = FLASHMON_LIVE_MAGIC;
	page->version = 2;
	CHECK(live_open(&live, &live_chip, &error));
	/* Never more tasks than there is room for. */
	flashmon_live_init(page);
	page->tasks = 1000;
	CHECK(!live_open(&live, &live_chip, &error));
	live_read(&live, &snapshot);
	CHECK(snapshot.n == 63);
	live_close(&live);
	munmap(page, sizeof(*page));
	unlink(FILE_NAME);
	CHECK(live_open(&live, &live_chip, &error) && !live.page);
	CHECK(strstr(error.message, "older build"));
}

void test_live(void)
{
	struct live_snapshot snapshot;
	struct ffs_error error;
	struct live live;

	mkdir(MONITOR_ROOT, 0755);
	mkdir(MONITOR_ROOT "/live-chip", 0755);
	CHECK(!live_open(&live, NULL, &error));
	live_read(&live, &snapshot);
	CHECK(snapshot.n == 0);
	live_close(&live);
	read_while_written();
	refuse();
}
