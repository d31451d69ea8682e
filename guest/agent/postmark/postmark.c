// SPDX-License-Identifier: GPL-2.0-only
/*
 * postmark.c - the command language; see postmark.h.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/process.h"
#include "flash/mtd.h"
#include "postmark/commands.h"
#include "run.h"

#define LOAD_DEPTH_MAX 8

/* --- running ------------------------------------------------------------ */

struct progress_state {
	FILE *out;
	bool open;
};

static void show_progress(void *context, const char *what)
{
	struct progress_state *state = context;

	fprintf(state->out, "%s%s...", state->open ? "Done\n" : "", what);
	fflush(state->out);
	state->open = true;
}

static int attach_monitor(struct postmark *postmark, struct ffs_error *error)
{
	if (!postmark->monitor)
		return 0;
	if (monitor_attach(postmark->monitor, error))
		return -1;
	return mtd_record(postmark->monitor, postmark->sink, error);
}

static int run_workload(struct postmark *postmark,
			struct ffsmark_result *result, struct ffs_error *error)
{
	struct ffsmark_location here = { .path = (char *)".", .weight = 1 };
	struct ffsmark_params params = postmark->params;
	struct progress_state progress = { .out = postmark->out };
	const struct flash_monitor monitor = { postmark->monitor, "" };
	struct ffsmark_outputs outputs = {
		.sink = postmark->sink,
		.monitor = postmark->monitor ? &monitor : NULL,
		.progress = show_progress,
		.progress_context = &progress,
	};
	int status;

	if (!params.n_locations) {
		params.locations = &here;
		params.n_locations = 1;
	}
	if (params.valid_percent + params.invalid_percent > 100)
		return ffs_fail(error, 0,
			"valid + invalid is %u; both are shares of the space available at launch, so their sum is at most 100",
			params.valid_percent + params.invalid_percent);
	if (attach_monitor(postmark, error))
		return -1;
	status = ffsmark_run(&params, &outputs, result, error);
	if (progress.open)
		fputs(status ? "failed\n" : "Done\n", postmark->out);
	fflush(postmark->out);
	return status;
}

static void report_to(struct postmark *postmark, const struct origin *origin,
		      const struct ffsmark_result *result, const char *path)
{
	FILE *out = *path ? fopen(path, "a") : postmark->out;

	if (!out) {
		complain(postmark, origin, "cannot write the report to %s: %s",
			 path, strerror(errno));
		return;
	}
	postmark_report(postmark, result, out);
	if (fflush(out) || (out != postmark->out && fclose(out)))
		complain(postmark, origin, "cannot write the report: %s",
			 strerror(errno));
}

static void command_run(struct postmark *postmark, const struct origin *origin,
			const char *argument)
{
	struct ffsmark_result *result;
	struct ffs_error error;
	int op, status;

	postmark->runs++;
	if (postmark->dry)
		return;
	result = calloc(1, sizeof(*result));
	if (result)
		result->histograms = calloc(LATENCY_OPS,
					    sizeof(*result->histograms));
	if (!result || !result->histograms) {
		free(result);
		postmark->run_failed = true;
		complain(postmark, origin, "no memory for the run");
		return;
	}
	for (op = 0; op < LATENCY_OPS; op++)
		histogram_reset(&result->histograms[op]);
	result->keep_snapshots = true;
	status = run_workload(postmark, result, &error);
	if (status) {
		postmark->run_failed = true;
		fprintf(postmark->errors, "Error: %s:%u: %s\n", origin->file,
			origin->line, error.message);
	}
	/* What was measured before a failure is shown as well. */
	if (result->phases[PHASE_CREATION].ran)
		report_to(postmark, origin, result, argument);
	ffsmark_result_free(result);
	free(result);
}

static void read_commands(struct postmark *postmark, FILE *stream,
			  const char *file)
{
	bool prompt = stream == stdin && isatty(STDIN_FILENO);
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	unsigned int number = 0;

	while (!postmark->quit) {
		if (prompt) {
			fputs("pm>", postmark->out);
			fflush(postmark->out);
		}
		length = getline(&line, &room, stream);
		if (length < 0)
			break;
		line[strcspn(line, "\n")] = '\0';
		postmark_line(postmark, file, ++number, line);
	}
	free(line);
}

static void command_load(struct postmark *postmark, const struct origin *origin,
			 const char *argument)
{
	FILE *stream;

	if (!*argument) {
		complain(postmark, origin, "load takes a configuration file");
		return;
	}
	if (postmark->load_depth >= LOAD_DEPTH_MAX) {
		complain(postmark, origin,
			 "%s: files load each other more than %d deep",
			 argument, LOAD_DEPTH_MAX);
		return;
	}
	stream = fopen(argument, "r");
	if (!stream) {
		complain(postmark, origin,
			 "cannot read configuration file '%s': %s", argument,
			 strerror(errno));
		return;
	}
	postmark->load_depth++;
	read_commands(postmark, stream, argument);
	postmark->load_depth--;
	fclose(stream);
}

static void command_show(struct postmark *postmark, const struct origin *origin,
			 const char *argument)
{
	(void)origin;
	(void)argument;
	postmark_show(postmark, postmark->out);
}

static void command_quit(struct postmark *postmark, const struct origin *origin,
			 const char *argument)
{
	(void)origin;
	(void)argument;
	postmark->quit = true;
}

static void command_help(struct postmark *postmark, const struct origin *origin,
			 const char *argument);

/* --- the table of commands ------------------------------------------------ */

