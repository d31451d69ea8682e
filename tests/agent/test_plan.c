// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_plan.c - plans that are right, and every kind of plan that is not.
 */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "plan/plan.h"
#include "plan/verbs.h"

static void decoding(void)
{
	static const struct {
		const char *in, *out;	/* NULL: refused */
	} cases[] = {
		{ "", "" },
		{ "plain", "plain" },
		{ "a%20b", "a b" },
		{ "%25%3d%3D", "%==" },
		{ "%0a%7F%ff", "\n\x7f\xff" },
		{ "%", NULL },
		{ "%2", NULL },
		{ "a%2", NULL },
		{ "%zz", NULL },
		{ "%2g", NULL },
		{ "%00", NULL },
		{ "%%20", NULL },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[32];
		int result;

		strcpy(text, cases[i].in);
		result = percent_decode(text);
		CHECKF(cases[i].out ? !result && !strcmp(text, cases[i].out) :
				      result == -1,
		       "'%s' gives %d '%s'", cases[i].in, result, text);
	}
}

static int parse(struct plan *plan, const char *text, struct ffs_error *error)
{
	/* An exact copy, so that a sanitizer sees reading beyond the end. */
	size_t bytes = strlen(text);
	char *copy = malloc(bytes ? bytes : 1);
	int result;

	memcpy(copy, text, bytes);
	result = plan_parse(plan, copy, bytes, error);
	free(copy);
	return result;
}

static void good_plan(void)
{
	static const char text[] =
		"ffsplan 1\n"
		"# a comment, = % and all\n"
		"\n"
		"   \n"
		"insmod path=/m/vnand.ko args=chip%3d%22a%3db%22\n"
		"monitor mtd=data label=mon\n"
		"trace on=1\n"
		"erase mtd=data\n"
		"ubi-attach mtd=data ubi=3 vid_hdr_offset=2048 max_beb_per1024=20\n"
		"ubi-mkvol ubi=3 name=vol%201 size=1048576\n"
		"ubi-mkvol\n"
		"mount type=ubifs source=ubi3:vol flags=sync,noatime options=a=b\n"
		"snapshot label=here\n"
		"ffsmark bias_read=-1 seed=18 size_min=10240\n"
		"prepare state=filled rate_percent=40 partition_bytes=100 file_bytes=4096 test_file=1\n"
		"micro pattern=sequential-read existing=1 increment=-1 cache=bypass\n"
		"micro mix_pattern=\n"
		"  sync   may_fail=1  \n"
		"drop-caches\n"
		"sleep ms=0\n"
		"exec path=ls args=-l%20/\n"
		"shell\n"
		"umount target=/a\n"
		"ubi-detach ubi=3\n"
		"write-image mtd=data path=/h/i oob=1 phase=write\n"
		"memory label=write\n"
		"ubi-attach mtd=data block=2 phase=attach-2";	/* no newline at the end */
	struct ffs_error error = { 0 };
	const struct plan_step *s;
	struct plan plan;

	if (!CHECKF(!parse(&plan, text, &error), "%s", error.message))
		return;
	CHECK(plan.n_steps == 23);
	s = plan.steps;
	CHECK(!strcmp(step_text(&s[0], "args"), "chip=\"a=b\""));
	CHECK(s[0].line == 5 && !strcmp(s[0].label, ""));
	CHECK(!strcmp(s[1].label, "mon"));
	CHECK(step_number(&s[2], "on") == 1);
	CHECK(step_number(&s[4], "ubi") == 3);
	CHECK(step_number(&s[4], "vid_hdr_offset") == 2048);
	CHECK(!strcmp(step_text(&s[5], "name"), "vol 1"));
	CHECK(step_number(&s[5], "size") == 1048576);
	CHECK(step_number(&s[6], "size") == PLAN_SIZE_MAX);
	CHECK(!strcmp(step_text(&s[6], "name"), "data"));
	CHECK(!strcmp(step_text(&s[7], "target"), "/mnt"));
	CHECK(!strcmp(step_text(&s[7], "options"), "a=b"));
	CHECK(step_number(&s[9], "bias_read") == -1);
	CHECK(step_number(&s[9], "bias_create") == 5);
	CHECK(step_number(&s[9], "number") == 5000);
	CHECK(step_number(&s[9], "transactions") == 15000);
	CHECK(step_number(&s[9], "drop_caches") == 1);
	CHECK(step_number(&s[10], "state") == 3);
	CHECK(step_number(&s[10], "unit_bytes") == 131072);
	CHECK(step_number(&s[11], "pattern") == 0);
	CHECK(step_number(&s[11], "increment") == -1);
	CHECK(step_number(&s[11], "cache") == 1);
	CHECK(step_number(&s[11], "mix_pattern") == -1);
	CHECK(step_number(&s[12], "pattern") == 3);
	CHECK(step_number(&s[12], "mix_pattern") == -1);
	CHECK(s[13].may_fail && !s[12].may_fail);
	CHECK(!strcmp(step_text(&s[16], "args"), "-l /"));
	CHECK(step_number(&s[4], "block") == -1);
	CHECK(!strcmp(step_text(&s[18], "phase"), ""));
	CHECK(step_number(&s[20], "oob") == 1);
	CHECK(!strcmp(step_text(&s[20], "phase"), "write"));
	CHECK(step_number(&s[22], "block") == 2);
	plan_free(&plan);
	CHECK(!parse(&plan, "ffsplan 1\n", &error) && plan.n_steps == 0);
	plan_free(&plan);
}

