// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz_texts.c - fuzz target: every parser of ffscrash on every input.  What they
 * accept keeps the promises of their headers.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "chip/chip.h"
#include "fuzz.h"
#include "history/history.h"
#include "walk/messages.h"
#include "walk/states.h"

const char *const fuzz_seeds[] = {
	"mkdir d\ncreate d/a\nwrite d/a 5 6 7\nwritesync d/a 0 1 2\n"
	"append d/a 3 4\ntruncate d/a 9\nfsync d\nfdatasync d/a\nsync\n"
	"rename a b\nlink a b\nsymlink t s\nunlink s\nrmdir d\nmkfifo p\n",
	"open @0 a\nopensync @1 a\nopendsync @2 a\nwrite @0 5 6 7\nappend @1 3 4\n"
	"truncate @2 9\nfsync @0\nfdatasync @0\nmapwrite @0 1 2 3\nmsync @0\n"
	"syncrange @0 0 4096\ndup @0 @15\nclose @15\n",
	"exchange a b\nrenamenew a b\nwhiteout a b\ntmpfile @0 .\nlinkfd @0 c\n"
	"chmod a 640\nsetmtime a 9\nsetxattr a user.x 5 1\nremovexattr a user.x\n",
	"state standing\nlevel 0\noperations 12\nposition 5\ncut lost 0\n"
	"recorded 7\noperation 5 touched 1\nvariants lost 1\n",
	"array_reads 5\ncached_reads 1\nprograms 6\noob_programs 2\nerases 7\n",
	"0 lost 0\n17 torn-bits 5\n1 done 2 3 erase-half 4\n5 lost 0 * lost 1\n"
	"6 lost 0 12+ paired 3\n",
	"<4>[    1.000002] jffs2: a warning\n<6>[    2.5] info\n<12>text\n",
	NULL,
};

const char *const fuzz_words[] = {
	"mkdir ", "write ", "rename ", "symlink ", "truncate ", "sync", "..",
	"open @1 ", "@2", "@16", "dup @1 @2\n", "/", "//", "a/b", " ", "  ", "\n", "0", "1", "-1",
	"9223372036854775807", "18446744073709551615", "67108864", "67108865",
	"operations ", "recorded ", " touched 1", "state full",
	"array_reads 1\n", "programs 2\n", "erases 3\n", "* ",
	"+ ", "lost ", "1 lost 0\n", "<4>", "<", ">", "[", "]", NULL,
};

static void check_path(const char *path)
{
	assert(path && *path && *path != '/' && *path != '@' && strcmp(path, ".."));
	assert(strncmp(path, "../", 3) && !strstr(path, "/../"));
	assert(!strchr(path, ' ') && !strchr(path, '\n'));
}

static void check_history(char *text)
{
	struct history history;
	struct ffs_error error;
	size_t i;

	if (history_parse(&history, text, &error)) {
		assert(!strncmp(error.message, "line ", 5));
		assert(!history.ops);
		return;
	}
	for (i = 0; i < history.n; i++) {
		const struct op *op = &history.ops[i];

		assert(op->kind < OP_KINDS);
		if (op->path)
			check_path(op->path);
		assert(op->kind == OP_SYNC || op->kind == OP_REMOUNT ||
		       op->kind == OP_LINKFD ||
		       !op->path == (op->descriptor >= 0));
		assert(op->descriptor < HISTORY_DESCRIPTORS);
		assert(op->filled < HISTORY_DESCRIPTORS);
		assert((op->filled >= 0) ==
		       (op->kind == OP_TMPFILE ||
			(op->kind >= OP_OPEN && op->kind <= OP_DUP)));
		assert(op->bytes <= INT64_MAX && op->offset <= INT64_MAX);
		assert(op->offset + op->bytes <= INT64_MAX);
	}
	history_free(&history);
}

static void check_chip(char *text)
{
	struct chip_state state;
	struct chip_counts counts;

	if (chip_parse_state(text, &state))
		assert(strstr(text, "operations "));
	if (chip_parse_counts(text, &counts))
		assert(strstr(text, "array_reads ") && strstr(text, "erases "));
}

static void check_states(char *text)
{
	struct states states;
	struct ffs_error error;
	size_t i;

	if (states_parse(&states, text, &error)) {
		assert(!strncmp(error.message, "line ", 5) && !states.lines);
		return;
	}
	for (i = 0; i < states.n; i++) {
		assert(*states.lines[i].cut.kind);
		assert(!states.lines[i].deeper == !*states.lines[i].second.kind);
		assert(states.lines[i].deeper || !states.lines[i].onwards);
	}
	states_free(&states);
}

/* Every line printed has a level that is asked for, and printing bytes only. */
static void check_messages(char *text)
{
	struct text raw = { .data = text, .n = strlen(text) }, out = { 0 };
	size_t i;

	messages_filter(&raw, MESSAGES_WARNINGS, &out);
	assert(!out.n || out.data[out.n - 1] == '\n');
	for (i = 0; i < out.n; i++) {
		if (!i || out.data[i - 1] == '\n')
			assert(out.data[i] >= '0' && out.data[i] <= '4' &&
			       out.data[i + 1] == ' ');
		assert(out.data[i] == '\n' ||
		       (out.data[i] >= ' ' && out.data[i] < 0x7f) ||
		       (unsigned char)out.data[i] >= 0x80);
	}
	text_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void (*const checks[])(char *) = { check_chip, check_messages,
					   check_history, check_states };
	size_t i;

	for (i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
		/* Exactly as large as the input, so that overreads are caught. */
		char *text = malloc(size + 1);

		assert(text);
		memcpy(text, data, size);
		text[size] = '\0';
		checks[i](text);
		free(text);
	}
	return 0;
}
