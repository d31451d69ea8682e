// SPDX-License-Identifier: GPL-2.0-only
/*
 * file_io.c - contents and paths, what kinds of operations there are, and files that
 * are written or compared outside of timed operations; see file_io.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workloads/ffsmark/file_io.h"

static const struct kind {
	const char *name;
	enum latency_op latency;
} kinds[] = {
	[OP_READ] = { "read", LATENCY_READ },
	[OP_APPEND] = { "append to", LATENCY_APPEND },
	[OP_CREATE] = { "create", LATENCY_CREATE },
	[OP_DELETE] = { "delete", LATENCY_DELETE },
};

#define PERIOD_MIN ((size_t)64 << 10)
#define PERIOD_MAX ((size_t)1 << 20)
#define CALLS 256
#define CALLS_TEXT_BYTES ((size_t)8 << 10)
#define FILL_CHUNK ((size_t)64 << 10)

/* Whether there are files of valid or invalid data. */
static bool has_data(const struct ffsmark_params *params)
{
	return params->valid_percent + params->invalid_percent;
}

/* A page that is touched first costs more than many a small workload. */
static size_t period_for(uint64_t bytes)
{
	size_t period = PERIOD_MIN;

	while (period < bytes && period < PERIOD_MAX)
		period *= 2;
	return period;
}

static size_t longest_request(const struct ffsmark_params *params)
{
	size_t chunk = has_data(params) || params->verify ? FILL_CHUNK : 1;

	if (chunk < params->write_bytes)
		chunk = params->write_bytes;
	return chunk < params->read_bytes ? params->read_bytes : chunk;
}

static int fill_payload(const struct file_io *io, unsigned char *payload,
			const struct content_choice *choice, size_t chunk,
			struct ffs_error *error)
{
	if (content_stock(choice, rng_mix(io->params->seed + 1),
			  CONTENT_SECTOR_BYTES, payload, io->period, error))
		return -1;
	/* The tail repeats the start: a request may run over the period. */
	memcpy(payload + io->period, payload, chunk);
	return 0;
}

static int fill_payloads(const struct file_io *io, size_t chunk,
			 struct ffs_error *error)
{
	if (io->payload != io->pool_payload &&
	    fill_payload(io, io->payload, &content_random.choice, chunk, error))
		return -1;
	return fill_payload(io, io->pool_payload, &io->params->contents, chunk,
			    error);
}

int file_io_init(struct file_io *io, const struct ffsmark_params *params,
		 uint64_t bytes, struct latency *latencies,
		 struct ffs_error *error)
{
	size_t chunk = longest_request(params);

	memset(io, 0, sizeof(*io));
	io->params = params;
	io->period = period_for(bytes);
	/* A request is at most one period long. */
	while (io->period < chunk)
		io->period *= 2;
	io->payload = malloc(io->period + chunk);
	/* Without these files nobody reads the bytes that are random. */
	io->pool_payload = params->contents.kind && has_data(params) ?
				   malloc(io->period + chunk) : io->payload;
	io->read_buffer = malloc(chunk);
	if (!io->payload || !io->pool_payload || !io->read_buffer) {
		file_io_free(io);
		return ffs_fail(error, ENOMEM,
				"no memory for requests of %zu bytes", chunk);
	}
	if (timed_reserve(&io->timed, CALLS, CALLS_TEXT_BYTES, latencies,
			  error) || fill_payloads(io, chunk, error)) {
		file_io_free(io);
		return -1;
	}
	memset(io->read_buffer, 0, chunk);
	return 0;
}

void file_io_free(struct file_io *io)
{
	if (io->pool_payload != io->payload)
		free(io->pool_payload);
	free(io->payload);
	free(io->read_buffer);
	timed_free(&io->timed);
	io->pool_payload = NULL;
	io->payload = NULL;
	io->read_buffer = NULL;
}

const unsigned char *io_contents(const struct file_io *io, uint32_t serial,
				 uint64_t position)
{
	uint64_t base = rng_mix(io->params->seed ^ ((uint64_t)serial << 32));

	return (serial >= SERIAL_INVALID_DATA ? io->payload :
						io->pool_payload) +
	       (base + position) % io->period;
}

