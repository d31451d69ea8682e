/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * words.h - the file system under test, on a command line:
 * TYPE SOURCE TARGET OPTIONS [+ TYPE SOURCE TARGET OPTIONS]... [UBI-MTD] [KEY=VALUE...]
 *
 * The mounts of a stack, the lowest first.  OPTIONS are those of mount(8), - for
 * none; "ro" and "sync" stand before all others.  TYPE - is no mount, but a directory
 * TARGET that is made if it is missing.
 */
#ifndef FFSCRASH_WORDS_H
#define FFSCRASH_WORDS_H

#include <stdbool.h>

#include "walk/device.h"

/**
 * words_filesystem() - take the words from @at on.
 *
 * Return: the index behind them, of the first KEY=VALUE if there is one; 0 if words
 * are missing, or there are too many mounts.
 */
int words_filesystem(struct filesystem *fs, int argc, char **argv, int at);

/**
 * words_take_filesystem() - vid_hdr_offset, max_beb_per1024 or ubi_block.
 * @word: has a "=".
 *
 * Return: whether it is one of these, with a value that it can have.
 */
bool words_take_filesystem(struct filesystem *fs, const char *word);

#endif
