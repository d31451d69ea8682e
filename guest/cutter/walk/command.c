// SPDX-License-Identifier: GPL-2.0-only
/*
 * command.c - the words of ffscrash walk.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/files.h"
#include "core/process.h"
#include "text/output.h"
#include "walk/command.h"
#include "walk/walk.h"
#include "walk/words.h"

#define STATES_TEXT_MAX ((size_t)64 << 20)

static enum ffs_exit wrong(const char *what, const char *word)
{
	fprintf(stderr, "ffscrash: walk: %s '%s'; see ffscrash --help\n", what,
		word);
	return EXIT_USAGE;
}

struct arguments {
	struct walk walk;
	const char *states, *output;
};

/* Return: whether it is a key with a value that it can have. */
static bool take_key(struct arguments *arguments, const char *word)
{
	const char *value = strchr(word, '=') + 1;
	size_t key = (size_t)(value - word);

	if (!strncmp(word, "output=", key)) {
		arguments->output = value;
		return *value;
	}
	if (!strncmp(word, "check=", key)) {
		arguments->walk.full = !strcmp(value, "full");
		return arguments->walk.full || !strcmp(value, "mount");
	}
	return words_take_filesystem(&arguments->walk.fs, word);
}

static enum ffs_exit parse(int argc, char **argv, struct arguments *arguments)
{
	int i;

	i = words_filesystem(&arguments->walk.fs, argc, argv, 3);
	if (!i)
		return wrong("too few or too many words behind", argv[argc - 1]);
	arguments->walk.chip = argv[1];
	arguments->states = argv[2];
	for (; i < argc; i++)
		if (!strchr(argv[i], '=') || !take_key(arguments, argv[i]))
			return wrong("no key, or no value of it:", argv[i]);
	return EXIT_GOOD;
}

static int run(struct arguments *arguments, const struct states *states,
	       struct ffs_error *error)
{
	struct walk *walk_of = &arguments->walk;
	int result;

	walk_of->output = output_open(arguments->output, error);
	if (walk_of->output < 0)
		return -1;
	process_stay_in_memory();
	result = walk(walk_of, states, error);
	if (walk_of->output != STDOUT_FILENO)
		close(walk_of->output);
	return result;
}

enum ffs_exit command_walk(int argc, char **argv)
{
	struct arguments arguments = { .walk = { .full = true } };
	struct states states;
	struct ffs_error error;
	char *text;
	int result;

	if (parse(argc, argv, &arguments))
		return EXIT_USAGE;
	text = file_read(arguments.states, STATES_TEXT_MAX, NULL, &error);
	if (!text || states_parse(&states, text, &error)) {
		fprintf(stderr, "ffscrash: %s\n", error.message);
		free(text);
		return EXIT_USAGE;
	}
	free(text);
	result = run(&arguments, &states, &error);
	states_free(&states);
	if (result)
		fprintf(stderr, "ffscrash: %s\n", error.message);
	return result ? EXIT_FAILED : EXIT_GOOD;
}
