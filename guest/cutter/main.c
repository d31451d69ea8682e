// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - the command line of ffscrash.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chip/chip.h"
#include "core/clock.h"
#include "core/files.h"
#include "history/history.h"
#include "observe/observe.h"
#include "series/series.h"
#include "text/numbers.h"
#include "text/output.h"
#include "tree/command.h"
#include "wear/wear.h"

#define HISTORY_TEXT_MAX ((size_t)16 << 20)

static const char help_text[] =
	"usage: ffscrash history FILE ROOT [CHIP] [output=FILE]\n"
	"       ffscrash observe ROOT [attributes=1]\n"
	"       ffscrash chip CHIP COMMAND...\n"
	"       ffscrash wear MTD ERASES\n"
	"       ffscrash walk CHIP STATES MOUNT [+ MOUNT]... [UBI-MTD] [KEY=VALUE...]\n"
	"       ffscrash tree CHIP NODES MOUNT [+ MOUNT]... [UBI-MTD] [KEY=VALUE...]\n"
	"       ffscrash series CHIP CUTS MOUNT [+ MOUNT]... [UBI-MTD] [KEY=VALUE...]\n"
	"       ffscrash --help\n"
	"\n"
	"history  carries out the operations of FILE, one a line, below the directory\n"
	"         ROOT, and prints a line about each; with CHIP also which of the\n"
	"         operations that this chip logs belong to it\n"
	"observe  prints all that a user can see of the tree below ROOT; attributes=1:\n"
	"         modes, times and extended attributes, too\n"
	"chip     gives one command to the chip, and prints what it says about its log\n"
	"wear     lets every fourth free block of the UBI on MTD, which is not attached,\n"
	"         say that it has been erased ERASES times more\n"
	"walk     brings the chip to each state of the file STATES (K KIND VARIANT), and\n"
	"         mounts, observes and uses it. MOUNT is TYPE SOURCE TARGET OPTIONS;\n"
	"         OPTIONS are mount's, - for none, ro and sync first; TYPE - makes the\n"
	"         directory TARGET if it is missing. Of several, from the lowest on, the\n"
	"         last is looked at. Keys: check (full, or mount: only look), attributes\n"
	"         (1: modes, times and extended ones, too), output (a file or serial\n"
	"         line), vid_hdr_offset and max_beb_per1024 of UBI,\n"
	"         ubi_block (a volume that gets a block device)\n"
	"tree     makes all cuts of many sequences of calls, which share their beginnings:\n"
	"         NODES has a line for each call or two, DEPTH visit|end|pass CALL[;CALL]...;\n"
	"         keys as above, and: kinds (of cuts, with commas; + behind those whose\n"
	"         variants are counted, * behind those that have seeds), variants (of\n"
	"         each operation), after (K,KIND,VARIANT: a state of the first node,\n"
	"         behind which it begins)\n"
	"series   cuts the power CUTS times in a row, and checks what is there each time;\n"
	"         keys as above but for check, and: seed, kinds (of cuts, with\n"
	"         commas), space_every (so many cuts it is filled until full), own (a\n"
	"         directory of the file system's), returned_is_durable (1: without a\n"
	"         sync), two_names (1: after a rename that was cut), spared (cuts that\n"
	"         are made \"lost\", with commas), first (so many were made of another\n"
	"         flash), tell_from (from this cut on what is called, logged and said),\n"
	"         acts (moves, over-emptied, drop-caches, turn-over, with commas),\n"
	"         reordered (kinds of which any part of a page may be there)\n"
	"\n"
	"Exit status: 0 good, 1 failed, 2 wrong usage.\n";

static enum ffs_exit failed(const struct ffs_error *error)
{
	fprintf(stderr, "ffscrash: %s\n", error->message);
	return EXIT_FAILED;
}

static enum ffs_exit usage_error(const char *what)
{
	fprintf(stderr, "ffscrash: %s; see ffscrash --help\n", what);
	return EXIT_USAGE;
}

/* The words of history behind FILE and ROOT. */
struct history_words {
	const char *chip, *output;
};

static bool take_history_words(int argc, char **argv,
			       struct history_words *words)
{
	static const char key[] = "output=";
	int i = 3;

	if (i < argc && !strchr(argv[i], '='))
		words->chip = argv[i++];
	if (i < argc && !strncmp(argv[i], key, strlen(key)))
		words->output = argv[i++] + strlen(key);
	return argc >= 3 && i == argc;
}

