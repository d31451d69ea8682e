// SPDX-License-Identifier: GPL-2.0-only
/*
 * request.c - see request.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "workloads/micro/request.h"

void requester_init(struct requester *requester,
		    const struct requests_site *site, int fd, bool own_only)
{
	const struct micro_params *params = site->params;

	memset(requester, 0, sizeof(*requester));
	requester->params = params;
	requester->live = site->live;
	requester->fd = fd;
	requester->pid = (int32_t)getpid();
	requester->own_only = own_only;
	requester->mixed_sectors =
		params->request_bytes % CONTENT_SECTOR_BYTES ||
		params->shift_bytes % CONTENT_SECTOR_BYTES;
	content_init(&requester->readable[0], site->source, params->seed,
		     CONTENT_TEST, 0);
	content_init(&requester->readable[1], site->source, params->seed,
		     CONTENT_TEST, 1);
	requester->written = requester->readable[params->existing];
	/* The first look at the page may cost a page fault. */
	live_read(requester->live, &requester->before);
	live_read(requester->live, &requester->after);
}

static void add_rows(const struct requester *requester, struct stream *stream,
		     enum flash_when when, const struct live_snapshot *from,
		     const struct live_snapshot *to)
{
	static const struct live_task none;
	size_t i;

	for (i = 0; i < to->n; i++) {
		/* A task that came meanwhile began with nothing. */
		const struct live_task *old = i < from->n ? &from->tasks[i] :
							    &none;
		const struct live_task *new = &to->tasks[i];
		struct flash_row row = {
			.busy_ns = new->busy_ns - old->busy_ns,
			.request = (uint32_t)(stream->done - 1),
			.pages_read =
				(uint32_t)(new->pages_read - old->pages_read),
			.pages_programmed = (uint32_t)(new->pages_programmed -
						       old->pages_programmed),
			.blocks_erased = (uint32_t)(new->blocks_erased -
						    old->blocks_erased),
			.oob_pages =
				(uint32_t)(new->oob_pages - old->oob_pages),
			.when = (uint8_t)when,
			.task = (uint8_t)i,
		};

		if (!row.busy_ns && !row.pages_read && !row.pages_programmed &&
		    !row.blocks_erased && !row.oob_pages)
			continue;
		if (requester->own_only && new->pid != requester->pid)
			continue;
		if (stream->n_rows < stream->rows_room)
			stream->rows[stream->n_rows++] = row;
		else
			stream->dropped_rows++;
	}
}

/* Return: 0, or the errno; a call that is short is continued. */
static int transfer(int fd, bool reads, unsigned char *buffer, size_t bytes,
		    uint64_t offset)
{
	while (bytes) {
		ssize_t n = reads ? pread(fd, buffer, bytes, (off_t)offset) :
				    pwrite(fd, buffer, bytes, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if (n == 0)	/* the file ends before the request */
			return reads ? EBADMSG : EIO;
		buffer += n;
		offset += (uint64_t)n;
		bytes -= (size_t)n;
	}
	return 0;
}

static void stream_fail(const struct requester *requester,
			struct stream *stream, int failed, uint64_t offset)
{
	bool reads = micro_reads(stream->pattern.kind);

	if (failed == ENOSPC &&
	    (requester->params->limit || requester->params->until_full)) {
		stream->stopped = true;
		return;
	}
	stream->failed = true;
	ffs_fail(&stream->error, failed,
		 "cannot %s %llu bytes at %llu of the test file, request %llu%s",
		 reads ? "read" : "write",
		 (unsigned long long)stream->pattern.request_bytes,
		 (unsigned long long)offset, (unsigned long long)stream->done,
		 failed == EBADMSG ? " (the file is shorter than it was, or the file system found its data damaged)" :
		 failed == ENOSPC ? " (the partition is full: lower file_bytes or volume_bytes, or set limit=1 to keep what was measured)" : "");
}

static int verify(const struct requester *requester, struct stream *stream,
		  uint64_t offset, const unsigned char *data)
{
	uint64_t wrong_at;

	if (content_check(requester->readable, offset, data,
			  stream->pattern.request_bytes,
			  requester->mixed_sectors, &wrong_at))
		return 0;
	stream->failed = true;
	return ffs_fail(&stream->error, EBADMSG,
		"the test file differs from what was written, first at byte %llu, request %llu (a file prepared with another seed? else the file system lost data)",
		(unsigned long long)wrong_at,
		(unsigned long long)(stream->done - 1));
}

bool request_is_synced(const struct requester *requester,
		       const struct stream *stream, uint64_t index)
{
	uint64_t every = requester->params->fsync_every;

	return !micro_reads(stream->pattern.kind) && every &&
	       (index + 1) % every == 0;
}

void request_begins(struct requester *requester)
{
	if (requester->last && !requester->own_only)
		add_rows(requester, requester->last, AFTER_REQUEST,
			 &requester->after, &requester->before);
	requester->last = NULL;
}

int request_ended(struct requester *requester, struct stream *stream,
		  const struct request_outcome *outcome)
{
	uint64_t index = stream->done, offset = stream->offset[index];

	stream->t_end_ns = outcome->end_ns;
	if (outcome->failed) {
		stream_fail(requester, stream, outcome->failed, offset);
		return -1;
	}
	stream->t_start_ns[index] = outcome->start_ns;
	stream->latency_ns[index] = outcome->end_ns - outcome->start_ns;
	stream->bytes += stream->pattern.request_bytes;
	stream->done++;
	add_rows(requester, stream, DURING_REQUEST, &requester->before,
		 &requester->after);
	requester->last = stream;
	return micro_reads(stream->pattern.kind) ?
		       verify(requester, stream, offset, outcome->data) : 0;
}

int request_make(struct requester *requester, struct stream *stream)
{
	bool reads = micro_reads(stream->pattern.kind);
	size_t bytes = stream->pattern.request_bytes;
	uint64_t offset = stream->offset[stream->done];
	struct request_outcome outcome = { .data = stream->buffer };

	if (!reads)
		content_fill(&requester->written, offset, stream->buffer,
			     bytes);
	else if (requester->params->cache == MICRO_CACHE_BYPASS)
		posix_fadvise(requester->fd, 0, 0, POSIX_FADV_DONTNEED);
	live_read(requester->live, &requester->before);
	request_begins(requester);
	outcome.start_ns = clock_now_ns();
	outcome.failed = transfer(requester->fd, reads, stream->buffer, bytes,
				  offset);
	if (!outcome.failed &&
	    request_is_synced(requester, stream, stream->done) &&
	    fsync(requester->fd))
		outcome.failed = errno;
	outcome.end_ns = clock_now_ns();
	live_read(requester->live, &requester->after);
	return request_ended(requester, stream, &outcome);
}
