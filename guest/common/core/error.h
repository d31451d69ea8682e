/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * error.h - how a failure travels through the agent.
 *
 * A function that can fail returns 0 or -1 and fills a struct ffs_error:
 * the errno (0 if no system call is to blame) and one sentence that says
 * what happened and, where it is known, the likely cause.  The text ends up
 * in a record or on standard error; nothing else is printed on the way.
 *
 * Limit: a message is cut at 383 bytes.
 */
#ifndef FFSAGENT_ERROR_H
#define FFSAGENT_ERROR_H

struct ffs_error {
	int errnum;
	char message[384];
};

/* Exit codes of the program; the same in every part of the project. */
enum ffs_exit {
	EXIT_GOOD = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_INFRASTRUCTURE = 3,
};

/**
 * ffs_fail() - describe a failure.
 * @error: filled in; may be NULL when nobody is interested.
 * @errnum: errno of the call that failed, or 0.  Its text is appended.
 *
 * Return: always -1, so that a caller can write "return ffs_fail(...)".
 */
int ffs_fail(struct ffs_error *error, int errnum, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** ffs_errno_name() - "ENOSPC" for ENOSPC, "" for 0. */
const char *ffs_errno_name(int errnum);

#endif