static int run_history(const struct history *history, const char *root,
		       const struct history_words *words,
		       struct ffs_error *error)
{
	struct chip chip;
	int output = output_open(words->output, error);
	int result;

	if (output < 0)
		return -1;
	if (words->chip && chip_open(&chip, words->chip, error)) {
		result = -1;
	} else {
		result = history_run(history, root,
				     words->chip ? &chip : NULL, output, error);
		if (words->chip)
			chip_close(&chip);
	}
	if (output != STDOUT_FILENO)
		close(output);
	return result;
}

static enum ffs_exit command_history(int argc, char **argv)
{
	struct history_words words = { NULL, NULL };
	struct history history;
	struct ffs_error error;
	char *text;
	int result;

	if (!take_history_words(argc, argv, &words))
		return usage_error("history takes FILE, ROOT, perhaps CHIP and output=FILE");
	text = file_read(argv[1], HISTORY_TEXT_MAX, NULL, &error);
	if (!text)
		return failed(&error);
	if (history_parse(&history, text, &error)) {
		free(text);
		failed(&error);
		return EXIT_USAGE;
	}
	result = run_history(&history, argv[2], &words, &error);
	history_free(&history);
	free(text);
	return result ? failed(&error) : EXIT_GOOD;
}

static enum ffs_exit command_observe(int argc, char **argv)
{
	struct observer *observer;
	struct observed_space space;
	struct text text = { 0 };
	struct ffs_error error;
	int result;
	size_t n;

	if (argc != 2 && (argc != 3 || strcmp(argv[2], "attributes=1")))
		return usage_error("observe takes ROOT, and attributes=1");
	observer = observer_new(argc == 3, &error);
	if (!observer)
		return failed(&error);
	n = observe(observer, argv[1], &text);
	observe_space(argv[1], &space);
	text_line(&text, "statfs %llu %llu %llu",
		  (unsigned long long)space.blocks,
		  (unsigned long long)space.free,
		  (unsigned long long)space.free_inodes);
	text_line(&text, "observed %zu", n);
	result = text_write(&text, STDOUT_FILENO, &error);
	text_free(&text);
	observer_free(observer);
	return result ? failed(&error) : EXIT_GOOD;
}

static enum ffs_exit command_help(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return fputs(help_text, stdout) < 0 ? EXIT_FAILED : EXIT_GOOD;
}

static enum ffs_exit command_chip(int argc, char **argv)
{
	struct ffs_error error;
	struct text text = { 0 };
	struct chip chip;
	int i, result;

	if (argc < 3)
		return usage_error("chip takes CHIP and a command");
	if (chip_open(&chip, argv[1], &error))
		return failed(&error);
	for (i = 2; i < argc; i++) {
		text_string(&text, argv[i]);
		text_add(&text, i + 1 < argc ? " " : "", 1);
	}
	result = text.failed ? ENOMEM : chip_command(&chip, text.data);
	if (result)
		ffs_fail(&error, result, "the chip refuses '%s'", text.data);
	else
		result = chip_print(&chip, STDOUT_FILENO, &error);
	text_free(&text);
	chip_close(&chip);
	return result ? failed(&error) : EXIT_GOOD;
}

static enum ffs_exit command_wear(int argc, char **argv)
{
	struct ffs_error error;
	uint64_t erases;
	int worn;

	if (argc != 3 || !number_parse(argv[2], INT32_MAX, &erases))
		return usage_error("wear takes MTD and a number of erases");
	worn = wear_blocks(argv[1], erases, &error);
	if (worn < 0)
		return failed(&error);
	printf("worn %d\n", worn);
	return EXIT_GOOD;
}

static const struct command {
	const char *name;
	enum ffs_exit (*function)(int argc, char **argv);
} commands[] = {
	{ "history", command_history },
	{ "observe", command_observe },
	{ "chip", command_chip },
	{ "walk", command_walk },
	{ "tree", command_tree },
	{ "series", command_series },
	{ "wear", command_wear },
	{ "--help", command_help },
};

int main(int argc, char **argv)
{
	size_t i;

	signal(SIGPIPE, SIG_IGN);
	clock_open();
	for (i = 0; argc > 1 && i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].function(argc - 1, argv + 1);
	return usage_error(argc < 2 ? "a command is missing" :
				      "unknown command");
}
