// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_step_keys.c - what the keys of the steps append-log and tiobench become, which
 * of them contradict each other, and their limits (docs/plan-format.md).
 */
#include <string.h>

#include "harness.h"
#include "plan/content_keys.h"
#include "plan/plan.h"
#include "workloads/append_log/params.h"
#include "workloads/tiobench/params.h"

/* Return: whether a plan of one step is right; then @plan is to be freed. */
static bool parsed(struct plan *plan, const char *verb, const char *keys,
		   struct ffs_error *error)
{
	char text[512];

	snprintf(text, sizeof(text), "ffsplan 1\n%s %s\n", verb, keys);
	return !plan_parse(plan, text, strlen(text), error);
}

/* @words: of the message; NULL: the keys are good. */
static void keys_are(const char *verb, const char *keys, const char *words)
{
	struct ffs_error error = { .message = "" };
	struct plan plan;
	bool good = parsed(&plan, verb, keys, &error);

	CHECKF(good == !words, "%s %s: %s", verb, keys, error.message);
	if (good)
		plan_free(&plan);
	else if (words)
		CHECKF(!error.errnum && strstr(error.message, words),
		       "%s %s: '%s' has no '%s'", verb, keys, error.message,
		       words);
}

static void append_log_keys(void)
{
	static const char keys[] =
		"dir=/d lines=11 line_bytes=22 interval_us=33 fsync_every=44 "
		"sync=fdatasync rotate_bytes=55 keep=66 remove=1 settle_ms=77 "
		"seed=88 verify=1";
	struct append_log_params params;
	struct ffs_error error;
	struct plan plan;

	if (!CHECK(parsed(&plan, "append-log", keys, &error)))
		return;
	append_log_params_read(&params, plan.steps);
	CHECK(!strcmp(params.dir, "/d") && params.lines == 11 &&
	      params.line_bytes == 22 && params.interval_us == 33);
	CHECK(params.fsync_every == 44 && params.sync == LOG_FDATASYNC &&
	      params.rotate_bytes == 55 && params.keep == 66);
	CHECK(params.remove && params.settle_ms == 77 && params.seed == 88 &&
	      params.verify);
	plan_free(&plan);
	if (!CHECK(parsed(&plan, "append-log", "sync=fsync", &error)))
		return;
	append_log_params_read(&params, plan.steps);
	CHECK(params.sync == LOG_FSYNC && !params.remove && !params.verify);
	plan_free(&plan);
}

/* No system call is to blame for keys that contradict each other. */
static void append_log_contradictions(void)
{
	struct append_log_params small = { .line_bytes = 200, .rotate_bytes = 199 };
	struct append_log_params idle = { .settle_ms = 5 };
	struct ffs_error error = { .errnum = -1 };

	CHECK(append_log_params_check(&small, &error) && !error.errnum);
	error.errnum = -1;
	CHECK(append_log_params_check(&idle, &error) && !error.errnum);
	idle.remove = true;
	CHECK(!append_log_params_check(&idle, &error));
}

