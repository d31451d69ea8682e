// SPDX-License-Identifier: GPL-2.0-only
/*
 * states.c - see states.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "text/numbers.h"
#include "walk/states.h"

#define WORDS_ONE 3
#define WORDS_TWO 6

/* The chip judges whether it knows the kind. */
static bool parse_kind(const char *word, char *kind)
{
	size_t length = strlen(word);

	if (length >= KIND_BYTES ||
	    strspn(word, "abcdefghijklmnopqrstuvwxyz-") != length)
		return false;
	memcpy(kind, word, length + 1);
	return true;
}

static bool parse_point(char **words, struct cut_point *point)
{
	return number_parse(words[0], INT64_MAX, &point->operation) &&
	       parse_kind(words[1], point->kind) &&
	       number_parse(words[2], UINT64_MAX, &point->variant);
}

/* "*" and "N+" become a number, and @onwards. */
static void take_mark(char *word, bool *onwards)
{
	size_t length = strlen(word);

	*onwards = true;
	if (!strcmp(word, "*"))
		word[0] = '0';
	else if (length > 1 && word[length - 1] == '+')
		word[length - 1] = '\0';
	else
		*onwards = false;
}

/* Where @line has @end at its end, or NULL. */
static char *line_end_of(char *line, const char *end)
{
	size_t length = strlen(line), of_end = strlen(end);
	char *at = line + length - of_end;

	return length > of_end && !strcmp(at, end) ? at : NULL;
}

static bool parse_line(struct state_line *state, char *line)
{
	char *words[WORDS_TWO];
	char *fill = line_end_of(line, " fill");
	unsigned int n;

	memset(state, 0, sizeof(*state));
	state->fill = fill;
	if (fill)
		*fill = '\0';
	n = words_split(line, words, WORDS_TWO);
	if (n != WORDS_ONE && n != WORDS_TWO)
		return false;
	state->deeper = n == WORDS_TWO;
	if (!parse_point(words, &state->cut))
		return false;
	if (!state->deeper)
		return true;
	take_mark(words[WORDS_ONE], &state->onwards);
	return parse_point(words + WORDS_ONE, &state->second);
}

int states_parse(struct states *states, char *text, struct ffs_error *error)
{
	size_t lines = 0, length, i;

	for (i = 0; text[i]; i++)
		lines += text[i] == '\n' || !text[i + 1];
	*states = (struct states){ NULL, 0 };
	states->lines = calloc(lines ? lines : 1, sizeof(*states->lines));
	if (!states->lines)
		return ffs_fail(error, ENOMEM, "no memory for %zu states",
				lines);
	for (; *text; text += length) {
		length = strcspn(text, "\n");
		if (text[length])
			text[length++] = '\0';
		if (!parse_line(&states->lines[states->n], text)) {
			ffs_fail(error, 0,
				 "line %zu is not 'K KIND VARIANT [K2 KIND2 VARIANT2] [fill]'",
				 states->n);
			states_free(states);
			return -1;
		}
		states->n++;
	}
	return 0;
}

void states_free(struct states *states)
{
	free(states->lines);
	*states = (struct states){ NULL, 0 };
}
