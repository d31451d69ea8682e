// SPDX-License-Identifier: GPL-2.0-only
/*
 * measure.c - see measure.h.
 */
#include "core/clock.h"
#include "measure/measure.h"
#include "measure/tasks.h"

int measure_begin(struct measure *m, const struct flash_monitor *monitor,
		  struct ffs_error *error)
{
	if (live_open(&m->live, monitor, error))
		return -1;
	if (snapshot_take_counters(&m->phase.flash_start, monitor, error)) {
		measure_free(m);
		return -1;
	}
	m->phase.ran = true;
	live_read(&m->live, &m->start);
	m->phase.t_start_ns = clock_now_ns();
	whose_time_begin(&m->phase.whose);
	return 0;
}

void measure_stop(struct measure *m)
{
	phase_stop(&m->phase);
	live_read(&m->live, &m->end);
}

int measure_end(struct measure *m, const struct flash_monitor *monitor,
		int result, struct ffs_error *error)
{
	struct ffs_error late;

	m->phase.failed = result != 0;
	if (result)
		m->phase.error = *error;
	if (snapshot_take_counters(&m->phase.flash_end, monitor, &late)) {
		/* The first failure is the one that matters. */
		if (!result)
			*error = late;
		return -1;
	}
	return result;
}

void measure_record(struct measure *m, const char *workload, const char *name,
		    const struct latency_list *latencies,
		    struct record_sink *sink)
{
	if (!m->phase.ran || m->phase.emitted)
		return;
	phase_record_short(&m->phase, workload, name, latencies, sink);
	if (m->live.page)
		tasks_record(workload, name, &m->start, &m->end, sink);
}

void measure_free(struct measure *m)
{
	live_close(&m->live);
	phase_free(&m->phase);
}
