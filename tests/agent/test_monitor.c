// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_monitor.c - reading the flash monitor's files, from a directory that
 * stands for /proc/flashmon (MONITOR_ROOT, set by the Makefile).
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness.h"
#include "monitor.h"

static void put_file(const char *name, const char *text)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", MONITOR_ROOT, name);
	file = fopen(path, "w");
	if (CHECKF(file != NULL, "cannot create %s", path)) {
		fputs(text, file);
		fclose(file);
	}
}

static void emitted(const struct flash_snapshot *snapshot)
{
	static struct record_sink sink;
	char text[512] = "";
	FILE *file = tmpfile();

	if (!CHECK(file != NULL))
		return;
	record_sink_init(&sink, fileno(file));
	snapshot_record(snapshot, "x:start", &sink);
	rewind(file);
	CHECK(fgets(text, sizeof(text), file) != NULL);
	fclose(file);
	CHECKF(strstr(text, "\"counters\":{\"pages_read\":12,\"blocks_erased\":18446744073709551615},\"erases\":[1,4],\"programs\":[2,5],\"reads\":[3,6]}\n"),
	       "got %s", text);
}

void test_monitor(void)
{
	struct flash_snapshot snapshot = { 0 };
	struct ffs_error error;
	char *many, *end;
	int i;

	mkdir(MONITOR_ROOT, 0755);
	mkdir(MONITOR_ROOT "/chip", 0755);
	CHECK(!snapshot_take(&snapshot, NULL, &error) && !snapshot.taken);
	CHECK(snapshot_take(&snapshot, "absent", &error) == -1);
	put_file("chip/counters",
		 "pages_read 12\nblocks_erased 18446744073709551615\n");
	put_file("chip/blocks", "1 2 3\n4 5 6\n");
	CHECK(!snapshot_take(&snapshot, "chip", &error) && snapshot.taken);
	CHECK(snapshot.n_counters == 2 && snapshot.n_blocks == 2);
	CHECK(snapshot_counter(&snapshot, "pages_read") == 12);
	CHECK(snapshot_counter(&snapshot, "none") == 0);
	emitted(&snapshot);
	put_file("chip/counters", "pages_read twelve\n");
	CHECK(snapshot_take(&snapshot, "chip", &error) == -1 &&
	      !snapshot.taken);
	put_file("chip/counters", "pages_read 1\n");
	put_file("chip/blocks", "1 2\n");
	CHECK(snapshot_take(&snapshot, "chip", &error) == -1);
	/* More blocks than the first allocation holds. */
	many = malloc(5000 * 16);
	end = many;
	for (i = 0; i < 5000; i++)
		end += sprintf(end, "%d 0 0\n", i);
	put_file("chip/blocks", many);
	free(many);
	CHECK(!snapshot_take(&snapshot, "chip", &error));
	CHECK(snapshot.n_blocks == 5000 && snapshot.blocks[4999].erases == 4999);
	put_file("control", "");
	CHECK(!monitor_attach("chip", &error));
	snapshot_free(&snapshot);
}
