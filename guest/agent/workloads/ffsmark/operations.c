// SPDX-License-Identifier: GPL-2.0-only
/*
 * operations.c - the timed operations of the pool; see file_io.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "workloads/ffsmark/file_io.h"

static const int open_flags[] = {
	[OP_READ] = O_RDONLY,
	[OP_APPEND] = O_WRONLY | O_APPEND,
	[OP_CREATE] = O_WRONLY | O_CREAT | O_EXCL,
};

static enum file_op_kind kind_of(int latency, enum file_op_kind otherwise)
{
	enum file_op_kind kind;

	for (kind = OP_READ; kind <= OP_DELETE; kind++)
		if ((int)io_latency(kind) == latency)
			return kind;
	return otherwise;
}

int io_flush(struct file_io *io, struct ffs_error *error)
{
	struct timed_failure failure;

	if (!timed_run(&io->timed, &failure))
		return 0;
	/* A file that was opened in an earlier queue is that of the last. */
	return io_cannot(*failure.path ? failure.path : io->path,
			 kind_of(failure.whole, io->kind), failure.errnum,
			 error);
}

/* Room for one more call, whose path takes @text_bytes. */
static int make_room(struct file_io *io, size_t text_bytes,
		     struct ffs_error *error)
{
	return calls_full(&io->timed.calls, 1, text_bytes) ?
		       io_flush(io, error) : 0;
}

static int put_off_requests(struct file_io *io, const struct file_op *op,
			    struct ffs_error *error)
{
	struct calls *calls = &io->timed.calls;
	bool reads = op->kind == OP_READ;
	uint32_t unit = reads ? io->params->read_bytes :
				io->params->write_bytes;
	uint32_t position = op->kind == OP_APPEND ? op->file.size : 0;
	uint32_t left = op->kind == OP_APPEND ? op->append_bytes :
						op->file.size;

	while (left) {
		uint32_t bytes = left < unit ? left : unit;

		if (make_room(io, 0, error))
			return -1;
		if (reads)
			calls_read(calls, TIMED_REQUEST(LATENCY_REQUEST_READ),
				   CALLS_OPENED, io->read_buffer, bytes);
		else
			calls_write(calls, TIMED_REQUEST(LATENCY_REQUEST_WRITE),
				    CALLS_OPENED,
				    io_contents(io, op->file.serial, position),
				    bytes);
		position += bytes;
		left -= bytes;
	}
	return 0;
}

static int put_off(struct file_io *io, const struct file_op *op,
		   struct ffs_error *error)
{
	struct calls *calls = &io->timed.calls;
	uint32_t completes = TIMED_WHOLE(io_latency(op->kind));
	const char *path;

	if (make_room(io, strlen(io->path) + 1, error))
		return -1;
	path = calls_text(calls, io->path);
	if (op->kind == OP_DELETE) {
		calls_unlink(calls, completes, AT_FDCWD, path);
		return 0;
	}
	calls_open(calls, TIMED_PART, AT_FDCWD, path, open_flags[op->kind]);
	if (put_off_requests(io, op, error) || make_room(io, 0, error))
		return -1;
	calls_close(calls, completes, CALLS_OPENED);
	return 0;
}

int io_perform(struct file_io *io, const struct file_op *op,
	       struct ffs_error *error)
{
	if (op->kind == OP_NONE)
		return 0;
	if (io_file_path(io, &op->file, error))
		return -1;
	if (io->params->buffering && op->kind != OP_DELETE)
		return io_perform_buffered(io, op, error);
	io->kind = op->kind;
	if (put_off(io, op, error))
		return -1;
	/* Beside buffered operations, which are not put off, order matters. */
	if (io->timed.calls.together && !io->params->buffering)
		return 0;
	return io_flush(io, error);
}
