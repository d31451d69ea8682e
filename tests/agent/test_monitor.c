// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_monitor.c - reading the flash monitor's files, from a directory that
 * stands for /proc/flashmon (MONITOR_ROOT, set by the Makefile).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "emitted.h"
#include "flash/monitor.h"

static void emitted(const struct flash_snapshot *snapshot)
{
	static struct record_sink sink;
	FILE *file = emitted_open(&sink);
	char *text;

	snapshot_record(snapshot, "x:start", &sink);
	text = emitted_text(file);
	CHECKF(strstr(text, "\"counters\":{\"pages_read\":12,\"blocks_erased\":18446744073709551615},\"erases\":[1,4],\"programs\":[2,5],\"reads\":[3,6]}\n"),
	       "got %s", text);
	free(text);
}

/* The chip's own counters follow the monitor's, under names of their own. */
static void chip_counts(struct flash_snapshot *snapshot)
{
	const struct flash_monitor both = { "part", MONITOR_ROOT "/nand" };
	struct ffs_error error;

	put_file(MONITOR_ROOT, "nand", "busy_ns 7\nviolation_program_of_a_bad_block_of_42 1\n");
	CHECK(!snapshot_after(snapshot, &both, &error) && snapshot->taken);
	CHECK(snapshot->n_counters == 3);
	CHECK(snapshot_counter(snapshot, "pages_read") == 1);
	CHECK(snapshot_counter(snapshot, "chip_busy_ns") == 7);
	CHECK(snapshot_counter(snapshot,
			       "chip_violation_program_of_a_bad_block_of_42") == 1);
	put_file(MONITOR_ROOT, "nand", "busy_ns\n");
	CHECK(snapshot_take_counters(snapshot, &both, &error) == -1 &&
	      !snapshot->taken && strstr(error.message, "/nand"));
	remove(MONITOR_ROOT "/nand");
	CHECK(snapshot_take_counters(snapshot, &both, &error) == -1 &&
	      error.errnum == ENOENT);
}

void test_monitor(void)
{
	static const struct flash_monitor part = { "part", "" };
	static const struct flash_monitor absent = { "absent", "" };
	struct flash_snapshot snapshot = { 0 };
	struct ffs_error error;
	char *many, *end;
	int i;

	mkdir(MONITOR_ROOT, 0755);
	mkdir(MONITOR_ROOT "/part", 0755);
	CHECK(!snapshot_after(&snapshot, NULL, &error) && !snapshot.taken);
	CHECK(snapshot_after(&snapshot, &absent, &error) == -1);
	put_file(MONITOR_ROOT, "part/counters",
		 "pages_read 12\nblocks_erased 18446744073709551615\n");
	put_file(MONITOR_ROOT, "part/blocks", "1 2 3\n4 5 6\n");
	CHECK(!snapshot_before(&snapshot, &part, &error) && snapshot.taken);
	CHECK(snapshot.n_counters == 2 && snapshot.n_blocks == 2);
	CHECK(snapshot_counter(&snapshot, "pages_read") == 12);
	CHECK(snapshot_counter(&snapshot, "none") == 0);
	emitted(&snapshot);
	put_file(MONITOR_ROOT, "part/counters", "pages_read twelve\n");
	CHECK(snapshot_after(&snapshot, &part, &error) == -1 &&
	      !snapshot.taken);
	put_file(MONITOR_ROOT, "part/counters", "pages_read 1\n");
	put_file(MONITOR_ROOT, "part/blocks", "1 2\n");
	CHECK(snapshot_before(&snapshot, &part, &error) == -1 &&
	      !snapshot.taken);
	CHECK(snapshot_after(&snapshot, &part, &error) == -1 &&
	      !snapshot.taken);
	/* More blocks than the first allocation holds. */
	many = malloc(5000 * 16);
	end = many;
	for (i = 0; i < 5000; i++)
		end += sprintf(end, "%d 0 0\n", i);
	put_file(MONITOR_ROOT, "part/blocks", many);
	free(many);
	CHECK(!snapshot_after(&snapshot, &part, &error));
	CHECK(snapshot.n_blocks == 5000 && snapshot.blocks[4999].erases == 4999);
	chip_counts(&snapshot);
	put_file(MONITOR_ROOT, "control", "");
	CHECK(!monitor_attach("part", &error));
	snapshot_free(&snapshot);
}
