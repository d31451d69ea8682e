// SPDX-License-Identifier: GPL-2.0-only
/*
 * whose_time.c - see whose_time.h.
 */
#include <string.h>

#include "measure/whose_time.h"

static const char *const part_names[VTIME_PARTS] = {
	[VTIME_CODE] = "code_ns",
	[VTIME_DRIVER] = "driver_ns",
	[VTIME_CHIP] = "chip_ns",
};

static size_t tasks_of_page(void)
{
	uint64_t n = ffs_time_page ? ffs_time_page->tasks : 0;

	return n < VTIME_TASKS ? (size_t)n : VTIME_TASKS;
}

/* What each task has now, less what is there. */
static void take_difference(struct whose_time *whose)
{
	size_t i, part;

	whose->n = tasks_of_page();
	for (i = 0; i < whose->n; i++)
		for (part = 0; part < VTIME_PARTS; part++)
			whose->ns[i][part] = ffs_time_page->task[i].ns[part] -
					     whose->ns[i][part];
}

void whose_time_begin(struct whose_time *whose)
{
	memset(whose->ns, 0, sizeof(whose->ns));
	whose->t_end_ns = 0;
	take_difference(whose);
}

void whose_time_end(struct whose_time *whose)
{
	take_difference(whose);
	if (whose->n)
		whose->t_end_ns = clock_now_ns();
}

static void put_task(size_t task, const uint64_t *ns, struct record_sink *sink)
{
	char name[VTIME_NAME_BYTES + 1] = "";
	size_t i;

	for (i = 0; i < VTIME_NAME_BYTES; i++)
		name[i] = ffs_time_page->task[task].name[i];
	record_open(sink, NULL, '{');
	record_string(sink, "name", name);
	for (i = 0; i < VTIME_PARTS; i++)
		record_number(sink, part_names[i], ns[i]);
	record_close(sink, '}');
}

void whose_time_put(const struct whose_time *whose, uint64_t t_end_ns,
		    struct record_sink *sink)
{
	size_t i;

	if (!whose->t_end_ns || whose->t_end_ns != t_end_ns)
		return;
	record_open(sink, "task_times", '[');
	for (i = 0; i < whose->n; i++)
		if (whose->ns[i][VTIME_CODE] || whose->ns[i][VTIME_DRIVER] ||
		    whose->ns[i][VTIME_CHIP])
			put_task(i, whose->ns[i], sink);
	record_close(sink, ']');
}
