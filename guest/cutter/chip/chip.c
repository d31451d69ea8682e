// SPDX-License-Identifier: GPL-2.0-only
/*
 * chip.c - see chip.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chip/chip.h"
#include "text/numbers.h"

void chip_path(char *path, const char *name, const char *file)
{
	snprintf(path, CHIP_PATH_BYTES, "/proc/vnand/%.64s/%s", name, file);
}

static int open_one(const char *name, const char *file, int flags,
		    struct ffs_error *error)
{
	char path[CHIP_PATH_BYTES];
	int fd;

	chip_path(path, name, file);
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0)
		ffs_fail(error, errno,
			 "cannot open %s (is the module vnand_crash loaded, and the chip called so?)",
			 path);
	return fd;
}

int chip_open(struct chip *chip, const char *name, struct ffs_error *error)
{
	*chip = (struct chip){ -1, -1, -1, -1 };
	chip->crash = open_one(name, "crash", O_RDWR, error);
	if (chip->crash >= 0)
		chip->standing = open_one(name, "standing", O_RDONLY, error);
	if (chip->standing >= 0)
		chip->counts = open_one(name, "counts", O_RDONLY, error);
	if (chip->counts >= 0)
		chip->difference = open_one(name, "difference", O_RDONLY, error);
	if (chip->difference >= 0)
		return 0;
	chip_close(chip);
	return -1;
}

void chip_close(struct chip *chip)
{
	const int all[] = { chip->crash, chip->standing, chip->counts,
			    chip->difference };
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i] >= 0)
			close(all[i]);
}

int chip_command(const struct chip *chip, const char *command)
{
	/* Files of /proc that say something take no pwrite(). */
	ssize_t n = write(chip->crash, command, strlen(command));

	return n < 0 ? errno : 0;
}

int chip_read(const struct chip *chip, struct chip_state *state,
	      struct ffs_error *error)
{
	char text[CHIP_TEXT_BYTES];
	ssize_t n = pread(chip->standing, text, sizeof(text) - 1, 0);

	if (n < 0)
		return ffs_fail(error, errno, "cannot read the chip's state");
	text[n] = '\0';
	if (!chip_parse_state(text, state))
		return ffs_fail(error, 0, "the chip's state is not understood: %.200s",
				text);
	return 0;
}

int chip_difference(const struct chip *chip, uint64_t *digest,
		    struct ffs_error *error)
{
	char text[32];
	ssize_t n = pread(chip->difference, text, sizeof(text) - 1, 0);

	if (n < 0)
		return ffs_fail(error, errno, "cannot read the chip's difference");
	text[n] = '\0';
	*digest = strtoull(text, NULL, 16);
	return 0;
}

int chip_print(const struct chip *chip, int fd, struct ffs_error *error)
{
	char text[CHIP_TEXT_BYTES];
	ssize_t n = pread(chip->crash, text, sizeof(text), 0);

	if (n < 0)
		return ffs_fail(error, errno, "cannot read the chip's state");
	if (write(fd, text, (size_t)n) != n)
		return ffs_fail(error, errno, "cannot write the output");
	return 0;
}

/* The line is "operation NUMBER touched 0|1". */
static bool parse_touched(const char *text)
{
	const char *word = strstr(text, " touched ");

	return word && word[strlen(" touched ")] == '1';
}

bool chip_parse_state(const char *text, struct chip_state *state)
{
	if (!line_number(text, "operations", &state->operations))
		return false;
	if (!line_number(text, "recorded", &state->recorded))
		state->recorded = 0;
	state->touched = parse_touched(text);
	state->full = !strncmp(text, "state full", strlen("state full"));
	return true;
}

bool chip_parse_counts(const char *text, struct chip_counts *counts)
{
	return line_number(text, "array_reads", &counts->reads) &&
	       line_number(text, "programs", &counts->programs) &&
	       line_number(text, "erases", &counts->erases);
}
