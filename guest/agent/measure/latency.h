/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * latency.h - latencies of one kind of operation: a histogram, the slowest with
 * their time, and on demand every value in order of execution.
 *
 * All memory is allocated and touched before the first timed phase.
 */
#ifndef FFSAGENT_LATENCY_H
#define FFSAGENT_LATENCY_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/histogram.h"
#include "core/record.h"

/* What the workloads have in common; one with other operations names its own. */
enum latency_op {
	LATENCY_CREATE,
	LATENCY_READ,
	LATENCY_APPEND,
	LATENCY_DELETE,
	LATENCY_REQUEST_READ,
	LATENCY_REQUEST_WRITE,
	LATENCY_MKDIR,
	LATENCY_RMDIR,
	LATENCY_READDIR,	/* one getdents64() */
	LATENCY_LSTAT,
	LATENCY_OPS,
};

/* The names in records, by enum latency_op. */
extern const char *const latency_names[LATENCY_OPS];

#define LATENCY_SLOWEST 16

struct slow_operation {
	uint64_t t_start_ns, latency_ns;
};

struct latency {
	struct histogram histogram;
	size_t n_slowest;
	uint64_t slower_than_ns;	/* such a one is among the slowest */
	struct slow_operation slowest[LATENCY_SLOWEST];	/* in no order */
	uint64_t *values;
	size_t n_values, room;
};

static inline void latency_add(struct latency *latency, uint64_t ns)
{
	histogram_add(&latency->histogram, ns);
	if (latency->n_values < latency->room)
		latency->values[latency->n_values++] = ns;
}

/** latency_keep() - an operation that is slower than ->slower_than_ns. */
void latency_keep(struct latency *latency, uint64_t start_ns,
		  uint64_t latency_ns);

/** latency_add_at() - as latency_add(), of an operation whose time is known. */
static inline void latency_add_at(struct latency *latency, uint64_t start_ns,
				  uint64_t end_ns)
{
	latency_add(latency, end_ns - start_ns);
	if (end_ns - start_ns > latency->slower_than_ns)
		latency_keep(latency, start_ns, end_ns - start_ns);
}

/* Those of a phase, as its records have them; both arrays are [n]. */
struct latency_list {
	const struct latency *latencies;
	const char *const *names;
	size_t n;
};

/** latency_list_of() - by enum latency_op; @latencies: [LATENCY_OPS]. */
static inline struct latency_list
latency_list_of(const struct latency *latencies)
{
	return (struct latency_list) {
		.latencies = latencies,
		.names = latency_names,
		.n = LATENCY_OPS,
	};
}

/** latency_reserve() - room for @values single values; 0 for none. */
int latency_reserve(struct latency *latency, size_t values,
		    struct ffs_error *error);
void latency_reset(struct latency *latency);
void latency_free(struct latency *latency);

/** latency_record() - emit "latency" and "full-latency"; none if empty. */
void latency_record(const struct latency *latency, const char *workload,
		    const char *phase, const char *op,
		    struct record_sink *sink);

#endif
