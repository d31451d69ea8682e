// SPDX-License-Identifier: GPL-2.0-only
/*
 * file_io.c - see file_io.h.
 *
 * A write or read call that is interrupted or short is continued; each call
 * counts as one request.  The reading of the clock that ends one request begins
 * the next, so that a file of n requests costs n + 3 readings.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "workloads/ffsmark/file_io.h"

#define PAYLOAD_PERIOD ((size_t)1 << 20)
#define FILL_CHUNK ((size_t)64 << 10)

/* An open file, by system calls or by stdio. */
struct handle {
	int fd;
	FILE *stream;
};

/* Any byte becomes one of the 95 printable characters of ASCII. */
static void fill_text(unsigned char *text, const unsigned char *bytes,
		      size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		text[i] = (unsigned char)(' ' + bytes[i] * 95 / 256);
}

int file_io_init(struct file_io *io, const struct ffsmark_params *params,
		 struct latency *latencies, struct ffs_error *error)
{
	size_t chunk = params->write_bytes;
	struct rng rng;

	memset(io, 0, sizeof(*io));
	if (chunk < params->read_bytes)
		chunk = params->read_bytes;
	if (chunk < FILL_CHUNK)
		chunk = FILL_CHUNK;
	io->params = params;
	io->latencies = latencies;
	io->payload = malloc(PAYLOAD_PERIOD + chunk);
	io->pool_payload = params->text ? malloc(PAYLOAD_PERIOD + chunk) :
					  io->payload;
	io->read_buffer = malloc(chunk);
	if (!io->payload || !io->pool_payload || !io->read_buffer) {
		file_io_free(io);
		return ffs_fail(error, ENOMEM,
				"no memory for requests of %zu bytes", chunk);
	}
	rng_seed(&rng, rng_mix(params->seed + 1));
	rng_fill(&rng, io->payload, PAYLOAD_PERIOD);
	/* The tail repeats the start: a request may run over the period. */
	memcpy(io->payload + PAYLOAD_PERIOD, io->payload, chunk);
	if (params->text)
		fill_text(io->pool_payload, io->payload,
			  PAYLOAD_PERIOD + chunk);
	memset(io->read_buffer, 0, chunk);
	return 0;
}

void file_io_free(struct file_io *io)
{
	if (io->pool_payload != io->payload)
		free(io->pool_payload);
	free(io->payload);
	free(io->read_buffer);
	io->pool_payload = NULL;
	io->payload = NULL;
	io->read_buffer = NULL;
}

static const unsigned char *contents(const struct file_io *io, uint32_t serial,
				     uint64_t position)
{
	uint64_t base = rng_mix(io->params->seed ^ ((uint64_t)serial << 32));

	return (serial >= SERIAL_INVALID_DATA ? io->payload :
						io->pool_payload) +
	       (base + position) % PAYLOAD_PERIOD;
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

static int open_file(const struct file_io *io, struct handle *handle, int flags,
		     const char *mode)
{
	if (io->params->buffering) {
		handle->stream = fopen(io->path, mode);
		return handle->stream ? 0 : -1;
	}
	do
		handle->fd = open(io->path, flags | O_CLOEXEC, 0644);
	while (handle->fd < 0 && errno == EINTR);
	return handle->fd < 0 ? -1 : 0;
}

/* Linux frees the descriptor even when close() is interrupted. */
static int close_file(const struct file_io *io, struct handle *handle)
{
	int result = io->params->buffering ? fclose(handle->stream) :
					     close(handle->fd);

	return result && errno != EINTR ? -1 : 0;
}

/* One request. Return: bytes transferred, or -1 with errno. */
static ssize_t write_request(const struct file_io *io, struct handle *handle,
			     const unsigned char *data, size_t bytes)
{
	size_t n;

	if (!io->params->buffering)
		return write(handle->fd, data, bytes);
	n = fwrite(data, 1, bytes, handle->stream);
	return n ? (ssize_t)n : -1;
}

static ssize_t read_request(const struct file_io *io, struct handle *handle,
			    unsigned char *data, size_t bytes)
{
	size_t n;

	if (!io->params->buffering)
		return read(handle->fd, data, bytes);
	n = fread(data, 1, bytes, handle->stream);
	return n || !ferror(handle->stream) ? (ssize_t)n : -1;
}

/* @clock: the reading that ended what came before; updated. */
static int write_extent(struct file_io *io, struct handle *handle,
			const struct pool_file *file, uint32_t position,
			uint32_t bytes, uint64_t *clock)
{
	while (bytes) {
		uint32_t unit = io->params->write_bytes;
		ssize_t n = write_request(io, handle,
				contents(io, file->serial, position),
				bytes < unit ? bytes : unit);
		uint64_t now = clock_now_ns();

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			if (!n)
				errno = EIO;
			return -1;
		}
		latency_add(&io->latencies[LATENCY_REQUEST_WRITE],
			    now - *clock);
		*clock = now;
		io->bytes_written += (uint64_t)n;
		position += (uint32_t)n;
		bytes -= (uint32_t)n;
	}
	return 0;
}