/* Each is one line after a good header; the message must hold the words. */
static const struct {
	const char *line, *words;
} bad_lines[] = {
	{ "frobnicate", "unknown verb 'frobnicate'" },
	{ "Mount type=a source=b", "unknown verb" },
	{ "mount source=x", "'mount' needs type=" },
	{ "mount type=jffs2", "needs source=" },
	{ "mount type= source=x", "'type' is empty" },
	{ "mount type=a source=b colour=red", "no key 'colour'" },
	{ "mount type=a source=b type=c", "'type' is given twice" },
	{ "mount type=a source=b target=mnt", "not an absolute path" },
	{ "mount type=a source=b flags=sync,fast", "unknown mount flag 'fast'" },
	{ "mount type=a source=b flags=syn", "unknown mount flag 'syn'" },
	{ "mount type=a source=b flags=,sync", "unknown mount flag ''" },
	{ "mount jffs2", "not key=value" },
	{ "mount type=a%2 source=b", "broken %-escape" },
	{ "mount type=%00 source=b", "broken %-escape" },
	{ "insmod path=", "not an absolute path" },
	{ "insmod path=vnand.ko", "not an absolute path" },
	{ "sleep", "needs ms=" },
	{ "sleep ms=", "ms= is out of range" },
	{ "sleep ms=-1", "out of range" },
	{ "sleep ms=1s", "out of range" },
	{ "sleep ms=0x10", "out of range" },
	{ "sleep ms=%201", "out of range" },
	{ "sleep ms=99999999999999999999", "out of range" },
	{ "sleep ms=1 may_fail=2", "may_fail=2 must be 0 or 1" },
	{ "sleep ms=1 may_fail=1 may_fail=1", "'may_fail' is given twice" },
	{ "sleep ms=1 label=", "'label' is empty" },
	{ "sleep ms=1 label=a label=b", "'label' is given twice" },
	{ "trace on=2", "from 0 to 1" },
	{ "trace on=1", "needs a 'monitor' step before" },
	{ "snapshot", "needs label=" },
	{ "snapshot label=x", "needs a 'monitor' step before" },
	{ "memory", "'memory' needs label=" },
	{ "write-image mtd=a", "'write-image' needs path=" },
	{ "write-image mtd=a path=b", "not an absolute path" },
	{ "write-image mtd=a path=/b oob=2", "from 0 to 1" },
	{ "write-image mtd=a path=/b in_place=2", "from 0 to 1" },
	{ "ubi-attach mtd=a ubi=32", "from 0 to 31" },
	{ "ubi-attach mtd=a block=128", "from -1 to 127" },
	{ "trace on=1 phase=x", "no key 'phase'" },
	{ "ubi-attach mtd=a max_beb_per1024=769", "from 0 to 768" },
	{ "ubi-mkvol size=0", "neither a number of bytes" },
	{ "ubi-mkvol size=Max", "neither a number of bytes" },
	{ "ffsmark number=0", "from 1 to" },
	{ "ffsmark bias_read=11", "from -1 to 10" },
	{ "ffsmark bias_create=-2", "from -1 to 10" },
	{ "ffsmark verify=yes", "from 0 to 1" },
	{ "ffsmark size_min=20 size_max=10", "size_min is above size_max" },
	{ "ffsmark valid_percent=60 invalid_percent=41", "is 101" },
	{ "ffsmark valid_percent=101", "from 0 to 100" },
	{ "prepare state=full", "no state 'full'; it takes one of free, aged, saturated, filled" },
	{ "prepare state=", "no state ''" },
	{ "prepare valid_percent=5", "are of state=aged, not of free" },
	{ "prepare state=aged valid_percent=60 invalid_percent=41", "is 101" },
	{ "prepare state=aged rate_percent=5", "rate_percent is of state=filled" },
	{ "prepare state=filled rate_percent=5", "needs rate_percent and partition_bytes" },
	{ "prepare state=filled partition_bytes=5", "needs rate_percent and" },
	{ "prepare test_file=1", "set file_bytes" },
	{ "prepare unit_bytes=511", "from 512 to" },
	{ "micro pattern=random", "no pattern 'random'; it takes one of sequential-read, random-read, sequential-write, random-write" },
	{ "micro mix_pattern=reads", "no mix_pattern 'reads'" },
	{ "micro cache=off", "one of drop, bypass, keep" },
	{ "micro random=yes", "one of shuffle, uniform" },
	{ "micro pattern=random-read", "reads need a file that is there" },
	{ "micro mix_pattern=random-read", "reads need a file that is there" },
	{ "micro mix_pattern=random-write", "is the pattern itself" },
	{ "micro existing=1 mix_pattern=random-read parallel=2", "mix_pattern needs parallel=1" },
	{ "micro partitions=2", "order the requests of a sequential pattern" },
	{ "micro increment=0", "order the requests of a sequential pattern" },
	{ "micro pattern=sequential-write partitions=2 increment=2", "leave one of them at 1" },
	{ "micro request_bytes=8192 file_bytes=4096", "larger than the target" },
	{ "micro request_bytes=8192 existing=1 target_bytes=4096", "larger than the target" },
	{ "micro file_bytes=4096 target_bytes=8192", "larger than the file" },
	{ "micro shift_bytes=20971520", "leaves no room" },
	{ "micro parallel=65", "from 1 to 64" },
	{ "micro request_bytes=0", "from 1 to" },
	{ "micro request_bytes=1", "500000 can be recorded" },
	{ "micro volume_bytes=4095 file_bytes=8192", "less than one request" },
	{ "micro volume_bytes=4095 existing=1", "less than one request" },
	{ "micro volume_bytes=4096 file_bytes=8192 parallel=2", "for each of 2 streams" },
	{ "append-log line_bytes=15", "from 16 to" },
	{ "append-log keep=100", "from 0 to 99" },
	{ "append-log lines=0", "from 1 to" },
	{ "append-log sync=no", "one of fsync, fdatasync" },
	{ "append-log rotate_bytes=127", "less than one line" },
	{ "database page_bytes=4095", "no power of two" },
	{ "database page_bytes=256", "from 512 to" },
	{ "database journal=off", "one of delete, wal" },
	{ "database database_bytes=8192", "needs more of them" },
	{ "database settle_ms=1", "sleep after a removal" },
	{ "tiobench block_bytes=15", "from 16 to" },
	{ "tiobench block_bytes=1048577", "to 1048576" },
	{ "tiobench threads=65", "from 1 to 64" },
	{ "tiobench sync=no", "one of none, end" },
	{ "tiobench contents=words", "one of random, zeros" },
	{ "tiobench random_bytes=131071", "must have room for a block" },
	{ "tiobench block_bytes=256 full=1", "keeps every latency" },
	{ "tiobench settle_ms=1", "sleep after a removal" },
	{ "exec args=x", "needs path=" },
	{ "exec path=a\r", "Windows line ends" },
	{ "exec path=a\tb", "control character 0x09" },
	{ "drop-caches now=1", "it knows phase, label, may_fail" },
};

