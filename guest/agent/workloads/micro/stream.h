/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stream.h - the timed requests of the micro-benchmark.
 *
 * Between two readings of the clock there is the request and nothing else.
 * Between two requests there is no system call but those the plan asks for
 * (pause, cache=bypass), and no allocation: offsets are computed before,
 * results go into arrays that were touched before.  Making the data of a write,
 * checking those of a read and looking at the flash monitor's live page take
 * user time only, which is free in the lab.
 *
 * A request of several processes' streams is attributed by process: what other
 * tasks did in that time belongs to none of the requests.
 */
#ifndef FFSAGENT_MICRO_STREAM_H
#define FFSAGENT_MICRO_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/content.h"
#include "core/error.h"
#include "flash/live.h"
#include "workloads/micro/params.h"
#include "workloads/micro/pattern.h"
#include "workloads/micro/queue.h"

enum flash_when { DURING_REQUEST, AFTER_REQUEST };

/* What one task asked of the flash during or after one request. */
struct flash_row {
	uint64_t busy_ns;
	uint32_t request;	/* index within the stream */
	uint32_t pages_read, pages_programmed, blocks_erased, oob_pages;
	uint8_t when, task;	/* enum flash_when, slot of the live page */
};

struct stream {
	struct pattern pattern;
	/* Of each request. */
	uint64_t *offset, *t_start_ns, *latency_ns;
	struct flash_row *rows;
	size_t n_rows, rows_room;
	uint64_t dropped_rows;	/* for which there was no room */
	unsigned char *buffer;	/* one request */
	uint64_t done, bytes;
	uint64_t put_off;	/* requests behind those */
	bool stopped;		/* ENOSPC, which the plan allows */
	bool failed;
	struct ffs_error error;
	uint64_t t_end_ns;
	int32_t pid;		/* of the process that made its requests */
};

/* The streams of a step, and the memory they are in. */
struct stream_set {
	struct stream *streams;
	uint32_t n;
	void *memory;
	size_t memory_bytes;
	uint32_t *scratch;	/* for pattern_offsets() */
	struct request_queue queue;
};

/**
 * streams_reserve() - allocate and touch all memory, for the layout given.
 * @n: patterns in @patterns.  Later layouts must not need more.
 * @shared: the streams are those of processes.
 */
int streams_reserve(struct stream_set *set, const struct pattern *patterns,
		    uint32_t n, bool shared, struct ffs_error *error);
/** streams_set() - take these patterns and compute all offsets. */
void streams_set(struct stream_set *set, const struct pattern *patterns);
void streams_free(struct stream_set *set);

/* What the requests of a step have in common. */
struct requests_site {
	const struct micro_params *params;
	const char *path;	/* of the test file */
	const struct content_source *source;	/* of its contents */
	const struct live *live;
};

/** streams_open_file() - open the test file as the requests need it. */
int streams_open_file(const struct requests_site *site, struct ffs_error *error);

/** streams_run() - make all requests of one process, in turn. */
void streams_run(struct stream_set *set, const struct requests_site *site,
		 int fd);

/**
 * stream_run_own() - make the requests of one stream, in a process that others
 * run beside, once a byte can be read from @start_fd; none at its end.
 */
void stream_run_own(struct stream *stream, const struct requests_site *site,
		    int fd, int start_fd);

#endif
