// SPDX-License-Identifier: GPL-2.0-only
/*
 * latency.c - see latency.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "measure/latency.h"

/* Values in one full-latency record; the host reads line by line. */
#define VALUES_PER_RECORD 4096

const char *const latency_names[LATENCY_OPS] = {
	[LATENCY_CREATE] = "create",
	[LATENCY_READ] = "read",
	[LATENCY_APPEND] = "append",
	[LATENCY_DELETE] = "delete",
	[LATENCY_REQUEST_READ] = "request-read",
	[LATENCY_REQUEST_WRITE] = "request-write",
	[LATENCY_MKDIR] = "mkdir",
	[LATENCY_RMDIR] = "rmdir",
	[LATENCY_READDIR] = "readdir",
	[LATENCY_LSTAT] = "lstat",
};

int latency_reserve(struct latency *latency, size_t values,
		    struct ffs_error *error)
{
	latency->values = NULL;
	latency->room = values;
	if (values) {
		latency->values = malloc(values * sizeof(*latency->values));
		if (!latency->values)
			return ffs_fail(error, ENOMEM,
				"no memory for %zu latencies; leave out full=1",
				values);
		memset(latency->values, 0, values * sizeof(*latency->values));
	}
	latency_reset(latency);
	return 0;
}

void latency_reset(struct latency *latency)
{
	histogram_reset(&latency->histogram);
	latency->n_values = 0;
	latency->n_slowest = 0;
	latency->slower_than_ns = 0;
}

void latency_keep(struct latency *latency, uint64_t start_ns,
		  uint64_t latency_ns)
{
	const struct slow_operation new = { start_ns, latency_ns };
	struct slow_operation *const all = latency->slowest;
	size_t i, least = 0;

	if (latency->n_slowest < LATENCY_SLOWEST) {
		all[latency->n_slowest++] = new;
	} else {
		for (i = 1; i < LATENCY_SLOWEST; i++)
			if (all[i].latency_ns < all[least].latency_ns)
				least = i;
		all[least] = new;
	}
	if (latency->n_slowest < LATENCY_SLOWEST)
		return;
	latency->slower_than_ns = all[0].latency_ns;
	for (i = 1; i < LATENCY_SLOWEST; i++)
		if (all[i].latency_ns < latency->slower_than_ns)
			latency->slower_than_ns = all[i].latency_ns;
}

void latency_free(struct latency *latency)
{
	free(latency->values);
	latency->values = NULL;
	latency->room = 0;
}

static void begin(struct record_sink *sink, const char *type,
		  const char *workload, const char *phase, const char *op)
{
	record_begin(sink, type);
	record_string(sink, "workload", workload);
	record_string(sink, "phase", phase);
	record_string(sink, "op", op);
}

static void put_slowest(const struct latency *latency, struct record_sink *sink)
{
	size_t i;

	if (!latency->n_slowest)
		return;
	record_open(sink, "slowest", '[');
	for (i = 0; i < latency->n_slowest; i++) {
		record_open(sink, NULL, '[');
		record_item(sink, latency->slowest[i].t_start_ns);
		record_item(sink, latency->slowest[i].latency_ns);
		record_close(sink, ']');
	}
	record_close(sink, ']');
}

void latency_record(const struct latency *latency, const char *workload,
		    const char *phase, const char *op,
		    struct record_sink *sink)
{
	const struct histogram *h = &latency->histogram;
	size_t done = 0;
	unsigned int i;

	if (!h->count)
		return;
	begin(sink, "latency", workload, phase, op);
	record_number(sink, "count", h->count);
	record_number(sink, "sum_ns", h->sum);
	record_number(sink, "min_ns", h->min);
	record_number(sink, "max_ns", h->max);
	record_open(sink, "buckets", '[');
	for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (!h->buckets[i])
			continue;
		record_open(sink, NULL, '[');
		record_item(sink, i);
		record_item(sink, h->buckets[i]);
		record_close(sink, ']');
	}
	record_close(sink, ']');
	put_slowest(latency, sink);
	record_end(sink);
	while (done < latency->n_values) {
		size_t end = done + VALUES_PER_RECORD;

		if (end > latency->n_values)
			end = latency->n_values;
		begin(sink, "full-latency", workload, phase, op);
		record_open(sink, "values_ns", '[');
		while (done < end)
			record_item(sink, latency->values[done++]);
		record_close(sink, ']');
		record_end(sink);
	}
}
