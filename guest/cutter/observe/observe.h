/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * observe.h - all that a user can see of a tree, as text.
 *
 * One line for each name, sorted by the bytes of its path (the root is "."):
 *
 *	dir PATH LINKS INODE ERRNO
 *	file PATH SIZE LINKS INODE ERRNO CRCS
 *	symlink PATH LINKS INODE ERRNO TARGET
 *	other PATH LINKS INODE ERRNO
 *	lost PATH ERRNO		a name that readdir gives and lstat refuses
 *
 * ERRNO is the first error of opening, listing or reading it, 0 if there was
 * none, EACCES if its mode lets nobody; CRCS as in sectors.h; PATH and TARGET are one
 * word each (text_name()), TARGET "-" where it cannot be read.  An entry may be followed
 * by a line with its attributes (attributes.h).
 * Reading leaves no trace (O_NOATIME).
 *
 * INODE is that of stat(2) if there is one device. Each further one adds 10^12 to its own.
 *
 * Two trees that look alike to their users give the same text, so that a state
 * of the flash is told by the digest of it.
 *
 * Limits, against file systems that invent: so many names, a path below
 * PATH_MAX (else ENAMETOOLONG), and of a file beyond OBSERVE_FILE_MAX no contents
 * (EFBIG).
 */
#ifndef FFSCRASH_OBSERVE_H
#define FFSCRASH_OBSERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "text/text.h"

#define OBSERVE_FILE_MAX ((uint64_t)256 << 20)
#define OBSERVE_NAMES_MAX 200000u

struct observer;

/* Of statfs(); zero where it failed. */
struct observed_space {
	uint64_t blocks, free, free_inodes;
	bool read_only;
};

/** observer_new() - memory for observations, @with_attributes or without; NULL with @error. */
struct observer *observer_new(bool with_attributes, struct ffs_error *error);
void observer_free(struct observer *observer);

/**
 * observe() - append the lines of the tree below @root to @text.
 *
 * Return: how many lines.
 */
size_t observe(struct observer *observer, const char *root, struct text *text);

/** observe_space() - of the file system of @root. */
void observe_space(const char *root, struct observed_space *space);

#endif
