// SPDX-License-Identifier: GPL-2.0-only
/*
 * phase.c - see phase.h.
 */
#include <stdio.h>

#include "core/clock.h"
#include "measure/phase.h"

int phase_reserve(struct phase *phase, const struct phase_site *site,
		  struct ffs_error *error)
{
	if (snapshot_before(&phase->flash_start, site->monitor, error) ||
	    snapshot_after(&phase->flash_end, site->monitor, error))
		return -1;
	return 0;
}

int phase_begin(struct phase *phase, const struct phase_site *site,
		struct ffs_error *error)
{
	if (space_read(&phase->space_start, site->root, error) ||
	    snapshot_before(&phase->flash_start, site->monitor, error))
		return -1;
	phase->ran = true;
	phase->t_start_ns = clock_now_ns();
	whose_time_begin(&phase->whose);
	return 0;
}

int phase_end(struct phase *phase, const struct phase_site *site, int result,
	      struct ffs_error *error)
{
	struct ffs_error late;

	phase->failed = result != 0;
	if (result)
		phase->error = *error;
	if (snapshot_after(&phase->flash_end, site->monitor, &late) ||
	    space_read(&phase->space_end, site->root, &late)) {
		/* The first failure is the one that matters. */
		if (!result)
			*error = late;
		result = -1;
	}
	return result;
}

static void put_phase(const struct phase *phase, const char *workload,
		      const char *name, struct record_sink *sink)
{
	record_begin(sink, "phase");
	record_string(sink, "workload", workload);
	record_string(sink, "phase", name);
	record_number(sink, "t_start_ns", phase->t_start_ns);
	record_number(sink, "t_end_ns", phase->t_end_ns);
	record_status(sink, phase->failed ? &phase->error : NULL);
	record_number(sink, "files_created", phase->files_created);
	record_number(sink, "files_deleted", phase->files_deleted);
	record_number(sink, "files_read", phase->files_read);
	record_number(sink, "files_appended", phase->files_appended);
	record_number(sink, "bytes_read", phase->bytes_read);
	record_number(sink, "bytes_written", phase->bytes_written);
	snapshot_put_counters(&phase->flash_start, "flash_start", sink);
	snapshot_put_counters(&phase->flash_end, "flash_end", sink);
	whose_time_put(&phase->whose, phase->t_end_ns, sink);
	record_end(sink);
}

void phase_record_short(struct phase *phase, const char *workload,
			const char *name, const struct latency_list *latencies,
			struct record_sink *sink)
{
	size_t i;

	if (!phase->ran || phase->emitted)
		return;
	phase->emitted = true;
	put_phase(phase, workload, name, sink);
	for (i = 0; latencies && i < latencies->n; i++)
		latency_record(&latencies->latencies[i], workload, name,
			       latencies->names[i], sink);
}

void phase_record(struct phase *phase, const char *workload, const char *name,
		  const struct latency_list *latencies,
		  struct record_sink *sink)
{
	char start[32], end[32];

	if (!phase->ran || phase->emitted)
		return;
	snprintf(start, sizeof(start), "%s:start", name);
	snprintf(end, sizeof(end), "%s:end", name);
	space_record(&phase->space_start, start, sink);
	snapshot_record(&phase->flash_start, start, sink);
	phase_record_short(phase, workload, name, latencies, sink);
	snapshot_record(&phase->flash_end, end, sink);
	space_record(&phase->space_end, end, sink);
}

void phase_free(struct phase *phase)
{
	snapshot_free(&phase->flash_start);
	snapshot_free(&phase->flash_end);
}
