/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * words.h - text made of English words.
 *
 * Words are drawn by rank with a weight of 1 / (rank + 2.7), Mandelbrot's form
 * of Zipf's law, from a list of 512 in about the order of their frequency.  A
 * table of 4,096 places holds each word as often as its weight says, so a word
 * costs twelve random bits, one look and one copy of sixteen bytes.
 */
#ifndef FFSAGENT_WORDS_H
#define FFSAGENT_WORDS_H

#include <stddef.h>
#include <stdint.h>

#define WORD_PLACES 4096

struct word {
	char text[15];
	uint8_t length;
};

struct word_table {
	struct word places[WORD_PLACES];
};

void words_init(struct word_table *table);

/** words_fill() - @bytes of the text of that key, without its first @skip. */
void words_fill(const struct word_table *table, uint64_t key, size_t skip,
		unsigned char *out, size_t bytes);

#endif
