// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_postmark.c - Postmark's command language.
 */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "postmark/postmark.h"

static struct record_sink sink;
static struct postmark pm;

static void start(void)
{
	record_sink_init(&sink, -1);
	postmark_init(&pm, &sink);
	pm.out = fopen("/dev/null", "w");
	pm.errors = pm.out;
	pm.dry = true;
}

static void stop(void)
{
	fclose(pm.out);
	postmark_free(&pm);
}

/* Return: whether the line was understood. */
static bool say(const char *line)
{
	pm.misunderstood = false;
	postmark_line(&pm, "test", 1, line);
	return !pm.misunderstood;
}

static void settings(void)
{
	const struct ffsmark_params *p = &pm.params;

	start();
	CHECK(p->number == 500 && p->transactions == 500 && p->seed == 42);
	CHECK(p->size_min == 500 && p->size_max == 10000 && p->buffering);
	CHECK(say("set size 100 200") && p->size_min == 100 &&
	      p->size_max == 200);
	CHECK(say("set size 5") && p->size_min == 5 && p->size_max == 5);
	CHECK(say("set size 200 100") && p->size_max == 200);
	CHECK(say("set number 7") && p->number == 7);
	CHECK(say("set number=8") && p->number == 8);
	CHECK(say("set number 9 10") && p->number == 9);
	CHECK(say("  set \t number   11  ") && p->number == 11);
	CHECK(say("set number 12\r") && p->number == 12);
	CHECK(say("set seed 3") && p->seed == 3);
	CHECK(say("set transactions 9") && p->transactions == 9);
	CHECK(say("set subdirectories 10") && p->subdirectories == 10);
	CHECK(say("set read 4096") && p->read_bytes == 4096);
	CHECK(say("set write 1024") && p->write_bytes == 1024);
	CHECK(say("set buffering false") && !p->buffering);
	CHECK(say("set buffering true") && p->buffering);
	CHECK(say("set bias read 3") && p->bias_read == 3);
	CHECK(say("set bias create -1") && p->bias_create == -1);
	CHECK(say("set report terse") && pm.terse);
	CHECK(say("set report verbose") && !pm.terse);
	CHECK(say("set valid 50") && p->valid_percent == 50);
	CHECK(say("set invalid 25") && p->invalid_percent == 25);
	CHECK(say("set drop-caches true") && p->drop_caches);
	CHECK(say("set monitor data") && !strcmp(pm.monitor, "data"));
	CHECK(say("set monitor off") && !pm.monitor);
	CHECK(say("set verify true") && p->verify);
	CHECK(say("set full true") && p->full);
	CHECK(say("# set number 99") && say("") && p->number == 12);
	CHECK(say("show") && say("help") && say("help set size") && say("?"));
	CHECK(say("run") && say("run out.txt") && pm.runs == 2);
	CHECK(!pm.quit && say("quit") && pm.quit);
	stop();
}

static void refused(void)
{
	static const char *const lines[] = {
		"foo", "set", "set foo 1", "SET NUMBER 7", "set num 7", "se",
		"set bias", "set bias foo 1", "number 7", "setnumber 7",
		"set number7", "set number", "set number 0", "set number -3",
		"set number abc", "set number 7x", "set number 0x10",
		"set number 7.5", "set number 99999999999999999999",
		"set size", "set size abc", "set size 0 0", "set size -5 100",
		"set size 1 x", "set seed 0", "set seed -1",
		"set transactions 0", "set subdirectories -10", "set read 0",
		"set write 4k", "set buffering", "set buffering foo",
		"set buffering falsexx", "set bias read 11", "set bias read -2",
		"set bias read", "set report", "set report foo",
		"set location", "set valid 101", "set invalid -1",
		"set drop-caches", "set monitor", "load", "load /nonexistent",
	};
	struct ffsmark_params before;
	size_t i;

	start();
	before = pm.params;
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		CHECKF(!say(lines[i]), "accepted: %s", lines[i]);
		CHECKF(!memcmp(&before, &pm.params, sizeof(before)),
		       "changed something: %s", lines[i]);
	}
	CHECK(!pm.quit && !pm.runs);
	stop();
}

static void locations(void)
{
	const struct ffsmark_params *p = &pm.params;

	start();
	CHECK(say("set location /a") && p->n_locations == 1);
	CHECK(!strcmp(p->locations[0].path, "/a"));
	CHECK(p->locations[0].weight == 1);
	CHECK(say("set location /b 3") && p->n_locations == 1);
	CHECK(p->locations[0].weight == 3);
	CHECK(say("set location +/c 2") && p->n_locations == 2);
	CHECK(!strcmp(p->locations[1].path, "/c"));
	CHECK(say("set location -/b") && p->n_locations == 1);
	CHECK(!strcmp(p->locations[0].path, "/c"));
	CHECK(!say("set location -/b"));
	/* As Postmark: a weight that is none is reported and taken for 1. */
	CHECK(!say("set location /d x") && p->n_locations == 1);
	CHECK(!strcmp(p->locations[0].path, "/d"));
	CHECK(say("show"));
	stop();
}

static void load_itself(void)
{
	char path[256], line[300];
	FILE *file;
	int fd;

	scratch_template(path, sizeof(path), "load");
	fd = mkstemp(path);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!CHECK(file != NULL))
		return;
	fprintf(file, "set number 77\nload %s\nset seed 5\n", path);
	fclose(file);
	start();
	snprintf(line, sizeof(line), "load %s", path);
	CHECK(!say(line));
	CHECK(pm.params.number == 77 && pm.params.seed == 5);
	stop();
	remove(path);
}

void test_postmark(void)
{
	settings();
	refused();
	locations();
	load_itself();
}
