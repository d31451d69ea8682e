// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - the command line of ffsagent.
 *
 * As process 1 the program is the init of a lab guest and takes no arguments
 * (init.c); otherwise it is an ordinary program for boards and for trying out.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/process.h"
#include "core/record.h"
#include "init.h"
#include "postmark/postmark.h"
#include "run.h"
#include "version.h"

static const char help_text[] =
	"usage: ffsagent run [-o RECORDS] PLAN\n"
	"       ffsagent ffsmark [-c CONFIG] [-o RECORDS]\n"
	"       ffsagent --help | --version\n"
	"\n"
	"run      executes a plan (docs/plan-format.md) and writes its records, one\n"
	"         JSON object per line, to standard output or to RECORDS\n"
	"ffsmark  runs the commands of a Postmark configuration file, or those it\n"
	"         reads from standard input ('help' lists them), and prints a report;\n"
	"         -o also writes records\n"
	"\n"
	"Exit status: 0 good, 1 a step failed, 2 wrong usage or plan,\n"
	"3 infrastructure (the records could not be written).\n";

static enum ffs_exit usage_error(const char *what)
{
	fprintf(stderr, "ffsagent: %s; see ffsagent --help\n", what);
	return EXIT_USAGE;
}

struct arguments {
	const char *output, *config, *plan;
};

static enum ffs_exit parse(int argc, char **argv, struct arguments *arguments)
{
	int option;

	while ((option = getopt(argc, argv, "c:o:")) != -1) {
		if (option == 'c')
			arguments->config = optarg;
		else if (option == 'o')
			arguments->output = optarg;
		else
			return usage_error("wrong option");
	}
	if (optind < argc)
		arguments->plan = argv[optind++];
	if (optind < argc)
		return usage_error("too many arguments");
	return EXIT_GOOD;
}

/* Return: the descriptor of the records, or -1 with a message printed. */
static int open_output(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0)
		fprintf(stderr, "ffsagent: cannot create %s: %s\n", path,
			strerror(errno));
	return fd;
}

/* Return: the exit code of @function, which writes records to @fd or -o. */
static enum ffs_exit with_records(int fd, const struct arguments *arguments,
				  enum ffs_exit (*function)(const char *path,
							    struct record_sink *sink),
				  const char *path)
{
	static struct record_sink sink;
	enum ffs_exit code;

	if (arguments->output) {
		fd = open_output(arguments->output);
		if (fd < 0)
			return EXIT_INFRASTRUCTURE;
	}
	record_sink_init(&sink, fd);
	code = function(path, &sink);
	if (arguments->output && close(fd) && !sink.failed) {
		fprintf(stderr, "ffsagent: cannot write %s: %s\n",
			arguments->output, strerror(errno));
		return EXIT_INFRASTRUCTURE;
	}
	return code;
}

static enum ffs_exit run_plan(const char *path, struct record_sink *sink)
{
	process_stay_in_memory();
	return run_plan_file(path, sink, false);
}

static enum ffs_exit command_run(int argc, char **argv)
{
	struct arguments arguments = { NULL, NULL, NULL };

	if (parse(argc, argv, &arguments))
		return EXIT_USAGE;
	if (!arguments.plan || arguments.config)
		return usage_error("run takes one PLAN");
	return with_records(STDOUT_FILENO, &arguments, run_plan,
			    arguments.plan);
}

static enum ffs_exit command_ffsmark(int argc, char **argv)
{
	struct arguments arguments = { NULL, NULL, NULL };

	if (parse(argc, argv, &arguments))
		return EXIT_USAGE;
	return with_records(-1, &arguments, postmark_main,
			    arguments.config ? arguments.config :
					       arguments.plan);
}

static enum ffs_exit command_help(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return fputs(help_text, stdout) < 0 ? EXIT_FAILED : EXIT_GOOD;
}

static enum ffs_exit command_version(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return printf("ffsagent %s\n", FFSAGENT_VERSION) < 0 ? EXIT_FAILED :
								EXIT_GOOD;
}

static const struct command {
	const char *name;
	enum ffs_exit (*function)(int argc, char **argv);
} commands[] = {
	{ "run", command_run },
	{ "ffsmark", command_ffsmark },
	{ "--help", command_help },
	{ "--version", command_version },
};

/* In a container the program may be process 1 without being an init. */
static const struct command *find_command(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[1], commands[i].name))
			return &commands[i];
	return NULL;
}

int main(int argc, char **argv)
{
	const struct command *command = find_command(argc, argv);

	/* A reader that went away is a write error, not a sudden end. */
	signal(SIGPIPE, SIG_IGN);
	if (getpid() == 1 && !command)
		init_main();
	clock_open();
	if (!command)
		return usage_error(argc < 2 ? "a command is missing" :
					      "unknown command");
	return command->function(argc - 1, argv + 1);
}
