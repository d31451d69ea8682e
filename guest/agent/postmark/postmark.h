/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * postmark.h - the command language of Postmark 1.5, with the settings that
 * FFSMark added, in front of the ffsmark workload.
 *
 * A configuration file written for Postmark runs unchanged.  The language was
 * learnt from the program's help and from its answers.  Differences, all on the
 * side of fewer surprises:
 *  - blank lines, '#' comments and leading blanks are accepted;
 *  - "4k" is refused (Postmark takes it for 4);
 *  - a line that is not understood is reported with file and line, the run goes
 *    on as in Postmark, but the exit status tells;
 *  - a pool that will run out of files is found before the run, not during it.
 */
#ifndef FFSAGENT_POSTMARK_H
#define FFSAGENT_POSTMARK_H

#include <stdbool.h>
#include <stdio.h>

#include "core/error.h"
#include "core/record.h"
#include "workloads/ffsmark/ffsmark.h"

struct postmark {
	struct ffsmark_params params;	/* owns the locations */
	bool terse;
	char *monitor;			/* MTD name, or NULL */
	struct record_sink *sink;
	FILE *out;			/* reports, help */
	FILE *errors;
	bool dry;			/* "run" only checks; for tests */
	bool quit;
	bool misunderstood;		/* some line made no sense */
	bool run_failed;
	unsigned int runs;
	unsigned int load_depth;
};

/** postmark_init() - Postmark's defaults; reports go to standard output. */
void postmark_init(struct postmark *postmark, struct record_sink *sink);
void postmark_free(struct postmark *postmark);

/** postmark_line() - execute one command line (without its line end). */
void postmark_line(struct postmark *postmark, const char *file,
		   unsigned int number, const char *line);

/**
 * postmark_main() - execute a configuration file, or standard input.
 * @config: path, or NULL for standard input.
 */
enum ffs_exit postmark_main(const char *config, struct record_sink *sink);

/* report.c */

/** postmark_report() - the report of one run, verbose or terse. */
void postmark_report(const struct postmark *postmark,
		     const struct ffsmark_result *result, FILE *out);
/** postmark_show() - the current configuration. */
void postmark_show(const struct postmark *postmark, FILE *out);

#endif
