/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * files.h - small files read or written in one go: /proc, /sys, plans.
 *
 * Every call restarts after a signal and reports short transfers as errors.
 */
#ifndef FFSAGENT_FILES_H
#define FFSAGENT_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

/**
 * file_read() - read a file of any kind into fresh memory, NUL-terminated.
 * @limit: a longer file is an error (EFBIG).
 *
 * Return: the text, to be freed; NULL with @error on failure.
 */
char *file_read(const char *path, size_t limit, size_t *bytes,
		struct ffs_error *error);

/** file_write_text() - write a string to an existing file in one write(2). */
int file_write_text(const char *path, const char *text,
		    struct ffs_error *error);

/** file_read_number() - a decimal number from a one-line file; -1 if none. */
int64_t file_read_number(const char *path);

/** make_directories() - mkdir -p. */
int make_directories(const char *path, struct ffs_error *error);

#endif
