/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * numbers.h - decimal numbers in the texts that ffscrash reads.
 */
#ifndef FFSCRASH_NUMBERS_H
#define FFSCRASH_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * number_parse() - a whole word of decimal digits, nothing else.
 * @max: a larger number is none.
 */
bool number_parse(const char *word, uint64_t max, uint64_t *number);

/**
 * line_number() - the number of the line "@key NUMBER" of a text of such lines.
 *
 * Return: whether there is such a line; other lines may be anything.
 */
bool line_number(const char *text, const char *key, uint64_t *number);

/** words_split() - cut @line at single blanks into at most @max @words.
 *
 * Return: how many words there are, @max + 1 if there are more; 0 if one is
 * empty, as it is where two blanks meet.
 */
unsigned int words_split(char *line, char **words, unsigned int max);

#endif
