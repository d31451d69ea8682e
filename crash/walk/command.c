// SPDX-License-Identifier: GPL-2.0-only
/*
 * command.c - the words of ffscrash walk.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "core/files.h"
#include "core/process.h"
#include "text/numbers.h"
#include "text/output.h"
#include "walk/command.h"
#include "walk/walk.h"

#define STATES_TEXT_MAX ((size_t)64 << 20)
#define FIRST_WORDS 7	/* with "walk" */

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
	struct filesystem *fs = &arguments->walk.fs;
	const char *value = strchr(word, '=') + 1;
	size_t key = (size_t)(value - word);
	uint64_t number = 0;

	if (!strncmp(word, "output=", key)) {
		arguments->output = value;
		return *value;
	}
	if (!strncmp(word, "check=", key)) {
		arguments->walk.full = !strcmp(value, "full");
		return arguments->walk.full || !strcmp(value, "mount");
	}
	if (!number_parse(value, 1 << 20, &number))
		return false;
	if (!strncmp(word, "sync=", key))
		fs->flags = number ? MS_SYNCHRONOUS : 0;
	else if (!strncmp(word, "vid_hdr_offset=", key))
		fs->vid_hdr_offset = (int)number;
	else if (!strncmp(word, "max_beb_per1024=", key))
		fs->max_beb_per1024 = (int)number;
	else
		return false;
	return true;
}

static enum ffs_exit parse(int argc, char **argv, struct arguments *arguments)
{
	struct filesystem *fs = &arguments->walk.fs;
	int i = FIRST_WORDS;

	if (argc < FIRST_WORDS)
		return wrong("too few words behind", argv[argc - 1]);
	arguments->walk.chip = argv[1];
	arguments->states = argv[2];
	fs->type = argv[3];
	fs->source = argv[4];
	fs->target = argv[5];
	fs->options = strcmp(argv[6], "-") ? argv[6] : "";
	if (i < argc && !strchr(argv[i], '='))
		fs->ubi_mtd = argv[i++];
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
