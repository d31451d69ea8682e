// SPDX-License-Identifier: GPL-2.0-only
/*
 * command.c - the words of ffscrash walk and ffscrash tree.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/files.h"
#include "core/process.h"
#include "text/numbers.h"
#include "text/output.h"
#include "tree/command.h"
#include "tree/tree.h"
#include "walk/walk.h"
#include "walk/words.h"

#define TEXT_MAX ((size_t)64 << 20)

struct arguments {
	const char *command;
	struct walk walk;
	const char *states, *output;
	struct tree_cuts cuts;
	char after[2 * KIND_BYTES];
};

/* "K,KIND,VARIANT" names a state. */
static bool take_after(struct arguments *arguments, const char *value)
{
	char *comma;

	if (strlen(value) >= sizeof(arguments->after))
		return false;
	strcpy(arguments->after, value);
	for (comma = arguments->after; (comma = strchr(comma, ',')); )
		*comma++ = ' ';
	arguments->cuts.after = arguments->after;
	return true;
}

static enum ffs_exit wrong(const struct arguments *arguments, const char *what,
			   const char *word)
{
	fprintf(stderr, "ffscrash: %s: %s '%s'; see ffscrash --help\n",
		arguments->command, what, word);
	return EXIT_USAGE;
}

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
	if (!strncmp(word, "attributes=", key)) {
		arguments->walk.attributes = !strcmp(value, "1");
		return arguments->walk.attributes;
	}
	if (!strncmp(word, "kinds=", key))
		return tree_cuts_parse(&arguments->cuts, value);
	if (!strncmp(word, "after=", key))
		return take_after(arguments, value);
	if (!strncmp(word, "variants=", key))
		return number_parse(value, INT64_MAX, &arguments->cuts.variants);
	return words_take_filesystem(&arguments->walk.fs, word);
}

static enum ffs_exit parse(int argc, char **argv, struct arguments *arguments)
{
	int i;

	*arguments = (struct arguments){
		.command = argv[0],
		.walk = { .full = true },
		.cuts = { .variants = 1 },
	};
	i = words_filesystem(&arguments->walk.fs, argc, argv, 3);
	if (!i)
		return wrong(arguments, "too few or too many words behind",
			     argv[argc - 1]);
	arguments->walk.chip = argv[1];
	arguments->states = argv[2];
	for (; i < argc; i++)
		if (!strchr(argv[i], '=') || !take_key(arguments, argv[i]))
			return wrong(arguments, "no key, or no value of it:",
				     argv[i]);
	return EXIT_GOOD;
}

/* What the file says: states or nodes. */
struct listed {
	struct states states;
	struct nodes nodes;
};

struct verb {
	int (*parse)(struct listed *listed, char *text, struct ffs_error *error);
	int (*run)(struct arguments *arguments, struct listed *listed,
		   struct ffs_error *error);
};

static int parse_states(struct listed *listed, char *text,
			struct ffs_error *error)
{
	return states_parse(&listed->states, text, error);
}

static int run_states(struct arguments *arguments, struct listed *listed,
		      struct ffs_error *error)
{
	return walk_states(&arguments->walk, &listed->states, error);
}

static int parse_nodes(struct listed *listed, char *text,
		       struct ffs_error *error)
{
	return nodes_parse(&listed->nodes, text, error);
}

static int run_nodes(struct arguments *arguments, struct listed *listed,
		     struct ffs_error *error)
{
	return tree_walk(&arguments->walk, &listed->nodes, &arguments->cuts,
			 error);
}

static int run(struct arguments *arguments, const struct verb *verb,
	       struct listed *listed, struct ffs_error *error)
{
	int *output = &arguments->walk.output;
	int result;

	*output = output_open(arguments->output, error);
	if (*output < 0)
		return -1;
	process_stay_in_memory();
	result = verb->run(arguments, listed, error);
	if (*output != STDOUT_FILENO)
		close(*output);
	return result;
}

static enum ffs_exit command(int argc, char **argv, const struct verb *verb)
{
	struct arguments arguments;
	struct listed listed = { 0 };
	struct ffs_error error;
	char *text;
	int result;

	if (parse(argc, argv, &arguments))
		return EXIT_USAGE;
	text = file_read(arguments.states, TEXT_MAX, NULL, &error);
	if (!text || verb->parse(&listed, text, &error)) {
		fprintf(stderr, "ffscrash: %s\n", error.message);
		free(text);
		return EXIT_USAGE;
	}
	result = run(&arguments, verb, &listed, &error);
	states_free(&listed.states);
	nodes_free(&listed.nodes);
	/* The calls of nodes are words of it. */
	free(text);
	if (result)
		fprintf(stderr, "ffscrash: %s\n", error.message);
	return result ? EXIT_FAILED : EXIT_GOOD;
}

enum ffs_exit command_walk(int argc, char **argv)
{
	static const struct verb verb = { parse_states, run_states };

	return command(argc, argv, &verb);
}

enum ffs_exit command_tree(int argc, char **argv)
{
	static const struct verb verb = { parse_nodes, run_nodes };

	return command(argc, argv, &verb);
}