static int read_extent(struct file_io *io, struct handle *handle,
		       uint32_t bytes, uint64_t *clock)
{
	while (bytes) {
		uint32_t unit = io->params->read_bytes;
		ssize_t n = read_request(io, handle, io->read_buffer,
					 bytes < unit ? bytes : unit);
		uint64_t now = clock_now_ns();

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			/* The file is shorter than what was written. */
			if (!n)
				errno = EBADMSG;
			return -1;
		}
		latency_add(&io->latencies[LATENCY_REQUEST_READ], now - *clock);
		*clock = now;
		io->bytes_read += (uint64_t)n;
		bytes -= (uint32_t)n;
	}
	return 0;
}

static int transfer(struct file_io *io, const struct file_op *op,
		    struct handle *handle, uint64_t *clock)
{
	switch (op->kind) {
	case OP_CREATE:
		return write_extent(io, handle, &op->file, 0, op->file.size,
				    clock);
	case OP_APPEND:
		return write_extent(io, handle, &op->file, op->file.size,
				    op->append_bytes, clock);
	default:
		return read_extent(io, handle, op->file.size, clock);
	}
}

struct access_mode {
	const char *name;
	int flags;
	const char *stdio;
	enum latency_op latency;
};

static const struct access_mode modes[] = {
	[OP_READ] = { "read", O_RDONLY, "re", LATENCY_READ },
	[OP_APPEND] = { "append to", O_WRONLY | O_APPEND, "ae", LATENCY_APPEND },
	[OP_CREATE] = { "create", O_WRONLY | O_CREAT | O_EXCL, "wxe",
			LATENCY_CREATE },
};

static int access_file(struct file_io *io, const struct file_op *op,
		       struct ffs_error *error)
{
	const struct access_mode *mode = &modes[op->kind];
	struct handle handle = { -1, NULL };
	uint64_t start = clock_now_ns(), clock;
	int failed = 0;

	if (open_file(io, &handle, mode->flags, mode->stdio))
		return ffs_fail(error, errno, "cannot %s %s%s", mode->name,
				io->path, errno == EEXIST ?
				" (left over from an earlier run? remove it)" : "");
	clock = clock_now_ns();
	if (transfer(io, op, &handle, &clock))
		failed = errno;
	if (close_file(io, &handle) && !failed)
		failed = errno;
	clock = clock_now_ns();
	if (failed)
		return ffs_fail(error, failed, "cannot %s %s", mode->name,
				io->path);
	latency_add(&io->latencies[mode->latency], clock - start);
	return 0;
}

int io_perform(struct file_io *io, const struct file_op *op,
	       struct ffs_error *error)
{
	uint64_t start, end;
	int result;

	if (op->kind == OP_NONE)
		return 0;
	if (io_file_path(io, &op->file, error))
		return -1;
	if (op->kind != OP_DELETE)
		return access_file(io, op, error);
	start = clock_now_ns();
	result = unlink(io->path);
	end = clock_now_ns();
	if (result)
		return ffs_fail(error, errno, "cannot delete %s", io->path);
	latency_add(&io->latencies[LATENCY_DELETE], end - start);
	return 0;
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

		if (write_chunk(fd, contents(io, serial, position), chunk))
			failed = errno;
		else
			io->bytes_written += chunk;
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
		const unsigned char *wanted = contents(io, serial, position);
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
		io->bytes_read += (uint64_t)n;
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
