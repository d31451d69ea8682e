// SPDX-License-Identifier: GPL-2.0-only
/*
 * monitor.c - see monitor.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/files.h"
#include "flash/monitor.h"

/* The unit tests put a directory of their own in its place. */
#ifndef MONITOR_ROOT
#define MONITOR_ROOT "/proc/flashmon"
#endif
#define CONTROL MONITOR_ROOT "/control"
#define BLOCKS_MAX ((size_t)1 << 24)
#define TEXT_LIMIT ((size_t)1 << 30)

static int command(const char *text, struct ffs_error *error)
{
	if (access(CONTROL, F_OK))
		return ffs_fail(error, 0,
			"there is no %s; load the flash monitor first (insmod flashmon.ko)",
			CONTROL);
	return file_write_text(CONTROL, text, error);
}

int monitor_attach(const char *mtd, struct ffs_error *error)
{
	struct ffs_error cause;
	char text[160];

	snprintf(text, sizeof(text), "attach %s", mtd);
	if (!command(text, &cause))
		return 0;
	/* An earlier run on this board may have left it attached. */
	if (cause.errnum == EEXIST)
		return 0;
	*error = cause;
	return -1;
}

int monitor_trace(const char *mtd, bool on, struct ffs_error *error)
{
	char text[160];

	snprintf(text, sizeof(text), "trace %d %s", on, mtd);
	return command(text, error);
}

static char *read_monitor(const char *mtd, const char *file,
			  struct ffs_error *error)
{
	char path[256];

	snprintf(path, sizeof(path), MONITOR_ROOT "/%s/%s", mtd, file);
	return file_read(path, TEXT_LIMIT, NULL, error);
}

/* A number and what ends it. Return: 0, or -1 if there is none. */
static int read_number(char **text, uint64_t *number)
{
	char *start = *text + strspn(*text, " ");

	if (*start < '0' || *start > '9')
		return -1;
	*number = strtoull(start, text, 10);
	return 0;
}

/* Adds lines of "name value" to the counters. */
static int read_counters(struct flash_snapshot *snapshot, const char *prefix,
			 char *text)
{
	while (snapshot->n_counters < MONITOR_COUNTERS_MAX) {
		struct flash_counter *counter =
			&snapshot->counters[snapshot->n_counters];
		size_t length;

		text += strspn(text, " \n");
		if (!*text)
			return 0;
		length = strcspn(text, " \n");
		if (length > 42)
			return -1;
		snprintf(counter->name, sizeof(counter->name), "%s%.*s", prefix,
			 (int)length, text);
		text += length;
		if (read_number(&text, &counter->value))
			return -1;
		snapshot->n_counters++;
	}
	return 0;
}

static int grow(struct flash_snapshot *snapshot)
{
	size_t room = snapshot->room ? 2 * snapshot->room : 2048;
	struct flash_block *blocks;

	if (room > BLOCKS_MAX)
		return -1;
	blocks = realloc(snapshot->blocks, room * sizeof(*blocks));
	if (!blocks)
		return -1;
	snapshot->blocks = blocks;
	snapshot->room = room;
	return 0;
}

/* Lines of "erases programs reads". */
static int read_blocks(struct flash_snapshot *snapshot, char *text)
{
	snapshot->n_blocks = 0;
	while (*text) {
		struct flash_block block;

		if (read_number(&text, &block.erases) ||
		    read_number(&text, &block.programs) ||
		    read_number(&text, &block.reads))
			return -1;
		if (snapshot->n_blocks == snapshot->room && grow(snapshot))
			return -1;
		snapshot->blocks[snapshot->n_blocks++] = block;
		text += strspn(text, "\n");
	}
	return 0;
}

/* @text: of the counters, which is freed; NULL with @error set. */
static int take_counters(struct flash_snapshot *snapshot, char *text,
			 const char *prefix, const char *of,
			 struct ffs_error *error)
{
	int result;

