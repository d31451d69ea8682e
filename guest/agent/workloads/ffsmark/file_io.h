/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * file_io.h - the timed file operations of a workload.
 *
 * Each operation makes the system calls the workload is about and no other:
 * no stat, no seek; a read stops at the size that is known instead of asking
 * for the end of the file.  A file is reached by its full path, since looking
 * it up is part of what is measured; the path is built before the first
 * reading of the clock.  Operations may be put off and made together
 * (core/calls.h): what was measured, and what failed, is known after io_flush().
 *
 * Contents are a function of (seed, file, position): a window into a stock
 * (core/content.h) of 1 MiB, of less if the workload writes less.  Those of the
 * pool's files are chosen, the files of valid and invalid data have any bytes.  So a
 * file can be checked without remembering how it was written.  Limit: the data
 * of one file repeat after 1 MiB, or after all that the workload has at a time;
 * no flash file system looks that far.
 */
#ifndef FFSAGENT_FILE_IO_H
#define FFSAGENT_FILE_IO_H

#include <limits.h>
#include <stdint.h>

#include "core/error.h"
#include "measure/latency.h"
#include "measure/timed.h"
#include "workloads/ffsmark/pool.h"

/* Serial numbers no file of the pool can have. */
#define SERIAL_VALID_DATA 0xffffffffu
#define SERIAL_INVALID_DATA 0xfffffffeu

struct file_io {
	const struct ffsmark_params *params;
	unsigned char *payload;		/* random */
	unsigned char *pool_payload;	/* of the pool; may be the same */
	unsigned char *read_buffer;
	size_t period;			/* of the payloads, in bytes */
	char path[PATH_MAX];
	/* Operations that were put off; their bytes, and those of large files. */
	struct timed_calls timed;
	enum file_op_kind kind;		/* of the last one */
};

/**
 * file_io_init() - allocate the buffers; @latencies belongs to the caller.
 * @bytes: of all files together, at most, at any time.
 */
int file_io_init(struct file_io *io, const struct ffsmark_params *params,
		 uint64_t bytes, struct latency *latencies,
		 struct ffs_error *error);
void file_io_free(struct file_io *io);

/**
 * io_perform() - do one operation of the pool, timed, or put it off.
 *
 * Return: 0, or -1 with @error, which may be about one that was put off before.
 * ->timed.operations says how many were complete by then.
 */
int io_perform(struct file_io *io, const struct file_op *op,
	       struct ffs_error *error);

/** io_flush() - do what has been put off. */
int io_flush(struct file_io *io, struct ffs_error *error);

/* For operations.c: an operation by stdio (buffered.c). */
int io_perform_buffered(struct file_io *io, const struct file_op *op,
			struct ffs_error *error);

/* For both (file_io.c): what an operation is counted as; why it failed; what a file has. */
enum latency_op io_latency(enum file_op_kind kind);
int io_cannot(const char *path, enum file_op_kind kind, int failed,
	      struct ffs_error *error);
const unsigned char *io_contents(const struct file_io *io, uint32_t serial,
				 uint64_t position);

/** io_verify() - read a file back and compare; EBADMSG if it differs. */
int io_verify(struct file_io *io, const struct pool_file *file,
	      struct ffs_error *error);

/** io_fill(), io_check() - write and fsync, or compare, one large file. */
int io_fill(struct file_io *io, const char *path, uint32_t serial,
	    uint64_t bytes, struct ffs_error *error);
int io_check(struct file_io *io, const char *path, uint32_t serial,
	     uint64_t bytes, struct ffs_error *error);

/** io_directory() - the path of a directory number, into ->path. */
int io_directory(struct file_io *io, uint32_t directory,
		 struct ffs_error *error);

/** io_file_path() - the path of a file of the pool, into ->path. */
int io_file_path(struct file_io *io, const struct pool_file *file,
		 struct ffs_error *error);

#endif
