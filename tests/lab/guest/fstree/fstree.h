/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fstree - makes a tree of files from a script, and lists a tree completely.
 *
 *   fstree run SCRIPT		executes the script's operations in turn
 *   fstree start SCRIPT	the same in the background
 *   fstree list DIR FILE	writes what is below DIR into FILE
 *
 * The host knows what a script makes (tests/lab/fstree.py), so it can compare
 * a listing with that, with the listing of another mount, and with what it
 * finds on the flash itself.
 *
 * Exit status: 0 all as expected, 1 an operation was not, 2 wrong usage.
 */
#ifndef FSTREE_H
#define FSTREE_H

#include <stdint.h>
#include <stdio.h>

/* Bytes of a pattern: records of 16 characters that say whose and where. */
#define RECORD_BYTES 16

/* Fills @to with what a file of @seed has from @offset on. */
void pattern_fill(char *to, size_t bytes, uint64_t offset, uint32_t seed);

uint32_t crc32_add(uint32_t crc, const void *bytes, size_t n);

/* 0 or an exit status; messages are on standard error. */
int run_script(const char *path);
int start_script(const char *path);
int list_tree(const char *directory, const char *path);

#endif
