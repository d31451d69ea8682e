// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_file_io.c - the file operations on a temporary directory, and whether
 * verification finds damage.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "workloads/ffsmark/file_io.h"

static void overwrite(const char *path, off_t position, unsigned char byte)
{
	int fd = open(path, O_WRONLY);

	CHECK(fd >= 0 && pwrite(fd, &byte, 1, position) == 1);
	close(fd);
}

static void damage(struct file_io *io, struct pool_file *file)
{
	struct ffs_error error;
	unsigned char was;
	int fd;

	CHECK(!io_verify(io, file, &error));
	fd = open(io->path, O_RDONLY);
	CHECK(fd >= 0 && pread(fd, &was, 1, 4999) == 1);
	close(fd);
	overwrite(io->path, 4999, was ^ 1);
	CHECK(io_verify(io, file, &error) == -1 && error.errnum == EBADMSG);
	CHECK(strstr(error.message, "first at byte 4999") != NULL);
	overwrite(io->path, 4999, was);
	CHECK(!io_verify(io, file, &error));
	CHECK(!truncate(io->path, file->size - 1));
	CHECK(io_verify(io, file, &error) == -1 &&
	      strstr(error.message, "shorter"));
	CHECK(!truncate(io->path, file->size + 1));
	CHECK(io_verify(io, file, &error) == -1 &&
	      (strstr(error.message, "longer")));
	CHECK(!truncate(io->path, file->size));
	/* The last byte was replaced by zero; put it right by rewriting. */
	CHECK(!unlink(io->path));
}

/* Counts the bytes of a file that are not printable ASCII. */
static long unprintable(const char *path)
{
	FILE *file = fopen(path, "r");
	long count = 0;
	int c;

	CHECK(file != NULL);
	while (file && (c = getc(file)) != EOF)
		count += c < ' ' || c > '~';
	if (file)
		fclose(file);
	return count;
}

static void kinds_of_contents(struct file_io *io)
{
	struct file_op op = {
		.kind = OP_CREATE,
		.file = { .serial = 7, .directory = 0, .size = 5000 },
	};
	struct ffs_error error = { 0 };
	char path[sizeof(io->path) + 8];

	CHECKF(!io_perform(io, &op, &error), "%s", error.message);
	CHECK(!io_verify(io, &op.file, &error));
	/* Of any 5,000 bytes, 161 in 256 are not printable. */
	if (io->params->contents.kind == CONTENT_PRINTABLE)
		CHECK(unprintable(io->path) == 0);
	else
		CHECK(unprintable(io->path) > 2500);
	snprintf(path, sizeof(path), "%s.valid", io->path);
	CHECK(!io_fill(io, path, SERIAL_VALID_DATA, 5000, &error));
	CHECK(unprintable(path) > 2500);
	CHECK(!unlink(path));
	op.kind = OP_DELETE;
	CHECK(!io_perform(io, &op, &error));
}

static void operations(struct file_io *io)
{
	struct file_op op = {
		.kind = OP_CREATE,
		.file = { .serial = 4294967290u, .directory = 0, .size = 5000 },
	};
	struct ffs_error error = { 0 };
	struct stat status;

	CHECKF(!io_perform(io, &op, &error), "%s", error.message);
	CHECK(io->timed.bytes_written == 5000);
	CHECK(io->timed.latencies[LATENCY_REQUEST_WRITE].histogram.count == 5);
	CHECK(io_perform(io, &op, &error) == -1 && error.errnum == EEXIST);
	op.kind = OP_APPEND;
	op.append_bytes = 3000;
	CHECK(!io_perform(io, &op, &error));
	CHECK(io->timed.latencies[LATENCY_REQUEST_WRITE].histogram.count == 8);
	CHECK(!stat(io->path, &status) && status.st_size == 8000);
	op.kind = OP_READ;
	op.file.size = 8000;
	CHECK(!io_perform(io, &op, &error));
	CHECK(io->timed.bytes_read == 8000);
	CHECK(io->timed.latencies[LATENCY_REQUEST_READ].histogram.count == 4);
	CHECK(io->timed.latencies[LATENCY_READ].histogram.count == 1);
	/* A file that lost its end must not pass as read. */
	op.file.size = 8001;
	CHECK(io_perform(io, &op, &error) == -1 && error.errnum == EBADMSG);
	op.file.size = 8000;
	damage(io, &op.file);
	op.kind = OP_DELETE;
	CHECK(io_perform(io, &op, &error) == -1 && error.errnum == ENOENT);
	op.kind = OP_NONE;
	CHECK(!io_perform(io, &op, &error));
}

static void with_directory(bool buffering, enum content_kind kind)
{
	static struct latency latencies[LATENCY_OPS];
	char directory[256];
	struct ffsmark_location location = { directory, 1 };
	struct ffsmark_params params = {
		.locations = &location,
		.n_locations = 1,
		.read_bytes = 2048,
		.write_bytes = 1024,
		.buffering = buffering,
		.contents = { .kind = kind },
		.valid_percent = 10,	/* there are large files, of any bytes */
		.seed = 5,
	};
	static struct file_io io;
	struct ffs_error error;
	char path[300];
	int op;

	scratch_template(directory, sizeof(directory), "io");
	if (!CHECK(mkdtemp(directory) != NULL))
		return;
	for (op = 0; op < LATENCY_OPS; op++)
		latency_reserve(&latencies[op], 0, &error);
	if (!CHECK(!file_io_init(&io, &params, UINT64_MAX, latencies, &error)))
		return;
	operations(&io);
	/* Latencies of the above are checked there: these come after. */
	kinds_of_contents(&io);
	/* Longer than the period of the contents, and not a multiple of it. */
	snprintf(path, sizeof(path), "%s/large", directory);
	CHECK(!io_fill(&io, path, SERIAL_VALID_DATA, 2500001, &error));
	CHECK(!io_check(&io, path, SERIAL_VALID_DATA, 2500001, &error));
	CHECK(io_check(&io, path, SERIAL_INVALID_DATA, 2500001, &error) == -1);
	unlink(path);
	file_io_free(&io);
	CHECK(!rmdir(directory));
}

static void paths(void)
{
	struct ffsmark_location both[] = {
		{ (char *)"/x", 1 }, { (char *)".", 1 },
	};
	struct ffsmark_params params = {
		.locations = both, .n_locations = 2, .subdirectories = 12,
	};
	static struct file_io io;
	struct pool_file file = { .serial = 1203, .directory = 11 };

	io.params = &params;
	CHECK(!io_file_path(&io, &file, NULL) &&
	      !strcmp(io.path, "/x/s11/1203"));
	file.directory = 12;
	CHECK(!io_file_path(&io, &file, NULL) && !strcmp(io.path, "./s0/1203"));
	params.subdirectories = 0;
	file.directory = 1;
	file.serial = UINT32_MAX;
	CHECK(!io_file_path(&io, &file, NULL) &&
	      !strcmp(io.path, "./4294967295"));
	CHECK(!io_directory(&io, 0, NULL) && !strcmp(io.path, "/x"));
}

void test_file_io(void)
{
	with_directory(false, CONTENT_PRINTABLE);
	with_directory(true, CONTENT_RANDOM);
	paths();
}