static const struct command {
	const char *name;
	command_function function;
	const char *help;
} commands[] = {
	{ "set size", command_size, "Sets low and high bounds of files" },
	{ "set number", command_number, "Sets number of simultaneous files" },
	{ "set seed", command_seed, "Sets seed for random number generator" },
	{ "set transactions", command_transactions,
	  "Sets number of transactions" },
	{ "set location", command_location,
	  "Sets location of working files (PATH [WEIGHT], +PATH, -PATH)" },
	{ "set subdirectories", command_subdirectories,
	  "Sets number of subdirectories" },
	{ "set read", command_read, "Sets read block size" },
	{ "set write", command_write, "Sets write block size" },
	{ "set buffering", command_buffering, "Sets usage of buffered I/O" },
	{ "set bias read", command_bias_read,
	  "Sets the chance of choosing read over append" },
	{ "set bias create", command_bias_create,
	  "Sets the chance of choosing create over delete" },
	{ "set report", command_report, "Choose verbose or terse report format" },
	{ "set valid", command_valid,
	  "Sets valid data before the run, in percent of the available space" },
	{ "set invalid", command_invalid,
	  "Sets invalid data before the run, in percent" },
	{ "set text", command_text,
	  "Fills files with printable characters, not any bytes" },
	{ "set drop-caches", command_drop_caches,
	  "Drops the page cache before creation and transactions" },
	{ "set monitor", command_monitor,
	  "Sets the MTD device whose flash monitor is read" },
	{ "set verify", command_verify,
	  "Compares every file with what was written, before deletion" },
	{ "set full", command_full,
	  "Records every latency, not only histograms (with -o)" },
	{ "run", command_run, "Runs one iteration of benchmark" },
	{ "load", command_load, "Read configuration file" },
	{ "show", command_show, "Displays current configuration" },
	{ "help", command_help, "Prints out available commands" },
	{ "?", command_help, "Prints out available commands" },
	{ "quit", command_quit, "Exit program" },
};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void command_help(struct postmark *postmark, const struct origin *origin,
			 const char *argument)
{
	bool all = true;
	size_t i;

	(void)origin;
	for (i = 0; i < N_COMMANDS && *argument; i++)
		if (!strncmp(commands[i].name, argument, strlen(argument)))
			all = false;
	for (i = 0; i < N_COMMANDS; i++)
		if (all || !strncmp(commands[i].name, argument,
				    strlen(argument)))
			fprintf(postmark->out, "%s - %s\n", commands[i].name,
				commands[i].help);
}

/*
 * A blank in a name stands for one or more blanks.  As in Postmark any
 * character that is not part of a word may follow ("set number=7").
 * Return: the argument, or NULL if the line is another command.
 */
static const char *match_command(const char *name, const char *line)
{
	for (; *name; name++) {
		if (*name == ' ') {
			size_t blanks = strspn(line, " \t");

			if (!blanks)
				return NULL;
			line += blanks;
		} else if (*line++ != *name) {
			return NULL;
		}
	}
	if (isalnum((unsigned char)*line) || *line == '-' || *line == '_')
		return NULL;
	if (*line)
		line++;
	return line + strspn(line, " \t");
}

void postmark_line(struct postmark *postmark, const char *file,
		   unsigned int number, const char *line)
{
	struct origin origin = { file, number };
	const char *argument;
	char *copy;
	size_t length, i;

	line += strspn(line, " \t\r");
	if (!*line || *line == '#')
		return;
	copy = strdup(line);
	if (!copy) {
		complain(postmark, &origin, "no memory");
		return;
	}
	for (length = strlen(copy);
	     length && isspace((unsigned char)copy[length - 1]); length--)
		copy[length - 1] = '\0';
	for (i = 0; i < N_COMMANDS; i++) {
		argument = match_command(commands[i].name, copy);
		if (argument)
			break;
	}
	if (i < N_COMMANDS)
		commands[i].function(postmark, &origin, argument);
	else
		complain(postmark, &origin, "Eh? '%s' (try help)", copy);
	free(copy);
}

void postmark_init(struct postmark *postmark, struct record_sink *sink)
{
	memset(postmark, 0, sizeof(*postmark));
	postmark->params = (struct ffsmark_params) {
		.number = 500,
		.size_min = 500,
		.size_max = 10000,
		.transactions = 500,
		.read_bytes = 512,
		.write_bytes = 512,
		.bias_read = 5,
		.bias_create = 5,
		.contents = { .kind = CONTENT_PRINTABLE },
		.buffering = true,
		.seed = 42,
		.tidy = true,
	};
	postmark->sink = sink;
	postmark->out = stdout;
	postmark->errors = stderr;
}

void postmark_free(struct postmark *postmark)
{
	postmark_forget_locations(&postmark->params);
	free(postmark->params.locations);
	free(postmark->monitor);
	memset(postmark, 0, sizeof(*postmark));
}

enum ffs_exit postmark_main(const char *config, struct record_sink *sink)
{
	struct origin command_line = { "ffsagent", 0 };
	struct ffs_error error = { 0 };
	struct postmark postmark;
	enum ffs_exit code = EXIT_GOOD;

	process_stay_in_memory();
	postmark_init(&postmark, sink);
	run_emit_start(sink, postmark.params.seed);
	if (config)
		command_load(&postmark, &command_line, config);
	else
		read_commands(&postmark, stdin, "standard input");
	if (postmark.misunderstood)
		code = EXIT_USAGE;
	if (postmark.run_failed)
		code = EXIT_FAILED;
	if (code)
		ffs_fail(&error, 0, "%s", code == EXIT_FAILED ?
			 "a run failed" : "a command was not understood");
	run_emit_end(sink, code ? &error : NULL, postmark.runs, postmark.runs);
	if (fflush(stdout) || sink->failed) {
		fprintf(stderr, "ffsagent: cannot write the results: %s\n",
			strerror(sink->failed ? sink->failed : errno));
		code = EXIT_INFRASTRUCTURE;
	}
	postmark_free(&postmark);
	return code;
}
