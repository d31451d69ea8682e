// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz_postmark.c - fuzz target: Postmark's command language.  Whatever the
 * lines say, the settings stay within what the workload can run.  Nothing is
 * run, and no file is loaded.
 */
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "postmark/postmark.h"

const char *const fuzz_seeds[] = {
	"set size 500 10000\nset number 100\nset seed 3\nset transactions 9\n"
	"set subdirectories 4\nset read 512\nset write 512\nshow\nrun\nquit\n",
	"set location /a 1\nset location +/b 3\nset location -/a\nshow\n",
	"set buffering false\nset bias read 3\nset bias create -1\n"
	"set report terse\nset report verbose\nhelp set\n",
	"# c\nset valid 50\nset invalid 25\nset drop-caches true\n"
	"set monitor data\nset verify true\nset full false\nrun out\n",
	NULL,
};

const char *const fuzz_words[] = {
	"set ", "size ", "number ", "seed ", "location ", "+/", "-/", "bias ",
	"read ", "create ", "report ", "terse", "buffering ", "true", "false",
	"-1", "0", "4294967296", "99999999999999999999", "\n", "\r", "\t", "#",
	"help ", "show\n", "run ", "load ", "monitor ", "valid ", NULL,
};

static void check_settings(const struct postmark *pm)
{
	const struct ffsmark_params *p = &pm->params;
	size_t i;

	assert(p->number >= 1 && p->number <= 10000000);
	assert(p->size_min >= 1 && p->size_min <= p->size_max);
	assert(p->size_max <= INT_MAX);
	assert(p->transactions <= 100000000);
	assert(p->read_bytes >= 1 && p->write_bytes >= 1);
	assert(p->bias_read >= -1 && p->bias_read <= 10);
	assert(p->bias_create >= -1 && p->bias_create <= 10);
	assert(p->valid_percent <= 100 && p->invalid_percent <= 100);
	for (i = 0; i < p->n_locations; i++)
		assert(*p->locations[i].path && p->locations[i].weight >= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct record_sink sink;
	static FILE *nowhere;
	struct postmark pm;
	char *text = malloc(size + 1), *rest = text, *line;
	unsigned int number = 0;

	assert(text);
	memcpy(text, data, size);
	text[size] = '\0';
	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	assert(nowhere);
	record_sink_init(&sink, -1);
	postmark_init(&pm, &sink);
	pm.out = nowhere;
	pm.errors = nowhere;
	pm.dry = true;
	pm.load_depth = UINT_MAX;	/* refuses every file */
	while (!pm.quit && (line = strsep(&rest, "\n"))) {
		postmark_line(&pm, "fuzz", ++number, line);
		check_settings(&pm);
	}
	postmark_free(&pm);
	free(text);
	return 0;
}
