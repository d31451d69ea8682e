// SPDX-License-Identifier: GPL-2.0-only
/*
 * command.c - the words of ffscrash series.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/process.h"
#include "series/series.h"
#include "text/numbers.h"
#include "text/output.h"
#include "walk/words.h"

static enum ffs_exit wrong(const char *what, const char *word)
{
	fprintf(stderr, "ffscrash: series: %s '%s'; see ffscrash --help\n",
		what, word);
	return EXIT_USAGE;
}

struct arguments {
	struct series series;
	const char *output;
};

/* Cuts @list at its commas. Return: how many parts; more than @max: too many. */
static size_t split_list(char *list, const char **parts, size_t max)
{
	size_t n = 0;
	char *rest = NULL, *part;

	for (part = strtok_r(list, ",", &rest); part;
	     part = strtok_r(NULL, ",", &rest)) {
		if (n < max)
			parts[n] = part;
		n++;
	}
	return n;
}

static bool take_spared(struct series *series, char *list)
{
	const char *words[SERIES_SPARED_MAX];
	size_t n = split_list(list, words, SERIES_SPARED_MAX), i;

	if (n > SERIES_SPARED_MAX)
		return false;
	for (i = 0; i < n; i++)
		if (!number_parse(words[i], UINT64_MAX, &series->spared[i]))
			return false;
	series->spared_n = n;
	return true;
}

static bool take_acts(struct acts *acts, const char *list)
{
	size_t bytes;

	for (; *list; list += bytes + (list[bytes] == ',')) {
		bytes = strcspn(list, ",");
		if (!acts_take(acts, list, bytes))
			return false;
	}
	return true;
}

/* Return: whether it is a key with a value that it can have. */
static bool take_key(struct arguments *arguments, char *word)
{
	struct series *series = &arguments->series;
	char *value = strchr(word, '=') + 1;
	size_t key = (size_t)(value - word);
	uint64_t number = 0;

	if (!strncmp(word, "output=", key)) {
		arguments->output = value;
		return *value;
	}
	if (!strncmp(word, "kinds=", key)) {
		series->kinds_n = split_list(value, series->kinds,
					     SERIES_KINDS_MAX);
		return series->kinds_n && series->kinds_n <= SERIES_KINDS_MAX;
	}
	if (!strncmp(word, "reordered=", key)) {
		series->reordered_n = split_list(value, series->reordered,
						 SERIES_KINDS_MAX);
		return series->reordered_n <= SERIES_KINDS_MAX;
	}
	if (!strncmp(word, "acts=", key))
		return take_acts(&series->acts, value);
	if (!strncmp(word, "spared=", key))
		return take_spared(series, value);
	if (!strncmp(word, "own=", key)) {
		series->own_name = value;
		return *value;
	}
	if (words_take_filesystem(&series->fs, word))
		return true;
	if (!number_parse(value, UINT64_MAX, &number))
		return false;
	if (!strncmp(word, "seed=", key))
		series->seed = number;
	else if (!strncmp(word, "space_every=", key))
		series->space_every = number;
	else if (!strncmp(word, "first=", key))
		series->first = number;
	else if (!strncmp(word, "tell_from=", key))
		series->tell_from = number;
	else if (!strncmp(word, "two_names=", key))
		series->two_names = number;
	else if (!strncmp(word, "returned_is_durable=", key))
		series->returned_is_durable = number;
	else
		return false;
	return true;
}

static enum ffs_exit parse(int argc, char **argv, struct arguments *arguments)
{
	struct series *series = &arguments->series;
	int i;

	i = words_filesystem(&series->fs, argc, argv, 3);
	if (!i)
		return wrong("too few or too many words behind", argv[argc - 1]);
	series->chip = argv[1];
	if (!number_parse(argv[2], UINT64_C(1) << 32, &series->cuts))
		return wrong("no number of cuts:", argv[2]);
	for (; i < argc; i++)
		if (!strchr(argv[i], '=') || !take_key(arguments, argv[i]))
			return wrong("no key, or no value of it:", argv[i]);
	return EXIT_GOOD;
}

enum ffs_exit command_series(int argc, char **argv)
{
	struct arguments arguments = {
		.series = { .kinds = { "lost" }, .kinds_n = 1,
			    .tell_from = UINT64_MAX },
	};
	struct series *series = &arguments.series;
	struct ffs_error error;
	int result;

	if (parse(argc, argv, &arguments))
		return EXIT_USAGE;
	series->output = output_open(arguments.output, &error);
	if (series->output >= 0) {
		process_stay_in_memory();
		result = series_run(series, &error);
		if (series->output != STDOUT_FILENO)
			close(series->output);
		if (!result)
			return EXIT_GOOD;
	}
	fprintf(stderr, "ffscrash: %s\n", error.message);
	return EXIT_FAILED;
}
