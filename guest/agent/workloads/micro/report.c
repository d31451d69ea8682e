// SPDX-License-Identifier: GPL-2.0-only
/*
 * report.c - see report.h.
 */
#include "workloads/micro/report.h"

/* The host reads line by line. */
#define REQUESTS_PER_RECORD 1024
#define ROWS_PER_RECORD 512

static void begin(struct record_sink *sink, const char *type,
		  const char *phase)
{
	record_begin(sink, type);
	record_string(sink, "workload", MICRO_WORKLOAD);
	record_string(sink, "phase", phase);
}

void report_micro(const struct micro_params *params,
		  const struct micro_facts *facts,
		  const struct stream_set *set, struct record_sink *sink)
{
	uint64_t planned = 0, done = 0, dropped = 0;
	bool stopped = false;
	uint32_t i;

	for (i = 0; i < set->n; i++) {
		const struct stream *stream = &set->streams[i];

		planned += stream->pattern.requests;
		done += stream->done;
		dropped += stream->dropped_rows;
		stopped |= stream->stopped;
	}
	record_begin(sink, "micro");
	record_string(sink, "pattern", micro_kind_names[params->kind]);
	record_string(sink, "cache", micro_cache_names[params->cache]);
	record_number(sink, "file_bytes", facts->file_bytes);
	record_number(sink, "volume_bytes", facts->volume_bytes);
	record_number(sink, "requests", planned);
	record_number(sink, "requests_done", done);
	record_string(sink, "stopped", stopped ? "ENOSPC" : "");
	record_number(sink, "streams", set->n);
	record_number(sink, "dropped_rows", dropped);
	record_end(sink);
}

static void put_numbers(struct record_sink *sink, const char *key,
			const uint64_t *numbers, uint64_t first, uint64_t end)
{
	record_open(sink, key, '[');
	while (first < end)
		record_item(sink, numbers[first++]);
	record_close(sink, ']');
}

void report_requests(const struct stream_set *set, struct record_sink *sink)
{
	uint64_t first, end;
	uint32_t i;

	for (i = 0; i < set->n; i++) {
		const struct stream *stream = &set->streams[i];
		bool reads = micro_reads(stream->pattern.kind);

		for (first = 0; first < stream->done; first = end) {
			end = first + REQUESTS_PER_RECORD;
			if (end > stream->done)
				end = stream->done;
			begin(sink, "requests", MICRO_PHASE_MEASURE);
			record_number(sink, "stream", i);
			record_string(sink, "op", reads ? "read" : "write");
			record_number(sink, "first", first);
			put_numbers(sink, "offset", stream->offset, first,
				    end);
			put_numbers(sink, "t_start_ns", stream->t_start_ns,
				    first, end);
			put_numbers(sink, "latency_ns", stream->latency_ns,
				    first, end);
			record_end(sink);
		}
	}
}

/* --- flash, by task ------------------------------------------------------ */

/* The tasks of one record, numbered in the order in which they come up. */
struct numbering {
	size_t n;
	uint8_t slots[LIVE_TASKS_MAX + 1];	/* live slots; first: requester */
};

/* Slot of a requester that never asked anything of the flash. */
#define NO_SLOT UINT8_MAX

static size_t number_of(struct numbering *numbering, uint8_t slot)
{
	size_t i;

	for (i = 0; i < numbering->n; i++)
		if (numbering->slots[i] == slot)
			return i;
	numbering->slots[numbering->n] = slot;
	return numbering->n++;
}

static uint8_t slot_of(const struct live_snapshot *tasks, int32_t pid)
{
	size_t i;

	for (i = 0; i < tasks->n; i++)
		if (tasks->tasks[i].pid == pid)
			return (uint8_t)i;
	return NO_SLOT;
}

static void put_names(const struct numbering *numbering,
		      const struct live_snapshot *tasks,
		      struct record_sink *sink)
{
	size_t i;

	record_open(sink, "tasks", '[');
	record_string(sink, NULL, MICRO_TASK_NAME);
	for (i = 1; i < numbering->n; i++)
		record_string(sink, NULL,
			      tasks->tasks[numbering->slots[i]].name);
	record_close(sink, ']');
}

static void put_row(const struct flash_row *row, size_t task,
		    struct record_sink *sink)
{
	record_open(sink, NULL, '[');
	record_item(sink, row->request);
	record_item(sink, row->when);
	record_item(sink, task);
	record_item(sink, row->pages_read);
	record_item(sink, row->pages_programmed);
	record_item(sink, row->blocks_erased);
	record_item(sink, row->busy_ns);
	record_item(sink, row->oob_pages);
	record_close(sink, ']');
}

/* Rows [@first, @end) of a stream in one record. */
static void put_rows(const struct stream *stream, uint32_t index, size_t first,
		     size_t end, const struct live_snapshot *tasks,
		     struct record_sink *sink)
{
	struct numbering numbering = { 0 };
	size_t i;

	number_of(&numbering, slot_of(tasks, stream->pid));
	for (i = first; i < end; i++)
		number_of(&numbering, stream->rows[i].task);
	begin(sink, "request-flash", MICRO_PHASE_MEASURE);
	record_number(sink, "stream", index);
	put_names(&numbering, tasks, sink);
	record_open(sink, "rows", '[');
	for (i = first; i < end; i++)
		put_row(&stream->rows[i],
			number_of(&numbering, stream->rows[i].task), sink);
	record_close(sink, ']');
	record_end(sink);
}

void report_request_flash(const struct stream_set *set,
			  const struct live_snapshot *tasks,
			  struct record_sink *sink)
{
	size_t first, end;
	uint32_t i;

	for (i = 0; i < set->n; i++) {
		const struct stream *stream = &set->streams[i];

		for (first = 0; first < stream->n_rows; first = end) {
			end = first + ROWS_PER_RECORD;
			if (end > stream->n_rows)
				end = stream->n_rows;
			put_rows(stream, i, first, end, tasks, sink);
		}
	}
}

void fill_latencies(const struct stream_set *set, struct latency *latencies)
{
	uint32_t i;
	uint64_t k;

	for (i = 0; i < set->n; i++) {
		const struct stream *stream = &set->streams[i];
		enum latency_op op = micro_reads(stream->pattern.kind) ?
				     LATENCY_REQUEST_READ :
				     LATENCY_REQUEST_WRITE;

		for (k = 0; k < stream->done; k++)
			latency_add(&latencies[op], stream->latency_ns[k]);
	}
}
