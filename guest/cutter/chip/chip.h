/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * chip.h - the chip that logs and cuts: /proc/vnand/NAME of vnand_crash.
 *
 * The files stay open; each is read from its beginning by one call, and each
 * command is one write.
 */
#ifndef FFSCRASH_CHIP_H
#define FFSCRASH_CHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

/* Room for what any of the files says, or for a command. */
#define CHIP_TEXT_BYTES 4096
#define CHIP_COMMAND_BYTES 128
/* Room for the file "counts". */
#define CHIP_COUNTS_BYTES 128

/* Room for the path of any of the files. */
#define CHIP_PATH_BYTES 128

struct chip {
	int crash, standing, counts, difference;
};

/* Of the files "crash" and "standing". */
struct chip_state {
	uint64_t operations;	/* in the log of the current level */
	uint64_t recorded;	/* changes since the state was set */
	bool touched;		/* the place that the cut operation changed */
	bool full;		/* the log's memory was not enough */
};

/* Of the file "counts": what the chip has done. */
struct chip_counts {
	uint64_t reads, programs, erases;
};

/** chip_path() - of the file @file of the chip @name, into CHIP_PATH_BYTES. */
void chip_path(char *path, const char *name, const char *file);

/** chip_open() - open the files of the chip @name. */
int chip_open(struct chip *chip, const char *name, struct ffs_error *error);
void chip_close(struct chip *chip);

/** chip_command() - write one command. Return: 0 or an errno. */
int chip_command(const struct chip *chip, const char *command);

/** chip_read() - what the chip says about its log. */
int chip_read(const struct chip *chip, struct chip_state *state,
	      struct ffs_error *error);

/** chip_difference() - stands for what changed since the present level began. */
int chip_difference(const struct chip *chip, uint64_t *digest,
		    struct ffs_error *error);

/** chip_print() - write what the file "crash" says to @fd. */
int chip_print(const struct chip *chip, int fd, struct ffs_error *error);

/** chip_parse_state() - from the text of the file; false if it is another. */
bool chip_parse_state(const char *text, struct chip_state *state);

/** chip_parse_counts() - from the text of the file; false if it is another. */
bool chip_parse_counts(const char *text, struct chip_counts *counts);

#endif
