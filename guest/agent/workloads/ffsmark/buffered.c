// SPDX-License-Identifier: GPL-2.0-only
/*
 * buffered.c - operations of the pool by stdio, as Postmark's "set buffering";
 * see file_io.h.
 *
 * A request is one fread() or fwrite(), whatever system calls it makes.  The
 * reading of the clock that ends one begins the next.
 */
#include <errno.h>
#include <stdio.h>

#include "core/clock.h"
#include "workloads/ffsmark/file_io.h"

static const char *const modes[] = {
	[OP_READ] = "re", [OP_APPEND] = "ae", [OP_CREATE] = "wxe",
};

/* Return: 0 or an errno. @clock: what ended the call before; updated. */
static int transfer(struct file_io *io, const struct file_op *op, FILE *stream,
		    uint64_t *clock)
{
	bool reads = op->kind == OP_READ;
	uint32_t unit = reads ? io->params->read_bytes :
				io->params->write_bytes;
	uint32_t position = op->kind == OP_APPEND ? op->file.size : 0;
	uint32_t left = op->kind == OP_APPEND ? op->append_bytes :
						op->file.size;

	while (left) {
		uint32_t bytes = left < unit ? left : unit;
		size_t n = reads ? fread(io->read_buffer, 1, bytes, stream) :
			fwrite(io_contents(io, op->file.serial, position), 1,
			       bytes, stream);
		uint64_t now = clock_now_ns();

		/* A file that ends too early is shorter than what was written. */
		if (n != bytes)
			return ferror(stream) ? errno : EBADMSG;
		latency_add_at(&io->timed.latencies[reads ? LATENCY_REQUEST_READ :
						   LATENCY_REQUEST_WRITE],
			       *clock, now);
		*(reads ? &io->timed.bytes_read : &io->timed.bytes_written) +=
			n;
		*clock = now;
		position += bytes;
		left -= bytes;
	}
	return 0;
}

int io_perform_buffered(struct file_io *io, const struct file_op *op,
			struct ffs_error *error)
{
	uint64_t start = clock_now_ns(), clock;
	FILE *stream = fopen(io->path, modes[op->kind]);
	int failed;

	if (!stream)
		return io_cannot(io->path, op->kind, errno, error);
	clock = clock_now_ns();
	failed = transfer(io, op, stream, &clock);
	if (fclose(stream) && errno != EINTR && !failed)
		failed = errno;
	clock = clock_now_ns();
	if (failed)
		return io_cannot(io->path, op->kind, failed, error);
	latency_add_at(&io->timed.latencies[io_latency(op->kind)], start, clock);
	io->timed.operations++;
	return 0;
}
