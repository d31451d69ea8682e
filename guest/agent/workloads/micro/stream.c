// SPDX-License-Identifier: GPL-2.0-only
/*
 * stream.c - memory of the streams, and their loops; see stream.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/clock.h"
#include "workloads/micro/request.h"
#include "workloads/micro/stream.h"

/* --- memory -------------------------------------------------------------- */

/*
 * A request is served by its own process, and often something happens in
 * another task before the next one; some extra for tasks that come and go.
 */
static size_t rows_of(const struct pattern *pattern)
{
	return 2 * (size_t)pattern->requests + 1024;
}

/* Sizes of all that is carved, rounded so that the next is aligned. */
static size_t aligned(size_t bytes)
{
	return (bytes + 63) & ~(size_t)63;
}

static size_t stream_bytes(const struct pattern *pattern)
{
	return 3 * aligned(pattern->requests * sizeof(uint64_t)) +
	       aligned(rows_of(pattern) * sizeof(struct flash_row)) +
	       aligned(pattern->request_bytes);
}

static void *carve(unsigned char **next, size_t bytes)
{
	void *here = *next;

	*next += aligned(bytes);
	return here;
}

static void carve_stream(struct stream *stream, const struct pattern *pattern,
			 unsigned char **next)
{
	size_t numbers = pattern->requests * sizeof(uint64_t);

	stream->pattern = *pattern;
	stream->rows_room = rows_of(pattern);
	stream->offset = carve(next, numbers);
	stream->t_start_ns = carve(next, numbers);
	stream->latency_ns = carve(next, numbers);
	stream->rows = carve(next, stream->rows_room * sizeof(*stream->rows));
	stream->buffer = carve(next, pattern->request_bytes);
}

/* Processes make their requests at the same time: one by one. */
static int reserve_queue(struct stream_set *set, const struct pattern *patterns,
			 uint32_t n, bool shared, struct ffs_error *error)
{
	size_t longest = 0;
	uint32_t i;

	for (i = 0; i < n; i++)
		if (patterns[i].request_bytes > longest)
			longest = patterns[i].request_bytes;
	return shared ? 0 : queue_reserve(&set->queue, longest, error);
}

int streams_reserve(struct stream_set *set, const struct pattern *patterns,
		    uint32_t n, bool shared, struct ffs_error *error)
{
	size_t bytes = aligned(n * sizeof(*set->streams)), scratch = 0;
	unsigned char *next;
	uint32_t i;

	for (i = 0; i < n; i++) {
		bytes += stream_bytes(&patterns[i]);
		if (pattern_scratch(&patterns[i]) > scratch)
			scratch = pattern_scratch(&patterns[i]);
	}
	scratch *= sizeof(*set->scratch);
	bytes += aligned(scratch);
	next = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_ANONYMOUS |
		    (shared ? MAP_SHARED : MAP_PRIVATE), -1, 0);
	if (next == MAP_FAILED)
		return ffs_fail(error, ENOMEM,
			"no memory for the records of the requests (%zu bytes); lower volume_bytes or raise request_bytes",
			bytes);
	/* Touched now, so that no page fault falls into the measured phase. */
	memset(next, 0, bytes);
	set->memory = next;
	set->memory_bytes = bytes;
	set->n = n;
	set->streams = carve(&next, n * sizeof(*set->streams));
	for (i = 0; i < n; i++)
		carve_stream(&set->streams[i], &patterns[i], &next);
	set->scratch = carve(&next, scratch);
	return reserve_queue(set, patterns, n, shared, error);
}

void streams_set(struct stream_set *set, const struct pattern *patterns)
{
	uint32_t i;

	for (i = 0; i < set->n; i++) {
		set->streams[i].pattern = patterns[i];
		pattern_offsets(&patterns[i], set->streams[i].offset,
				set->scratch);
	}
}

void streams_free(struct stream_set *set)
{
	if (set->memory)
		munmap(set->memory, set->memory_bytes);
	queue_free(&set->queue);
	memset(set, 0, sizeof(*set));
}

/* --- the file ----------------------------------------------------------- */

int streams_open_file(const struct requests_site *site, struct ffs_error *error)
{
	const struct micro_params *params = site->params;
	bool reads = micro_reads(params->kind) ||
		     (params->mix && micro_reads(params->mix_kind));
	bool writes = !micro_reads(params->kind) ||
		      (params->mix && !micro_reads(params->mix_kind));
	int fd = open(site->path, O_CLOEXEC |
		      (!writes ? O_RDONLY : reads ? O_RDWR : O_WRONLY));
	int failed;

	if (fd < 0)
		return ffs_fail(error, errno, "cannot open %s%s", site->path,
			errno == ENOENT ? " (existing=1 needs a step prepare with test_file=1 before it)" : "");
	if (!reads || params->cache != MICRO_CACHE_BYPASS)
		return fd;
	failed = posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	if (failed) {
		close(fd);
		return ffs_fail(error, failed,
			"cannot switch off readahead for cache=bypass (a kernel without fadvise? set cache=drop)");
	}
	return fd;
}

/* --- all requests of a process ------------------------------------------- */

/* @streams: one, or the two of a mix. */
static void make_requests(struct requester *requester, struct stream *streams,
			  uint64_t total)
{
	const struct micro_params *params = requester->params;
	uint64_t pause_ns = params->pause_us * 1000, i;

	for (i = 0; i < total; i++) {
		struct stream *stream =
			&streams[pattern_is_mix_turn(params, i)];

		if (pause_ns && i && i % params->burst == 0 &&
		    clock_sleep_ns(pause_ns, &stream->error)) {
			stream->failed = true;
			return;
		}
		if (request_make(requester, stream))
			return;
	}
}

/* The same, put off as far as possible. */
static void queue_requests(struct requester *requester, struct stream_set *set,
			   uint64_t total)
{
	uint64_t i;

	for (i = 0; i < total; i++)
		if (queue_put(&set->queue, requester,
			      &set->streams[pattern_is_mix_turn(
				      requester->params, i)]))
			return;
	queue_flush(&set->queue, requester);
}

void streams_run(struct stream_set *set, const struct requests_site *site,
		 int fd)
{
	struct requester requester;
	uint64_t total = 0;
	uint32_t i;

	requester_init(&requester, site, fd, false);
	for (i = 0; i < set->n; i++) {
		total += set->streams[i].pattern.requests;
		set->streams[i].pid = requester.pid;
	}
	if (queue_is_used(&set->queue) && !site->params->pause_us)
		queue_requests(&requester, set, total);
	else
		make_requests(&requester, set->streams, total);
	live_read(site->live, &requester.before);
	request_begins(&requester);
}

void stream_run_own(struct stream *stream, const struct requests_site *site,
		    int fd, int start_fd)
{
	struct requester requester;
	char go;

	requester_init(&requester, site, fd, true);
	stream->pid = requester.pid;
	/* The end of the pipe means that there will be no start. */
	if (read(start_fd, &go, 1) == 1)
		make_requests(&requester, stream, stream->pattern.requests);
}
