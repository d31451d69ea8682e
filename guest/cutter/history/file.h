/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * file.h - writing to an open file, and closing it, with the errno of what fails
 * first.
 */
#ifndef FFSCRASH_FILE_H
#define FFSCRASH_FILE_H

#include <stdint.h>

/** close_after() - close @fd. Return: @failed, or the errno of close() if that is 0. */
int close_after(int fd, int failed);

/** write_all() - by as many calls as it takes. Return: 0 or an errno. */
int write_all(int fd, const unsigned char *data, uint64_t bytes,
	      uint64_t offset);

#endif
