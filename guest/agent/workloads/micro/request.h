/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * request.h - one request of the micro-benchmark, and what is noted of it.
 *
 * Requests are made one by one (request_make()), or, in the lab and by one
 * process without pauses, put off and made together (queue.h).  What is noted
 * is the same.
 */
#ifndef FFSAGENT_MICRO_REQUEST_H
#define FFSAGENT_MICRO_REQUEST_H

#include "workloads/micro/stream.h"

/* One process that makes requests. */
struct requester {
	const struct micro_params *params;
	const struct live *live;
	int fd;
	int32_t pid;
	bool own_only;		/* others make requests at the same time */
	bool mixed_sectors;
	struct content written, readable[2];
	struct stream *last;	/* whose latest request was the latest */
	struct live_snapshot before, after;
};

void requester_init(struct requester *requester,
		    const struct requests_site *site, int fd, bool own_only);

/** request_is_synced() - whether fsync() is part of that request. */
bool request_is_synced(const struct requester *requester,
		       const struct stream *stream, uint64_t index);

/**
 * request_begins() - note what happened since the one before; ->before is what
 * the live page says now.
 */
void request_begins(struct requester *requester);

/* What became of a request. */
struct request_outcome {
	uint64_t start_ns, end_ns;
	const unsigned char *data;	/* that was read */
	int failed;			/* errno */
};

/**
 * request_ended() - note a request of @stream, the next one; ->after is what the
 * live page says now.
 *
 * Return: 0, or -1 when the stream is over before its last request.
 */
int request_ended(struct requester *requester, struct stream *stream,
		  const struct request_outcome *outcome);

/** request_make() - make the next request of @stream; returns the same. */
int request_make(struct requester *requester, struct stream *stream);

#endif
