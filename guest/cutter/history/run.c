// SPDX-License-Identifier: GPL-2.0-only
/*
 * run.c - carries out a history; see history.h.
 *
 * An operation on a path opens and closes what it needs; one on a descriptor leaves it
 * open.  Its errno is that of the first system call that fails; EBADF is also that of a
 * descriptor that is not open, EBUSY that of one that is to be filled and is.  Nothing is put together into queues: a history
 * runs once in a guest, and each operation's part of the chip's log is wanted.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "history/attributes.h"
#include "history/contents.h"
#include "history/file.h"
#include "history/history.h"
#include "history/mapping.h"
#include "history/space.h"
#include "text/text.h"

/* --- descriptors, and files that are opened for one operation --------------- */

/* Return: a descriptor, or -1 with errno. */
static int take(const struct runner *runner, const struct op *op, int flags)
{
	if (op->descriptor < 0)
		return openat(runner->root, op->path, flags | O_CLOEXEC, 0644);
	/* One that is not open is -1, and then this is errno. */
	errno = EBADF;
	return runner->opened[op->descriptor];
}

/* Return: @failed, or the errno of close(). */
static int give_back(const struct op *op, int fd, int failed)
{
	return op->descriptor < 0 ? close_after(fd, failed) : failed;
}

static int fill_descriptor(struct runner *runner, const struct op *op, int fd)
{
	if (fd < 0)
		return errno;
	runner->opened[op->filled] = fd;
	return 0;
}

/* @flags: beside those of a file that is read and written. */
static int open_file(struct runner *runner, const struct op *op, int flags)
{
	int fd;

	flags |= O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC;
	if (runner->opened[op->filled] >= 0)
		return EBUSY;
	fd = openat(runner->root, op->path, O_RDWR | flags);
	if (fd < 0 && errno == EISDIR)
		fd = openat(runner->root, op->path, O_RDONLY | flags);
	return fill_descriptor(runner, op, fd);
}

/* A file without a name in the directory ->path. */
static int open_unnamed(struct runner *runner, const struct op *op)
{
	if (runner->opened[op->filled] >= 0)
		return EBUSY;
	return fill_descriptor(runner, op,
			       openat(runner->root, op->path,
				      O_TMPFILE | O_RDWR | O_CLOEXEC, 0644));
}

static int give_name(const struct runner *runner, const struct op *op)
{
	int fd = take(runner, op, 0);

	if (fd < 0 || linkat(fd, "", runner->root, op->path, AT_EMPTY_PATH))
		return errno;
	return 0;
}

static int duplicate(struct runner *runner, const struct op *op)
{
	int fd = take(runner, op, 0);

	if (fd < 0)
		return errno;
	if (runner->opened[op->filled] >= 0)
		return EBUSY;
	return fill_descriptor(runner, op, fcntl(fd, F_DUPFD_CLOEXEC, 0));
}

static int close_descriptor(struct runner *runner, const struct op *op)
{
	int fd = take(runner, op, 0);

	if (fd < 0)
		return errno;
	/* It is closed even if that fails. */
	runner->opened[op->descriptor] = -1;
	return close_after(fd, 0);
}

/* --- contents ---------------------------------------------------------------- */

/* What @op writes at @offset, in the buffer. Return: 0 or an errno. */
static int make_contents(struct runner *runner, const struct op *op,
			 uint64_t offset)
{
	if (op->bytes > runner->room) {
		free(runner->buffer);
		runner->buffer = malloc(op->bytes);
		runner->room = runner->buffer ? op->bytes : 0;
		if (!runner->buffer)
			return ENOMEM;
	}
	contents_fill(op->seed, offset, runner->buffer, op->bytes);
	return 0;
}

/* @flags: of open(). */
static int write_file(struct runner *runner, const struct op *op, int flags)
{
	int fd = take(runner, op, O_WRONLY | O_CREAT | flags), failed;
	uint64_t offset = op->offset;
	struct stat stat;

	if (fd < 0)
		return errno;
	if (op->kind == OP_APPEND) {
		if (fstat(fd, &stat))
			return give_back(op, fd, errno);
		offset = (uint64_t)stat.st_size;
	}
	failed = make_contents(runner, op, offset);
	if (!failed)
		failed = write_all(fd, runner->buffer, op->bytes, offset);
	return give_back(op, fd, failed);
}

static int write_mapped(struct runner *runner, const struct op *op)
{
	int fd = take(runner, op, 0), failed;

	if (fd < 0)
		return errno;
	failed = make_contents(runner, op, op->offset);
	return failed ? failed :
			map_write(fd, runner->buffer, op->bytes, op->offset);
}

/* As a seed says, from position 0. */
static int set_attribute(struct runner *runner, const struct op *op)
{
	int failed = make_contents(runner, op, 0);

	return failed ? failed : attribute_set(runner->root, op, runner->buffer);
}

static int truncate_file(const struct runner *runner, const struct op *op)
{
	int fd = take(runner, op, O_WRONLY);

	if (fd < 0)
		return errno;
	return give_back(op, fd, ftruncate(fd, (off_t)op->bytes) ? errno : 0);
}

