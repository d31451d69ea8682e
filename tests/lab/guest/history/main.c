// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - the histories of guest/agent/workloads/random as a program, with every
 * option that they have.
 *
 *   history --dir /mnt --type jffs2 --source mtd:data --options 'a|b' \
 *	     --seed 1 --operations 10000
 *
 * mounts, runs, compares, unmounts.  Without --type it uses the directory as it
 * is.  With --verify-only it compares what an earlier run left.
 *
 * Exit status: 0 all as expected, 1 a difference (printed, with the command
 * that repeats it), 2 wrong usage, 3 no memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/random/history.h"

static const char *command(int argc, char **argv)
{
	size_t room = 1;
	char *text;
	int i;

	for (i = 0; i < argc; i++)
		room += strlen(argv[i]) + 3;
	text = allocate(room);
	for (i = 0; i < argc; i++)
		sprintf(text + strlen(text), "'%s' ", argv[i]);
	return text;
}

int main(int argc, char **argv)
{
	static struct history_report report;
	static struct history history = { .report = &report };
	struct history *h = &history;

	options_parse(&h->opt, argc, argv);
	h->again = command(argc, argv);
	history_run(h);
	if (h->opt.tell_calls)
		fputs(h->draws.text, stdout);
	printf("history: passed, seed %llu, operations %llu, names %zu, bytes %llu\n",
	       (unsigned long long)h->opt.seed,
	       (unsigned long long)h->opt.operations, h->model.entries,
	       (unsigned long long)h->model.bytes);
	return 0;
}
