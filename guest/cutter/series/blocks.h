/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * blocks.h - the chip's erase blocks: the file "blocks" of /proc/vnand/NAME.
 */
#ifndef FFSCRASH_BLOCKS_H
#define FFSCRASH_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCKS_MAX 16384

struct block {
	uint32_t erases;
	bool bad;
};

struct blocks {
	size_t n;
	struct block block[BLOCKS_MAX];
};

/** blocks_read() - of the chip @name. Return: 0 or an errno. */
int blocks_read(const char *name, struct blocks *blocks);

#endif
