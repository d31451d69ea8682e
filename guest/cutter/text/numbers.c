// SPDX-License-Identifier: GPL-2.0-only
/*
 * numbers.c - see numbers.h.
 */
#include <stddef.h>
#include <string.h>

#include "text/numbers.h"

/* Return: what follows the digits, NULL if there are none or too many. */
static const char *read_digits(const char *word, uint64_t max, uint64_t *number)
{
	uint64_t value = 0;

	if (*word < '0' || *word > '9')
		return NULL;
	for (; *word >= '0' && *word <= '9'; word++) {
		uint64_t digit = (uint64_t)(*word - '0');

		if (value > (max - digit) / 10 || digit > max)
			return NULL;
		value = 10 * value + digit;
	}
	*number = value;
	return word;
}

bool number_parse(const char *word, uint64_t max, uint64_t *number)
{
	const char *end = read_digits(word, max, number);

	return end && !*end;
}

bool line_number(const char *text, const char *key, uint64_t *number)
{
	size_t length = strlen(key);

	while (text && *text) {
		if (!strncmp(text, key, length) && text[length] == ' ') {
			const char *end = read_digits(text + length + 1,
						      UINT64_MAX, number);

			return end && (!*end || *end == '\n' || *end == ' ');
		}
		text = strchr(text, '\n');
		text += text != NULL;
	}
	return false;
}

unsigned int words_split(char *line, char **words, unsigned int max)
{
	unsigned int n = 0;

	for (;;) {
		size_t length = strcspn(line, " ");
		bool last = !line[length];

		if (!length)
			return 0;
		if (n == max)
			return max + 1;
		words[n++] = line;
		if (last)
			return n;
		line[length] = '\0';
		line += length + 1;
	}
}
