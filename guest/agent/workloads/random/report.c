// SPDX-License-Identifier: GPL-2.0-only
/*
 * report.c - what was done, and how a difference is told.
 *
 * Every operation leaves a line in a ring with the nodes it is about; a
 * failure prints those that concern the node at fault, and the command that
 * runs into the same failure again.  In a comparison further names are looked at,
 * up to TOLD_MAX that differ.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workloads/random/history.h"

#define EARLIER_LINES 60

const char *const difference_names[DIFFERENCES] = {
	[DIFF_NONE] = "",
	[DIFF_BACK] = "back",
	[DIFF_GONE] = "gone",
	[DIFF_UNREADABLE] = "unreadable",
	[DIFF_CONTENTS] = "contents",
	[DIFF_SIZE] = "size",
	[DIFF_ATTRIBUTE] = "attribute",
	[DIFF_TIME] = "time",
	[DIFF_SPACE] = "space",
	[DIFF_ANSWER] = "answer",
	[DIFF_FULL] = "full",
};

/* Return: @name, printable and not too long, in one of some static buffers. */
const char *show_name(const char *name)
{
	static char texts[16][80];
	static unsigned int next;
	char *text = texts[next++ % 16], *out = text;
	size_t i, length = strlen(name);

	for (i = 0; name[i] && i < 12; i++) {
		unsigned char c = name[i];

		if (c > ' ' && c < 127 && c != '\\')
			*out++ = c;
		else
			out += sprintf(out, "\\%03o", c);
	}
	if (length > 12)
		sprintf(out, "~%zu", length);
	else
		*out = '\0';
	return text;
}

static size_t show_directory(const struct node *dir, char *text, size_t room)
{
	size_t used;

	if (!dir->self) {
		text[0] = '\0';
		return 0;
	}
	used = show_directory(dir->self->dir, text, room);
	if (used < room)
		used += snprintf(text + used, room - used, "%s/",
				 show_name(dir->self->name));
	return used < room ? used : room;
}

/* Return: the path below the root, in one of two static buffers. */
const char *show_path(struct history *h, const struct node *dir,
		      const char *name)
{
	static char texts[2][400];
	static unsigned int next;
	char *text = texts[next++ % 2];
	size_t used = show_directory(dir, text, sizeof(texts[0]));

	(void)h;
	if (used < sizeof(texts[0]))
		snprintf(text + used, sizeof(texts[0]) - used, "%s",
			 show_name(name));
	return text;
}

const char *errno_name(int number)
{
	return number ? ffs_errno_name(number) : "success";
}

void describe(struct history *h, const struct node *a, const struct node *b,
	      const char *format, ...)
{
	struct log_line *line = &h->log[h->log_next++ % LOGGED];
	va_list arguments;

	line->op = h->op;
	line->node[0] = a ? a->id : 0;
	line->node[1] = b ? b->id : 0;
	va_start(arguments, format);
	vsnprintf(line->what, sizeof(line->what), format, arguments);
	va_end(arguments);
	if (!h->draws.did[0])
		memcpy(h->draws.did, line->what, sizeof(h->draws.did));
	if (h->live && h->op >= h->opt.trace_from)
		printf("%llu: #%u #%u %s\n", (unsigned long long)h->op,
		       line->node[0], line->node[1], line->what);
}

static bool concerns(const struct log_line *line, const struct node *about)
{
	return !about || line->node[0] == about->id ||
	       line->node[1] == about->id;
}

static void print_earlier(const struct history *h, const struct node *about)
{
	unsigned int i, first, count = 0;
	unsigned int lines = h->log_next < LOGGED ? h->log_next : LOGGED;

	/* Backwards, to find where the last EARLIER_LINES of them begin. */
	for (i = 0; i < lines && count < EARLIER_LINES; i++)
		count += concerns(&h->log[(h->log_next - 1 - i) % LOGGED],
				  about);
	if (about)
		printf("operations on #%u:\n", about->id);
	else
		printf("operations:\n");
	first = h->log_next - i;
	for (i = first; i != h->log_next; i++) {
		const struct log_line *line = &h->log[i % LOGGED];

		if (concerns(line, about))
			printf("  %llu: #%u #%u %s\n",
			       (unsigned long long)line->op, line->node[0],
			       line->node[1], line->what);
	}
}

static void print_first(struct history *h, const struct node *about,
			const char *text)
{
	const struct log_line *last = &h->log[(h->log_next - 1) % LOGGED];

	printf("history: FAILED, seed %llu, operation %llu",
	       (unsigned long long)h->opt.seed, (unsigned long long)h->op);
	if (h->log_next)
		printf(": %s", last->what);
	printf("\nhistory: %s\n", text);
	if (about && h->log_next)
		print_earlier(h, about);
	if (h->again)
		printf("history: to repeat: %s\n", h->again);
}

void end_if_different(struct history *h)
{
	if (h->report->difference == DIFF_NONE)
		return;
	fflush(stdout);
	_exit(1);
}

void differ(struct history *h, enum difference kind, const struct node *about,
	    const char *format, ...)
{
	struct history_report *report = h->report;
	char *text = report->text[report->told];
	size_t used = 0, room = sizeof(report->text[0]);
	va_list arguments;

	if (h->compared)
		used = snprintf(text, room, "%s: ",
				show_path(h, h->compared->dir,
					  h->compared->name));
	va_start(arguments, format);
	vsnprintf(text + used, room - used, format, arguments);
	va_end(arguments);
	if (report->difference == DIFF_NONE) {
		report->at = h->op;
		print_first(h, about, text);
	} else {
		printf("history: also %s\n", text);
	}
	if (report->difference == DIFF_NONE || kind < report->difference)
		report->difference = kind;
	if (++report->told < TOLD_MAX && h->next)
		longjmp(*h->next, 1);
	end_if_different(h);
	abort();
}

void check_call(struct history *h, const char *call, int wanted, int found)
{
	enum difference kind = found == ENOSPC ? DIFF_FULL : DIFF_ANSWER;

	if (wanted != found)
		differ(h, kind, NULL, "%s: expected %s, found %s", call,
		       errno_name(wanted), errno_name(found));
}