static void bad_plans(void)
{
	struct ffs_error error;
	struct plan plan;
	size_t i;

	for (i = 0; i < sizeof(bad_lines) / sizeof(bad_lines[0]); i++) {
		char text[256];
		int result;

		snprintf(text, sizeof(text), "ffsplan 1\nsleep ms=1\n%s\nsync\n",
			 bad_lines[i].line);
		result = parse(&plan, text, &error);
		CHECKF(result == -1, "accepted: %s", bad_lines[i].line);
		if (!result) {
			plan_free(&plan);
			continue;
		}
		CHECKF(strstr(error.message, bad_lines[i].words) &&
		       !strncmp(error.message, "line 3: ", 8),
		       "'%s' is answered by '%s'", bad_lines[i].line,
		       error.message);
	}
	CHECK(parse(&plan, "", &error) == -1);
	CHECK(parse(&plan, "ffsplan 2\n", &error) == -1);
	CHECK(parse(&plan, "ffsplan 1 \n", &error) == -1);
	CHECK(parse(&plan, "\nffsplan 1\n", &error) == -1);
	CHECK(plan_parse(&plan, "ffsplan 1\nsy\0nc\n", 16, &error) == -1);
}

static void many_steps(void)
{
	enum { STEPS = 1000 };
	char *text = malloc(STEPS * 16), *end = text;
	struct ffs_error error;
	struct plan plan;
	int i;

	end += sprintf(end, "ffsplan 1\n");
	for (i = 0; i < STEPS; i++)
		end += sprintf(end, "sleep ms=%d\n", i);
	if (CHECK(!plan_parse(&plan, text, (size_t)(end - text), &error))) {
		CHECK(plan.n_steps == STEPS);
		CHECK(step_number(&plan.steps[STEPS - 1], "ms") == STEPS - 1);
		plan_free(&plan);
	}
	free(text);
}