static int sync_file(const struct runner *runner, const struct op *op,
		     int (*call)(int fd))
{
	/* Not waiting for a writer, should it be a pipe. */
	int fd = take(runner, op, O_RDONLY | O_NONBLOCK);

	if (fd < 0)
		return errno;
	return give_back(op, fd, call(fd) ? errno : 0);
}

static int sync_mapped(const struct runner *runner, const struct op *op)
{
	int fd = take(runner, op, 0);

	return fd < 0 ? errno : map_sync(fd);
}

static int sync_range(const struct runner *runner, const struct op *op)
{
	const unsigned int flags = SYNC_FILE_RANGE_WAIT_BEFORE |
				   SYNC_FILE_RANGE_WRITE |
				   SYNC_FILE_RANGE_WAIT_AFTER;
	int fd = take(runner, op, 0);

	if (fd < 0 || sync_file_range(fd, (off_t)op->offset, (off_t)op->bytes,
				      flags))
		return errno;
	return 0;
}

/* --- operations --------------------------------------------------------------- */

static int create_file(int root, const char *path)
{
	int fd = openat(root, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			0644);

	return fd < 0 ? errno : close_after(fd, 0);
}

/* musl has no renameat2(). */
static int rename_with(int root, const struct op *op, unsigned int flags)
{
	return (int)syscall(SYS_renameat2, root, op->other, root, op->path,
			    flags);
}

/* What has to do with names alone. Return: 0 or an errno. */
static int change_names(int root, const struct op *op)
{
	int result = -1;

	switch (op->kind) {
	case OP_CREATE:
		return create_file(root, op->path);
	case OP_SYNC:
		result = syncfs(root);
		break;
	case OP_MKDIR:
		result = mkdirat(root, op->path, 0755);
		break;
	case OP_RENAME:
		result = renameat(root, op->other, root, op->path);
		break;
	case OP_EXCHANGE:
		result = rename_with(root, op, RENAME_EXCHANGE);
		break;
	case OP_RENAMENEW:
		result = rename_with(root, op, RENAME_NOREPLACE);
		break;
	case OP_WHITEOUT:
		result = rename_with(root, op, RENAME_WHITEOUT);
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

int runner_carry_out(struct runner *runner, const struct op *op)
{
	switch (op->kind) {
	case OP_WRITE:
		return write_file(runner, op, 0);
	case OP_WRITESYNC:
		return write_file(runner, op, O_SYNC);
	case OP_APPEND:
		return write_file(runner, op, O_APPEND);
	case OP_TRUNCATE:
		return truncate_file(runner, op);
	case OP_FSYNC:
		return sync_file(runner, op, fsync);
	case OP_FDATASYNC:
		return sync_file(runner, op, fdatasync);
	case OP_MAPWRITE:
		return write_mapped(runner, op);
	case OP_MSYNC:
		return sync_mapped(runner, op);
	case OP_SYNCRANGE:
		return sync_range(runner, op);
	case OP_OPEN:
		return open_file(runner, op, 0);
	case OP_OPENSYNC:
		return open_file(runner, op, O_SYNC);
	case OP_OPENDSYNC:
		return open_file(runner, op, O_DSYNC);
	case OP_TMPFILE:
		return open_unnamed(runner, op);
	case OP_LINKFD:
		return give_name(runner, op);
	case OP_CHMOD:
	case OP_SETMTIME:
	case OP_REMOVEXATTR:
		return attribute_change(runner->root, op);
	case OP_SETXATTR:
		return set_attribute(runner, op);
	case OP_DUP:
		return duplicate(runner, op);
	case OP_CLOSE:
		return close_descriptor(runner, op);
	case OP_FILL:
		return space_fill(runner->root, op->path, op->bytes);
	case OP_TURNOVER:
		return space_turn_over(runner->root, op->path);
	default:
		return change_names(runner->root, op);
	}
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
		int failed = runner_carry_out(runner, &history->ops[i]);

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

void runner_init(struct runner *runner)
{
	int i;

	*runner = (struct runner){ .root = -1 };
	for (i = 0; i < HISTORY_DESCRIPTORS; i++)
		runner->opened[i] = -1;
}

int runner_open(struct runner *runner, const char *root,
		struct ffs_error *error)
{
	runner->root = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (runner->root < 0)
		return ffs_fail(error, errno, "cannot open the directory %s",
				root);
	return 0;
}

void runner_close(struct runner *runner)
{
	int i;

	for (i = 0; i < HISTORY_DESCRIPTORS; i++) {
		if (runner->opened[i] >= 0)
			close(runner->opened[i]);
		runner->opened[i] = -1;
	}
	if (runner->root >= 0)
		close(runner->root);
	runner->root = -1;
}

void runner_free(struct runner *runner)
{
	free(runner->buffer);
	runner_init(runner);
}

int history_run(const struct history *history, const char *root,
		const struct chip *chip, int output, struct ffs_error *error)
{
	struct runner runner;
	int result;

	runner_init(&runner);
	result = runner_open(&runner, root, error);
	if (!result)
		result = run_all(&runner, history, chip, output, error);
	runner_close(&runner);
	runner_free(&runner);
	return result;
}
