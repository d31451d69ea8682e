// SPDX-License-Identifier: GPL-2.0-only
/*
 * tasks.c - see tasks.h.
 */
#include "measure/tasks.h"

static void put_task(const struct live_task *old, const struct live_task *new,
		     struct record_sink *sink)
{
	if (new->pages_read == old->pages_read &&
	    new->pages_programmed == old->pages_programmed &&
	    new->blocks_erased == old->blocks_erased &&
	    new->busy_ns == old->busy_ns && new->oob_pages == old->oob_pages)
		return;
	record_open(sink, NULL, '{');
	record_string(sink, "name", new->name);
	record_number(sink, "pages_read", new->pages_read - old->pages_read);
	record_number(sink, "pages_programmed",
		      new->pages_programmed - old->pages_programmed);
	record_number(sink, "blocks_erased",
		      new->blocks_erased - old->blocks_erased);
	record_number(sink, "busy_ns", new->busy_ns - old->busy_ns);
	record_number(sink, "oob_pages", new->oob_pages - old->oob_pages);
	record_close(sink, '}');
}

void tasks_put(const struct live_snapshot *from, const struct live_snapshot *to,
	       struct record_sink *sink)
{
	static const struct live_task none;
	size_t i;

	for (i = 0; i < to->n; i++)
		put_task(i < from->n ? &from->tasks[i] : &none, &to->tasks[i],
			 sink);
}

void tasks_record(const char *workload, const char *phase,
		  const struct live_snapshot *from,
		  const struct live_snapshot *to, struct record_sink *sink)
{
	record_begin(sink, "tasks");
	record_string(sink, "workload", workload);
	record_string(sink, "phase", phase);
	record_open(sink, "tasks", '[');
	tasks_put(from, to, sink);
	record_close(sink, ']');
	record_end(sink);
}
