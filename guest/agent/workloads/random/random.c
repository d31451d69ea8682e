// SPDX-License-Identifier: GPL-2.0-only
/* random.c - see random.h. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "workloads/random/facts.h"
#include "workloads/random/history.h"
#include "measure/phase.h"
#include "workloads/random/random.h"

#define WORKLOAD "random"

struct random_run {
	struct history *history;
	struct history_report *report;	/* shared with the history's process */
	struct record_sink *sink;
	struct phase_site site;
	struct phase operations, verify;
};

/* So that it is known how far it came when it never ends. */
static void tell_round(struct history *h)
{
	struct record_sink *sink = h->context;

	record_begin(sink, "random-round");
	record_number(sink, "round", h->report->rounds);
	record_number(sink, "operations", h->op);
	record_end(sink);
}

/* Return: 0, or -1 with @error, whose errno is set only if space was lacking. */
static int wait_for(pid_t pid, const struct history_report *report,
		    const struct options *opt, struct ffs_error *error)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return ffs_fail(error, errno, "cannot wait");
	if (report->difference != DIFF_NONE)
		return ffs_fail(error, report->difference == DIFF_FULL ?
				ENOSPC : 0, "round %llu, operation %llu: %s",
				(unsigned long long)
				((report->at + opt->compare_every - 1) /
				 opt->compare_every),
				(unsigned long long)report->at,
				report->text[0]);
	if (WIFSIGNALED(status))
		return ffs_fail(error, 0, "operation %llu: the kernel ended its process by signal %d",
				(unsigned long long)report->operations,
				WTERMSIG(status));
	return WEXITSTATUS(status) ?
	       ffs_fail(error, ENOMEM, "the model has too little memory") : 0;
}

static int run_apart(struct random_run *run, struct ffs_error *error)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return ffs_fail(error, errno, "cannot make a process");
	if (pid == 0) {
		/* Standard output may be the channel of the records. */
		dup2(STDERR_FILENO, STDOUT_FILENO);
		history_run(run->history);
		fflush(NULL);
		_exit(0);
	}
	return wait_for(pid, run->report, &run->history->opt, error);
}

/* A difference is what a check found, not a call that failed. */
static int judge(struct random_run *run, int result, struct ffs_error *error)
{
	enum difference found = run->report->difference;
	bool differs = found != DIFF_NONE && found != DIFF_FULL;
	struct ffs_error first = *error;

	run->operations.t_end_ns = clock_now_ns();
	if (phase_end(&run->operations, &run->site, differs ? 0 : result,
		      error) || !differs)
		return result;
	if (phase_begin(&run->verify, &run->site, error))
		return -1;
	*error = first;
	run->verify.t_end_ns = run->verify.t_start_ns;
	return phase_end(&run->verify, &run->site, -1, error);
}

static void report(struct random_run *run)
{
	const struct options *opt = &run->history->opt;
	const struct history_report *found = run->report;
	struct record_sink *sink = run->sink;
	unsigned int i;

	phase_record(&run->operations, WORKLOAD, "operations", NULL, sink);
	phase_record_short(&run->verify, WORKLOAD, "verify", NULL, sink);
	record_begin(sink, WORKLOAD);
	record_number(sink, "rounds", opt->operations / opt->compare_every);
	record_number(sink, "rounds_done", found->rounds);
	record_number(sink, "operations", opt->operations);
	record_number(sink, "operations_done", found->operations);
	record_string(sink, "difference", difference_names[found->difference]);
	record_number(sink, "at", found->at);
	record_open(sink, "told", '[');
	for (i = 0; i < found->told; i++)
		record_string(sink, NULL, found->text[i]);
	record_close(sink, ']');
	record_end(sink);
}

/* The calls alone, as text; the file system is not touched. */
static void tell_calls(struct random_run *run)
{
	history_run(run->history);
	record_begin(run->sink, "random-calls");
	record_string(run->sink, "text", run->history->draws.text);
	record_end(run->sink);
	free(run->history->draws.text);
}

static int run_measured(struct random_run *run, struct ffs_error *error)
{
	int result;

	if (phase_reserve(&run->operations, &run->site, error) ||
	    phase_reserve(&run->verify, &run->site, error) ||
	    phase_begin(&run->operations, &run->site, error))
		return -1;
	result = run_apart(run, error);
	result = judge(run, result, error);
	report(run);
	return result;
}

int random_workload(struct options *opt, const struct flash_monitor *monitor,
		    struct record_sink *sink, struct ffs_error *error)
{
	struct random_run run = {
		.history = calloc(1, sizeof(struct history)),
		.report = mmap(NULL, sizeof(struct history_report),
			       PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0),
		.sink = sink,
		.site = { .root = opt->dir, .monitor = monitor },
	};
	int result = -1;

	if (!run.history || run.report == MAP_FAILED)
		return ffs_fail(error, ENOMEM, "no memory for the workload");
	if (!facts_find(opt, error)) {
		run.history->opt = *opt;
		run.history->report = run.report;
		run.history->round_ended = opt->tell_calls ? NULL : tell_round;
		run.history->context = sink;
		if (opt->tell_calls)
			tell_calls(&run);
		result = opt->tell_calls ? 0 : run_measured(&run, error);
	}
	phase_free(&run.operations);
	phase_free(&run.verify);
	munmap(run.report, sizeof(*run.report));
	free(run.history);
	return result;
}
