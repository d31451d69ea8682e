// SPDX-License-Identifier: GPL-2.0-only
/*
 * tree.c - see tree.h and run.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "workloads/tree/tree.h"

int tree_begin(struct tree_run *run, struct ffs_error *error)
{
	return measure_begin(&run->measure, run->monitor, error);
}

void tree_stop(struct tree_run *run)
{
	measure_stop(&run->measure);
}

static void put_tree(const struct tree_run *run, const char *phase,
		     struct record_sink *sink)
{
	record_begin(sink, "tree");
	record_string(sink, "phase", phase);
	record_number(sink, "directories", run->counts.directories);
	record_number(sink, "files", run->counts.files);
	record_number(sink, "links", run->counts.links);
	record_number(sink, "others", run->counts.others);
	record_number(sink, "bytes", run->counts.bytes);
	record_number(sink, "depth", run->counts.depth);
	record_number(sink, "found", run->found);
	record_string(sink, "digest", run->digest);
	record_number(sink, "largest_directory", run->counts.largest_directory);
	record_end(sink);
}

int tree_step(tree_function function, const struct plan_step *step,
	      struct run_state *state, struct ffs_error *error)
{
	const char *phase = step_text(step, "phase");
	struct tree_run *run = calloc(1, sizeof(*run));
	struct latency_list latencies;
	int result, op;

	if (!run)
		return ffs_fail(error, ENOMEM, "%s", step->verb->name);
	run->step = step;
	run->dir = step_text(step, "dir");
	run->monitor = state->monitor;
	/* Resetting touches the memory before the phase. */
	for (op = 0; op < LATENCY_OPS; op++)
		latency_reset(&run->latencies[op]);
	result = function(run, error);
	if (run->measure.phase.ran) {
		result = measure_end(&run->measure, run->monitor, result, error);
		latencies = latency_list_of(run->latencies);
		measure_record(&run->measure, MEASURE_WORKLOAD, phase,
			       &latencies, state->sink);
		put_tree(run, phase, state->sink);
		measure_free(&run->measure);
	}
	free(run);
	return result;
}
