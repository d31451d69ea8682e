/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mapping.h - what a program does to a file through a shared mapping of it.
 *
 * Both map the file and unmap it again: what was stored stays in the page cache, and
 * only a sync, or the kernel in its own time, brings it to the file system.
 */
#ifndef FFSCRASH_MAPPING_H
#define FFSCRASH_MAPPING_H

#include <stdint.h>

/**
 * map_write() - store @data at @offset, which must be within the file.
 *
 * Return: 0 or an errno; EINVAL also for what is not within the file, EFAULT if the
 * file system does not let a page be written.
 */
int map_write(int fd, const unsigned char *data, uint64_t bytes,
	      uint64_t offset);

/** map_sync() - msync() of the whole file. Return: 0 or an errno. */
int map_sync(int fd);

#endif
