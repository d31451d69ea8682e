/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * history.h - the operations of a workload, one a line, and carrying them out.
 *
 * A history is what a user's programs do to a file system: nothing in it
 * depends on what came out before, so that it can be generated, shrunk and
 * compared with a model on the host.  A line is the operation's name and its
 * words, each behind one blank (parse.c has the table); paths have no blanks, do not
 * begin with @, and are relative to the root of the file system.
 *
 * @0 to @15 are descriptors that stay open from one line to the next: open and dup fill
 * one, close empties it, and what takes a file takes one of them in place of a path. At
 * the end of the history those that are left are closed.
 *
 * What it prints: "op INDEX ERRNO FIRST LAST" after each operation, FIRST and
 * LAST the chip's logged operations before and after it; then "end COUNT FIRST
 * LAST".
 */
#ifndef FFSCRASH_HISTORY_H
#define FFSCRASH_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "chip/chip.h"
#include "core/error.h"

/* One write(2) of a history is of so many bytes at most. */
#define HISTORY_WRITE_MAX ((uint64_t)64 << 20)
#define HISTORY_DESCRIPTORS 16

enum op_kind {
	OP_MKDIR,
	OP_CREATE,
	OP_WRITE,
	OP_WRITESYNC,
	OP_APPEND,
	OP_TRUNCATE,
	OP_FSYNC,
	OP_FDATASYNC,
	OP_MAPWRITE,
	OP_MSYNC,
	OP_SYNCRANGE,
	OP_SYNC,
	OP_OPEN,
	OP_OPENSYNC,
	OP_OPENDSYNC,
	OP_DUP,
	OP_CLOSE,
	OP_RENAME,
	OP_LINK,
	OP_SYMLINK,
	OP_UNLINK,
	OP_RMDIR,
	OP_MKFIFO,
	OP_EXCHANGE,
	OP_RENAMENEW,
	OP_WHITEOUT,
	OP_TMPFILE,
	OP_LINKFD,
	OP_CHMOD,
	OP_SETMTIME,
	OP_SETXATTR,
	OP_REMOVEXATTR,
	OP_FILL,
	OP_TURNOVER,
	OP_REMOUNT,
	OP_KINDS,
};

struct op {
	enum op_kind kind;
	const char *path;	/* relative to the root; NULL for none */
	const char *other;	/* the old name, or the symbolic link's target */
	const char *attribute;	/* its name */
	int descriptor;		/* in place of the path; -1 for none */
	int filled;		/* the descriptor that is to be open then; -1 for none */
	uint64_t offset, bytes, seed;	/* bytes: also a size, a mode, seconds */
};

struct history {
	struct op *ops;
	size_t n;
};

/**
 * history_parse() - the lines of @text, which is cut into words and stays in
 * use.
 *
 * Return: 0, or -1 with @error, which names the line.
 */
int history_parse(struct history *history, char *text,
		  struct ffs_error *error);
void history_free(struct history *history);

/* Carries out operations one by one. */
struct runner {
	int root;		/* -1: it is not open */
	int opened[HISTORY_DESCRIPTORS];	/* -1: not open */
	unsigned char *buffer;	/* what is written next */
	size_t room;
};

/** runner_init() - one with nothing open; runner_free() frees what it has then. */
void runner_init(struct runner *runner);
int runner_open(struct runner *runner, const char *root,
		struct ffs_error *error);

/** runner_carry_out() - Return: 0 or an errno. A remount is not for it: ENOSYS. */
int runner_carry_out(struct runner *runner, const struct op *op);

/** runner_close() - the descriptors that are left, and the root. */
void runner_close(struct runner *runner);
void runner_free(struct runner *runner);

/**
 * history_run() - carry out all operations below the directory @root, and write
 * a line about each to @output.
 * @chip: whose logged operations are counted; NULL for none.
 *
 * An operation that fails is told in its line, and the next one follows.
 *
 * Return: 0, or -1 with @error if not an operation failed, but the machinery.
 */
int history_run(const struct history *history, const char *root,
		const struct chip *chip, int output, struct ffs_error *error);

#endif
