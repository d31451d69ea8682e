// SPDX-License-Identifier: GPL-2.0-only
/*
 * blocks.c - see blocks.h.
 */
#include <errno.h>
#include <stdio.h>

#include "chip/chip.h"
#include "series/blocks.h"

int blocks_read(const char *name, struct blocks *blocks)
{
	unsigned int erases, programs, reads, flags;
	char path[CHIP_PATH_BYTES];
	FILE *file;

	chip_path(path, name, "blocks");
	file = fopen(path, "re");
	if (!file)
		return errno;
	blocks->n = 0;
	while (blocks->n < BLOCKS_MAX &&
	       fscanf(file, "%u %u %u %u", &erases, &programs, &reads,
		      &flags) == 4)
		blocks->block[blocks->n++] =
			(struct block){ erases, flags != 0 };
	fclose(file);
	return 0;
}