/* printf would cost more than the system calls of a small file. */
static char *put_number(char *out, uint32_t number)
{
	char digits[10];
	int n = 0;

	do {
		digits[n++] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	while (n)
		*out++ = digits[--n];
	return out;
}

/* Return: where the path ends, or NULL if it would be too long. */
static char *put_directory(struct file_io *io, uint32_t directory,
			   struct ffs_error *error)
{
	uint32_t per_location = io->params->subdirectories;
	uint32_t location = per_location ? directory / per_location : directory;
	const char *root = io->params->locations[location].path;
	size_t length = strlen(root);
	char *end = io->path + length;

	/* Room for "/s", "/", two numbers and the end. */
	if (length + 24 > sizeof(io->path)) {
		ffs_fail(error, ENAMETOOLONG, "%.64s...", root);
		return NULL;
	}
	memcpy(io->path, root, length);
	if (per_location) {
		*end++ = '/';
		*end++ = 's';
		end = put_number(end, directory % per_location);
	}
	return end;
}

int io_directory(struct file_io *io, uint32_t directory,
		 struct ffs_error *error)
{
	char *end = put_directory(io, directory, error);

	if (!end)
		return -1;
	*end = '\0';
	return 0;
}

int io_file_path(struct file_io *io, const struct pool_file *file,
		 struct ffs_error *error)
{
	char *end = put_directory(io, file->directory, error);

	if (!end)
		return -1;
	*end++ = '/';
	*put_number(end, file->serial) = '\0';
	return 0;
}

enum latency_op io_latency(enum file_op_kind kind)
{
	return kinds[kind].latency;
}

int io_cannot(const char *path, enum file_op_kind kind, int failed,
	      struct ffs_error *error)
{
	return ffs_fail(error, failed, "cannot %s %s%s", kinds[kind].name, path,
		failed == EEXIST ?
		" (left over from an earlier run? remove it)" : "");
}

static int write_chunk(int fd, const unsigned char *data, size_t bytes)
{
	while (bytes) {
		ssize_t n = write(fd, data, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			if (!n)
				errno = EIO;
			return -1;
		}
		data += n;
		bytes -= (size_t)n;
	}
	return 0;
}

int io_fill(struct file_io *io, const char *path, uint32_t serial,
	    uint64_t bytes, struct ffs_error *error)
{
	uint64_t position = 0;
	int failed = 0;
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0)
		return ffs_fail(error, errno, "cannot create %s", path);
	while (position < bytes && !failed) {
		uint64_t left = bytes - position;
		size_t chunk = left < FILL_CHUNK ? (size_t)left : FILL_CHUNK;

		if (write_chunk(fd, io_contents(io, serial, position), chunk))
			failed = errno;
		else
			io->timed.bytes_written += chunk;
		position += chunk;
	}
	if (!failed && fsync(fd))
		failed = errno;
	if (close(fd) && !failed)
		failed = errno;
	if (failed)
		return ffs_fail(error, failed,
				"cannot write %llu bytes into %s",
				(unsigned long long)bytes, path);
	return 0;
}

static int compare(struct file_io *io, int fd, const char *path,
		   uint32_t serial, uint64_t bytes, struct ffs_error *error)
{
	uint64_t position = 0;

	for (;;) {
		uint64_t left = bytes - position, i;
		/* One byte more than is left shows a file that is too long. */
		size_t ask = left + 1 < FILL_CHUNK ? (size_t)left + 1 :
						     FILL_CHUNK;
		const unsigned char *wanted = io_contents(io, serial, position);
		ssize_t n = read(fd, io->read_buffer, ask);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ffs_fail(error, errno, "cannot read %s", path);
		if (n == 0 && left == 0)
			return 0;
		if (n == 0 || (uint64_t)n > left)
			return ffs_fail(error, EBADMSG,
				"%s is %s than the %llu bytes written", path,
				n ? "longer" : "shorter",
				(unsigned long long)bytes);
		for (i = 0; i < (uint64_t)n; i++)
			if (io->read_buffer[i] != wanted[i])
				return ffs_fail(error, EBADMSG,
					"%s differs from what was written, first at byte %llu",
					path,
					(unsigned long long)(position + i));
		position += (uint64_t)n;
		io->timed.bytes_read += (uint64_t)n;
	}
}

int io_check(struct file_io *io, const char *path, uint32_t serial,
	     uint64_t bytes, struct ffs_error *error)
{
	int result;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return ffs_fail(error, errno, "cannot open %s", path);
	result = compare(io, fd, path, serial, bytes, error);
	close(fd);
	return result;
}

int io_verify(struct file_io *io, const struct pool_file *file,
	      struct ffs_error *error)
{
	if (io_file_path(io, file, error))
		return -1;
	return io_check(io, io->path, file->serial, file->size, error);
}
