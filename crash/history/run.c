// SPDX-License-Identifier: GPL-2.0-only
/*
 * run.c - carries out a history; see history.h.
 *
 * Each operation opens and closes what it needs, and its errno is that of the
 * first system call that fails.  Nothing is put together into queues: a history
 * runs once in a guest, and each operation's part of the chip's log is wanted.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "history/contents.h"
#include "history/file.h"
#include "history/history.h"
#include "text/text.h"

struct runner {
	int root;
	unsigned char *buffer;	/* what is written next */
	size_t room;
};

/* @flags: of open(); with O_APPEND the offset is the file's end. */
static int write_file(struct runner *runner, const struct op *op, int flags)
{
	uint64_t offset = op->offset;
	struct stat stat;
	int fd, failed = 0;

	fd = openat(runner->root, op->path,
		    O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);
	if (fd < 0)
		return errno;
	if (flags & O_APPEND) {
		if (fstat(fd, &stat))
			return close_after(fd, errno);
		offset = (uint64_t)stat.st_size;
	}
	if (op->bytes > runner->room) {
		free(runner->buffer);
		runner->buffer = malloc(op->bytes);
		runner->room = runner->buffer ? op->bytes : 0;
		if (!runner->buffer)
			return close_after(fd, ENOMEM);
	}
	contents_fill(op->seed, offset, runner->buffer, op->bytes);
	failed = write_all(fd, runner->buffer, op->bytes, offset);
	return close_after(fd, failed);
}

static int truncate_file(const struct runner *runner, const struct op *op)
{
	int fd = openat(runner->root, op->path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return errno;
	return close_after(fd, ftruncate(fd, (off_t)op->bytes) ? errno : 0);
}

static int sync_file(const struct runner *runner, const char *path,
		     int (*call)(int fd))
{
	/* Not waiting for a writer, should it be a pipe. */
	int fd = openat(runner->root, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return errno;
	return close_after(fd, call(fd) ? errno : 0);
}

static int create_file(const struct runner *runner, const char *path)
{
	int fd = openat(runner->root, path,
			O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	return fd < 0 ? errno : close_after(fd, 0);
}

/* Return: 0 or an errno. */
static int carry_out(struct runner *runner, const struct op *op)
{
	int root = runner->root, result = -1;

	switch (op->kind) {
	case OP_CREATE:
		return create_file(runner, op->path);
	case OP_WRITE:
		return write_file(runner, op, 0);
	case OP_WRITESYNC:
		return write_file(runner, op, O_SYNC);
	case OP_APPEND:
		return write_file(runner, op, O_APPEND);
	case OP_TRUNCATE:
		return truncate_file(runner, op);
	case OP_FSYNC:
		return sync_file(runner, op->path, fsync);
	case OP_FDATASYNC:
		return sync_file(runner, op->path, fdatasync);
	case OP_SYNC:
		result = syncfs(root);
		break;
	case OP_MKDIR:
		result = mkdirat(root, op->path, 0755);
		break;
	case OP_RENAME:
		result = renameat(root, op->other, root, op->path);
		break;
	case OP_LINK:
		result = linkat(root, op->other, root, op->path, 0);
		break;
	case OP_SYMLINK:
		result = symlinkat(op->other, root, op->path);
		break;
	case OP_UNLINK:
		result = unlinkat(root, op->path, 0);
		break;
	case OP_RMDIR:
		result = unlinkat(root, op->path, AT_REMOVEDIR);
		break;
	case OP_MKFIFO:
		result = mkfifoat(root, op->path, 0644);
		break;
	default:
		errno = ENOSYS;
		break;
	}
	return result ? errno : 0;
}

/* What the chip has logged by now; 0 without a chip. */
static int logged(const struct chip *chip, uint64_t *operations,
		  struct ffs_error *error)
{
	struct chip_state state;

	*operations = 0;
	if (!chip)
		return 0;
	if (chip_read(chip, &state, error))
		return -1;
	*operations = state.operations;
	return 0;
}

static int run_all(struct runner *runner, const struct history *history,
		   const struct chip *chip, int output, struct ffs_error *error)
{
	struct text text = { 0 };
	uint64_t first, before, after;
	int result = logged(chip, &first, error);
	size_t i;

	after = first;
	for (i = 0; !result && i < history->n; i++) {
		int failed = carry_out(runner, &history->ops[i]);

		before = after;
		result = logged(chip, &after, error);
		text_line(&text, "op %zu %d %llu %llu", i, failed,
			  (unsigned long long)before,
			  (unsigned long long)after);
		/* Should the guest end in the next one, these are known. */
		if (!result)
			result = text_write(&text, output, error);
	}
	if (!result) {
		text_line(&text, "end %zu %llu %llu", i,
			  (unsigned long long)first, (unsigned long long)after);
		result = text_write(&text, output, error);
	}
	text_free(&text);
	return result;
}

int history_run(const struct history *history, const char *root,
		const struct chip *chip, int output, struct ffs_error *error)
{
	struct runner runner = { .root = -1 };
	int result;

	runner.root = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (runner.root < 0)
		return ffs_fail(error, errno, "cannot open the directory %s",
				root);
	result = run_all(&runner, history, chip, output, error);
	free(runner.buffer);
	close(runner.root);
	return result;
}