static bool has_key(const struct verb_spec *verb, const char *name,
		    enum key_kind kind)
{
	const struct key_spec *key;

	for (key = verb->keys; key->name; key++)
		if (!strcmp(key->name, name))
			return key->kind == kind;
	return false;
}

/* What a row promises by its flags its keys must have. */
static void rows(void)
{
	const struct verb_spec *verb = NULL;
	unsigned int seen = 0, may_fill = 0;

	while ((verb = plan_verb_next(verb))) {
		seen++;
		may_fill += !!(verb->flags & VERB_MAY_FILL);
		CHECKF(verb->run && plan_verb(verb->name) == verb,
		       "%s: no function, or its name is there twice",
		       verb->name);
		CHECKF(!(verb->flags & VERB_SEEDED) ||
		       has_key(verb, "seed", KEY_NUMBER), "%s", verb->name);
		CHECKF(!(verb->flags & VERB_PHASE) ||
		       has_key(verb, "phase", KEY_TEXT), "%s", verb->name);
		CHECKF(!verb->keys[PLAN_KEYS_MAX - 1].name,
		       "%s has no end of its keys", verb->name);
	}
	CHECK(seen > 30 && may_fill >= 7);
	CHECK(!plan_verb("unknown") && !plan_verb(""));
}

void test_plan(void)
{
	rows();
	decoding();
	good_plan();
	bad_plans();
	many_steps();
}
