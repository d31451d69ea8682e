/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * words.h - the file system under test, on a command line:
 * TYPE SOURCE TARGET OPTIONS [UBI-MTD] [KEY=VALUE...]
 */
#ifndef FFSCRASH_WORDS_H
#define FFSCRASH_WORDS_H

#include <stdbool.h>

#include "walk/device.h"

#define WORDS_FILESYSTEM 4	/* without UBI-MTD */

/**
 * words_filesystem() - take the words from @at on; all four must be there.
 *
 * Return: the index behind them, of the first KEY=VALUE if there is one.
 */
int words_filesystem(struct filesystem *fs, int argc, char **argv, int at);

/**
 * words_take_filesystem() - sync, vid_hdr_offset or max_beb_per1024.
 * @word: has a "=".
 *
 * Return: whether it is one of these, with a value that it can have.
 */
bool words_take_filesystem(struct filesystem *fs, const char *word);

#endif
