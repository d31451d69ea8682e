/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * report.h - the records of the requests (docs/plan-format.md, section 8).
 */
#ifndef FFSAGENT_MICRO_REPORT_H
#define FFSAGENT_MICRO_REPORT_H

#include "core/record.h"
#include "flash/live.h"
#include "measure/latency.h"
#include "workloads/micro/params.h"
#include "workloads/micro/stream.h"

#define MICRO_WORKLOAD "micro"
#define MICRO_PHASE_MEASURE "measure"
/* Of every process that makes requests. */
#define MICRO_TASK_NAME "ffsagent"

/* What the step was, after the file and the volume have been cut. */
struct micro_facts {
	uint64_t file_bytes, volume_bytes;
};

/** report_micro() - emit the record "micro". */
void report_micro(const struct micro_params *params,
		  const struct micro_facts *facts,
		  const struct stream_set *set, struct record_sink *sink);

/** report_requests() - emit "requests" of all streams. */
void report_requests(const struct stream_set *set, struct record_sink *sink);

/**
 * report_request_flash() - emit "request-flash" of all streams.
 * @tasks: the live page at or after the last request: its slots have names.
 */
void report_request_flash(const struct stream_set *set,
			  const struct live_snapshot *tasks,
			  struct record_sink *sink);

/** fill_latencies() - histograms of the requests; [LATENCY_OPS], reset. */
void fill_latencies(const struct stream_set *set, struct latency *latencies);

#endif
