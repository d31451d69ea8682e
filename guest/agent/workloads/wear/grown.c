// SPDX-License-Identifier: GPL-2.0-only
/*
 * grown.c - see grown.h.
 */
#include <fcntl.h>
#include <unistd.h>

#include "flash/mtd.h"
#include "workloads/wear/grown.h"

void grown_open(struct grown *grown, const struct flash_monitor *monitor)
{
	int64_t count = -1;
	int number;

	grown->fd = -1;
	number = monitor ? mtd_find(monitor->mtd, NULL) : -1;
	if (number >= 0)
		grown->fd = mtd_open(number, O_RDONLY, NULL);
	if (grown->fd >= 0)
		count = mtd_bad_blocks(grown->fd);
	if (count < 0)
		grown_close(grown);
	else
		grown->before = grown->last = (uint64_t)count;
}

bool grown_look(struct grown *grown, uint64_t written)
{
	int64_t count = grown->fd < 0 ? -1 : mtd_bad_blocks(grown->fd);

	if (count < 0 || (uint64_t)count <= grown->last)
		return false;
	grown->last = (uint64_t)count;
	if (grown->n < GROWN_MAX) {
		grown->rises[grown->n].written = written;
		grown->rises[grown->n].bad_blocks = grown->last;
		grown->n++;
	}
	return true;
}

void grown_record(const struct grown *grown, struct record_sink *sink)
{
	size_t i;

	if (grown->fd < 0)
		return;
	record_begin(sink, "grown");
	record_number(sink, "before", grown->before);
	record_open(sink, "written", '[');
	for (i = 0; i < grown->n; i++)
		record_item(sink, grown->rises[i].written);
	record_close(sink, ']');
	record_open(sink, "bad_blocks", '[');
	for (i = 0; i < grown->n; i++)
		record_item(sink, grown->rises[i].bad_blocks);
	record_close(sink, ']');
	record_end(sink);
}

void grown_close(struct grown *grown)
{
	if (grown->fd >= 0)
		close(grown->fd);
	grown->fd = -1;
}