static void append_log_limits(void)
{
	static const struct {
		const char *keys, *words;
	} cases[] = {
		{ "lines=1000000000", NULL },
		{ "lines=1000000001", "lines" },
		{ "line_bytes=16", NULL },
		{ "line_bytes=15", "line_bytes" },
		{ "line_bytes=65536", NULL },
		{ "line_bytes=65537", "line_bytes" },
		{ "keep=99", NULL },
		{ "keep=100", "keep" },
		/* A file has room for one line at least, if it is rotated. */
		{ "line_bytes=200 rotate_bytes=200", NULL },
		{ "line_bytes=200 rotate_bytes=199", "less than one line" },
		{ "line_bytes=200 rotate_bytes=0", NULL },
		/* There is nothing to settle where nothing was removed. */
		{ "remove=1 settle_ms=5", NULL },
		{ "remove=1 settle_ms=0", NULL },
		{ "remove=0 settle_ms=5", "settle_ms=5" },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		keys_are("append-log", cases[i].keys, cases[i].words);
}

static void tiobench_keys(void)
{
	static const char keys[] =
		"dir=/d threads=2 file_bytes=3000 random_bytes=4000 "
		"block_bytes=55 sync=end contents=zeros drop_caches=0 full=1 "
		"remove=1 settle_ms=66 seed=77";
	struct tio_params params;
	struct ffs_error error;
	struct plan plan;

	if (!CHECK(parsed(&plan, "tiobench", keys, &error)))
		return;
	tio_params_read(&params, plan.steps);
	CHECK(!strcmp(params.dir, "/d") && params.threads == 2 &&
	      params.file_bytes == 3000 && params.random_bytes == 4000);
	CHECK(params.block_bytes == 55 && params.sync == TIO_SYNC_END &&
	      params.contents.kind == CONTENT_ZEROS && !params.drop_caches);
	CHECK(params.full && params.remove && params.settle_ms == 66 &&
	      params.seed == 77);
	plan_free(&plan);
	if (!CHECK(parsed(&plan, "tiobench", "sync=none contents=random "
			  "drop_caches=1", &error)))
		return;
	tio_params_read(&params, plan.steps);
	CHECK(params.sync == TIO_SYNC_NONE &&
	      params.contents.kind == CONTENT_RANDOM && params.drop_caches && !params.full && !params.remove);
	plan_free(&plan);
}

static void tiobench_limits(void)
{
	static const struct {
		const char *keys, *words;
	} cases[] = {
		{ "threads=64", NULL },
		{ "threads=65", "threads" },
		{ "block_bytes=16", NULL },
		{ "block_bytes=15", "block_bytes" },
		{ "block_bytes=1048576", NULL },
		{ "block_bytes=1048577", "block_bytes" },
		{ "remove=1 settle_ms=5", NULL },
		{ "remove=0 settle_ms=5", "settle_ms=5" },
		/* 99 bytes for each of two threads. */
		{ "threads=2 file_bytes=199 block_bytes=100", "must have room" },
		{ "threads=2 random_bytes=199 block_bytes=100", "must have room" },
		{ "threads=2 file_bytes=200 random_bytes=200 block_bytes=100",
		  NULL },
		/* 65,536 requests of 16 bytes in each of the four phases. */
		{ "file_bytes=1048576 random_bytes=1048576 block_bytes=16 full=1",
		  NULL },
		{ "file_bytes=1048592 random_bytes=1048576 block_bytes=16 full=1",
		  "262146 requests, above 262144" },
		{ "file_bytes=1048592 random_bytes=1048576 block_bytes=16 full=0",
		  NULL },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		keys_are("tiobench", cases[i].keys, cases[i].words);
}

/* What each step that writes takes for its contents. */
static void keys_of_contents(void)
{
	static const struct {
		const char *verb, *keys;
		enum content_kind otherwise;
	} verbs[] = {
		{ "prepare", "", CONTENT_RANDOM },
		{ "micro", "", CONTENT_RANDOM },
		{ "tiobench", "", CONTENT_RANDOM },
		{ "wear", "", CONTENT_RANDOM },
		{ "append-log", "", CONTENT_TEXT },
		{ "ffsmark", "", CONTENT_PRINTABLE },
		{ "database", "", CONTENT_TEXT },
		{ "tree-create", "dir=/t phase=p ", CONTENT_RANDOM },
		{ "tree-check", "dir=/t phase=p ", CONTENT_RANDOM },
		{ "tree-warm", "phase=p ", CONTENT_RANDOM },
	};
	struct content_choice choice;
	struct ffs_error error;
	struct plan plan;
	char keys[128];
	size_t i, k;

	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		for (k = 0; content_kind_names[k]; k++) {
			snprintf(keys, sizeof(keys), "%scontents=%s",
				 verbs[i].keys, content_kind_names[k]);
			if (!CHECK(parsed(&plan, verbs[i].verb, keys, &error)))
				continue;
			choice = content_choice_of(plan.steps, CONTENT_ZEROS);
			CHECK(choice.kind == k && !choice.saving_percent);
			plan_free(&plan);
		}
		snprintf(keys, sizeof(keys), "%scontents=compressible "
			 "compressibility_percent=30", verbs[i].keys);
		keys_are(verbs[i].verb, keys, NULL);
		snprintf(keys, sizeof(keys), "%scontents=zeros "
			 "compressibility_percent=30", verbs[i].keys);
		keys_are(verbs[i].verb, keys, "not of zeros");
		if (!CHECK(parsed(&plan, verbs[i].verb, verbs[i].keys, &error)))
			continue;
		choice = content_choice_of(plan.steps, verbs[i].otherwise);
		CHECKF(choice.kind == verbs[i].otherwise, "%s", verbs[i].verb);
		plan_free(&plan);
	}
	keys_are("micro", "contents=words", "contents");
}

void test_step_keys(void)
{
	keys_of_contents();
	append_log_keys();
	append_log_contradictions();
	append_log_limits();
	tiobench_keys();
	tiobench_limits();
}