	if (!text)
		return -1;
	result = read_counters(snapshot, prefix, text);
	free(text);
	if (!result)
		return 0;
	return ffs_fail(error, 0, "the counters of '%s' are not lines of 'name value', or too many",
			of);
}

int snapshot_take_counters(struct flash_snapshot *snapshot,
			   const struct flash_monitor *monitor,
			   struct ffs_error *error)
{
	snapshot->taken = false;
	snapshot->n_counters = 0;
	if (!monitor)
		return 0;
	snapshot->t_ns = clock_now_ns();
	if (take_counters(snapshot,
			  read_monitor(monitor->mtd, "counters", error),
			  "", monitor->mtd, error))
		return -1;
	if (*monitor->chip &&
	    take_counters(snapshot,
			  file_read(monitor->chip, TEXT_LIMIT, NULL, error),
			  "chip_", monitor->chip, error))
		return -1;
	snapshot->taken = true;
	return 0;
}

static int take_blocks(struct flash_snapshot *snapshot,
		       const struct flash_monitor *monitor,
		       struct ffs_error *error)
{
	char *text = read_monitor(monitor->mtd, "blocks", error);
	int result;

	if (!text)
		return -1;
	result = read_blocks(snapshot, text);
	free(text);
	if (!result)
		return 0;
	return ffs_fail(error, 0, "the flash monitor's blocks of '%s' are not lines of 'erases programs reads', or memory ran out",
			monitor->mtd);
}

int snapshot_before(struct flash_snapshot *snapshot,
		    const struct flash_monitor *monitor,
		    struct ffs_error *error)
{
	snapshot->taken = false;
	if (monitor && take_blocks(snapshot, monitor, error))
		return -1;
	return snapshot_take_counters(snapshot, monitor, error);
}

int snapshot_after(struct flash_snapshot *snapshot,
		   const struct flash_monitor *monitor, struct ffs_error *error)
{
	if (snapshot_take_counters(snapshot, monitor, error))
		return -1;
	if (monitor && take_blocks(snapshot, monitor, error)) {
		snapshot->taken = false;
		return -1;
	}
	return 0;
}

void snapshot_free(struct flash_snapshot *snapshot)
{
	free(snapshot->blocks);
	memset(snapshot, 0, sizeof(*snapshot));
}

uint64_t snapshot_counter(const struct flash_snapshot *snapshot,
			  const char *name)
{
	size_t i;

	for (i = 0; i < snapshot->n_counters; i++)
		if (!strcmp(snapshot->counters[i].name, name))
			return snapshot->counters[i].value;
	return 0;
}

void snapshot_put_counters(const struct flash_snapshot *snapshot,
			   const char *key, struct record_sink *sink)
{
	size_t i;

	if (!snapshot->taken)
		return;
	record_open(sink, key, '{');
	for (i = 0; i < snapshot->n_counters; i++)
		record_number(sink, snapshot->counters[i].name,
			      snapshot->counters[i].value);
	record_close(sink, '}');
}

void snapshot_record(const struct flash_snapshot *snapshot, const char *label,
		     struct record_sink *sink)
{
	size_t i;

	if (!snapshot->taken)
		return;
	record_begin(sink, "flash");
	record_string(sink, "label", label);
	record_number(sink, "t_ns", snapshot->t_ns);
	snapshot_put_counters(snapshot, "counters", sink);
	record_open(sink, "erases", '[');
	for (i = 0; i < snapshot->n_blocks; i++)
		record_item(sink, snapshot->blocks[i].erases);
	record_close(sink, ']');
	record_open(sink, "programs", '[');
	for (i = 0; i < snapshot->n_blocks; i++)
		record_item(sink, snapshot->blocks[i].programs);
	record_close(sink, ']');
	record_open(sink, "reads", '[');
	for (i = 0; i < snapshot->n_blocks; i++)
		record_item(sink, snapshot->blocks[i].reads);
	record_close(sink, ']');
	record_end(sink);
}
