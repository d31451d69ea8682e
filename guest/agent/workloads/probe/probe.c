// SPDX-License-Identifier: GPL-2.0-only
/*
 * probe.c - see probe.h.
 */
#include <time.h>

#include "core/clock.h"
#include "workloads/probe/probe.h"

#define WORKLOAD "probe"

static const char *const latency_name[] = { "operation" };

static uint64_t thread_cpu_ns(bool *known)
{
	struct timespec now;

	*known = !clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	if (!*known)
		return 0;
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int probe_begin(struct probe *probe, const struct flash_monitor *monitor,
		struct ffs_error *error)
{
	if (latency_reserve(&probe->latency, 0, error) ||
	    measure_begin(&probe->measure, monitor, error))
		return -1;
	probe->cpu_ns = thread_cpu_ns(&probe->has_cpu);
	probe->clock = clock_now_ns();
	return 0;
}

void probe_done(struct probe *probe)
{
	uint64_t now = clock_now_ns();

	latency_add(&probe->latency, now - probe->clock);
	probe->clock = now;
}

static void record(const struct probe *probe, struct record_sink *sink)
{
	record_begin(sink, "probe");
	record_string(sink, "phase", probe->phase);
	record_string(sink, "what", probe->what);
	record_number(sink, "count", probe->count);
	record_number(sink, "bytes", probe->bytes);
	if (probe->has_cpu)
		record_number(sink, "cpu_ns", probe->cpu_ns);
	record_end(sink);
}

int probe_end(struct probe *probe, const struct flash_monitor *monitor,
	      int result, struct record_sink *sink, struct ffs_error *error)
{
	const struct latency_list list = {
		.latencies = &probe->latency, .names = latency_name, .n = 1,
	};
	bool known;
	uint64_t cpu_ns = thread_cpu_ns(&known);

	measure_stop(&probe->measure);
	probe->has_cpu &= known;
	probe->cpu_ns = cpu_ns - probe->cpu_ns;
	result = measure_end(&probe->measure, monitor, result, error);
	measure_record(&probe->measure, WORKLOAD, probe->phase, &list, sink);
	if (!result)
		record(probe, sink);
	measure_free(&probe->measure);
	latency_free(&probe->latency);
	return result;
}
