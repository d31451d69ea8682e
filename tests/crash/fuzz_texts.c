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

const char *const fuzz_seeds[] = {
	"mkdir d\ncreate d/a\nwrite d/a 5 6 7\nwritesync d/a 0 1 2\n"
	"append d/a 3 4\ntruncate d/a 9\nfsync d\nfdatasync d/a\nsync\n"
	"rename a b\nlink a b\nsymlink t s\nunlink s\nrmdir d\nmkfifo p\n",
	"state standing\nlevel 0\noperations 12\nposition 5\ncut lost 0\n"
	"recorded 7\noperation 5 touched 1\nvariants lost 1\n",
	"array_reads 5\ncached_reads 1\nprograms 6\noob_programs 2\nerases 7\n",
	NULL,
};

const char *const fuzz_words[] = {
	"mkdir ", "write ", "rename ", "symlink ", "truncate ", "sync", "..",
	"/", "//", "a/b", " ", "  ", "\n", "0", "1", "-1",
	"9223372036854775807", "18446744073709551615", "67108864", "67108865",
	"operations ", "recorded ", " touched 1", "state full",
	"array_reads 1\n", "programs 2\n", "erases 3\n", NULL,
};

static void check_path(const char *path)
{
	assert(path && *path && *path != '/' && strcmp(path, ".."));
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
		if (op->kind != OP_SYNC)
			check_path(op->path);
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void (*const checks[])(char *) = { check_chip, check_history };
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
