// SPDX-License-Identifier: GPL-2.0-only
/*
 * stream.c - memory of the streams and their timed loop; see
 * stream.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/clock.h"
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
	return 0;
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
	memset(set, 0, sizeof(*set));
}

/* --- one request --------------------------------------------------------- */

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

static void requester_init(struct requester *requester,
			   const struct requests_site *site, int fd,
			   bool own_only)
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
	content_init(&requester->readable[0], params->seed, CONTENT_TEST, 0);
	content_init(&requester->readable[1], params->seed, CONTENT_TEST, 1);
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

	if (failed == ENOSPC && requester->params->limit) {
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
		  uint64_t offset)
{
	uint64_t wrong_at;

	if (content_check(requester->readable, offset, stream->buffer,
			  stream->pattern.request_bytes,
			  requester->mixed_sectors, &wrong_at))
		return 0;
	stream->failed = true;
	return ffs_fail(&stream->error, EBADMSG,
		"the test file differs from what was written, first at byte %llu, request %llu (a file prepared with another seed? else the file system lost data)",
		(unsigned long long)wrong_at,
		(unsigned long long)(stream->done - 1));
}

/* Return: 0, or -1 when the stream is over before its last request. */
static int make_request(struct requester *requester, struct stream *stream)
{
	const struct micro_params *params = requester->params;
	bool reads = micro_reads(stream->pattern.kind);
	size_t bytes = stream->pattern.request_bytes;
	uint64_t index = stream->done, offset = stream->offset[index];
	bool synced = !reads && params->fsync_every &&
		      (index + 1) % params->fsync_every == 0;
	uint64_t start, end;
	int failed;

	if (!reads)
		content_fill(&requester->written, offset, stream->buffer,
			     bytes);
	else if (params->cache == MICRO_CACHE_BYPASS)
		posix_fadvise(requester->fd, 0, 0, POSIX_FADV_DONTNEED);
	live_read(requester->live, &requester->before);
	if (requester->last && !requester->own_only)
		add_rows(requester, requester->last, AFTER_REQUEST,
			 &requester->after, &requester->before);
	requester->last = NULL;
	start = clock_now_ns();
	failed = transfer(requester->fd, reads, stream->buffer, bytes, offset);
	if (synced && !failed && fsync(requester->fd))
		failed = errno;
	end = clock_now_ns();
	live_read(requester->live, &requester->after);
	stream->t_end_ns = end;
	if (failed) {
		stream_fail(requester, stream, failed, offset);
		return -1;
	}
	stream->t_start_ns[index] = start;
	stream->latency_ns[index] = end - start;
	stream->bytes += bytes;
	stream->done++;
	add_rows(requester, stream, DURING_REQUEST, &requester->before,
		 &requester->after);
	requester->last = stream;
	return reads ? verify(requester, stream, offset) : 0;
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
		if (make_request(requester, stream))
			return;
	}
}

static void end_requests(struct requester *requester)
{
	live_read(requester->live, &requester->before);
	if (requester->last && !requester->own_only)
		add_rows(requester, requester->last, AFTER_REQUEST,
			 &requester->after, &requester->before);
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
	make_requests(&requester, set->streams, total);
	end_requests(&requester);
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
