// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "harness.h"
#include "history/history.h"

void test_history(void);

static void all_operations(void)
{
	char text[] = "mkdir d\ncreate d/a\nwrite d/a 5 6 7\n"
		      "writesync d/a 0 1 2\nappend d/a 3 4\ntruncate d/a 9\n"
		      "fsync d\nfdatasync d/a\nmapwrite @0 8 9 10\nmsync @15\n"
		      "syncrange @1 11 12\nsync\nopen @2 d/a\n"
		      "opensync @3 d/a\nopendsync @4 d/a\ndup @4 @5\nclose @6\n"
		      "rename a b\nlink a b\n"
		      "symlink /x/../y s\nunlink s\nrmdir d\nmkfifo p\n"
		      "exchange a b\nrenamenew a b\nwhiteout a b\n"
		      "tmpfile @7 .\nlinkfd @7 c\nchmod a 0640\n"
		      "setmtime a 12\nsetxattr a user.x 13 14\n"
		      "removexattr a user.x\nfill f 9\n"
		      "turnover t\nremount";
	struct history history;
	struct ffs_error error;
	size_t i;

	if (!CHECK(!history_parse(&history, text, &error)))
		return;
	CHECK(history.n == OP_KINDS);
	for (i = 0; i < history.n; i++)
		CHECKF(history.ops[i].kind == (enum op_kind)i, "%zu", i);
	CHECK(history.ops[OP_WRITE].offset == 5);
	CHECK(history.ops[OP_WRITE].bytes == 6);
	CHECK(history.ops[OP_WRITE].seed == 7);
	CHECK(history.ops[OP_APPEND].bytes == 3);
	CHECK(history.ops[OP_APPEND].seed == 4);
	CHECK(history.ops[OP_TRUNCATE].bytes == 9);
	CHECK(!strcmp(history.ops[OP_RENAME].other, "a"));
	CHECK(!strcmp(history.ops[OP_RENAME].path, "b"));
	CHECK(!strcmp(history.ops[OP_SYMLINK].other, "/x/../y"));
	CHECK(!strcmp(history.ops[OP_SYMLINK].path, "s"));
	CHECK(history.ops[OP_FSYNC].descriptor == -1);
	CHECK(history.ops[OP_FSYNC].filled == -1);
	CHECK(history.ops[OP_MAPWRITE].descriptor == 0);
	CHECK(history.ops[OP_MAPWRITE].offset == 8);
	CHECK(history.ops[OP_MAPWRITE].bytes == 9);
	CHECK(history.ops[OP_MAPWRITE].seed == 10);
	CHECK(history.ops[OP_MSYNC].descriptor == 15);
	CHECK(history.ops[OP_SYNCRANGE].offset == 11);
	CHECK(history.ops[OP_SYNCRANGE].bytes == 12);
	CHECK(history.ops[OP_OPEN].filled == 2);
	CHECK(history.ops[OP_OPEN].descriptor == -1);
	CHECK(!strcmp(history.ops[OP_OPEN].path, "d/a"));
	CHECK(history.ops[OP_DUP].descriptor == 4);
	CHECK(history.ops[OP_DUP].filled == 5);
	CHECK(history.ops[OP_CLOSE].descriptor == 6);
	CHECK(!strcmp(history.ops[OP_WHITEOUT].other, "a"));
	CHECK(history.ops[OP_TMPFILE].filled == 7);
	CHECK(history.ops[OP_LINKFD].descriptor == 7);
	CHECK(!strcmp(history.ops[OP_LINKFD].path, "c"));
	CHECK(history.ops[OP_CHMOD].bytes == 0640);
	CHECK(history.ops[OP_SETMTIME].bytes == 12);
	CHECK(!strcmp(history.ops[OP_SETXATTR].attribute, "user.x"));
	CHECK(history.ops[OP_SETXATTR].bytes == 13);
	CHECK(history.ops[OP_SETXATTR].seed == 14);
	CHECK(!strcmp(history.ops[OP_REMOVEXATTR].attribute, "user.x"));
	history_free(&history);
}

/* What takes a file takes a descriptor in its place. */
static void files_or_descriptors(void)
{
	char text[] = "write @1 5 6 7\nappend @2 3 4\ntruncate @3 9\n"
		      "fsync @4\nfdatasync @5";
	struct history history;
	struct ffs_error error;
	size_t i;

	if (!CHECK(!history_parse(&history, text, &error)))
		return;
	for (i = 0; i < history.n; i++) {
		CHECKF(history.ops[i].descriptor == (int)i + 1, "%zu", i);
		CHECKF(!history.ops[i].path, "%zu", i);
	}
	CHECK(history.n == 5 && history.ops[0].offset == 5);
	history_free(&history);
}

static void refused(const char *line)
{
	char text[256] = "create good\n";
	struct history history;
	struct ffs_error error;

	strncat(text, line, sizeof(text) - strlen(text) - 1);
	if (!CHECKF(history_parse(&history, text, &error), "'%s'", line)) {
		history_free(&history);
		return;
	}
	CHECKF(!strncmp(error.message, "line 1:", 7), "'%s': %s", line,
	       error.message);
}

static void wrong_lines(void)
{
	static const char *const wrong[] = {
		"\n", "mkdir", "mkdir a b", "mkdir  a", "mkdir a ", " mkdir a",
		"mkdir /a", "mkdir a//b", "mkdir a/", "mkdir ..",
		"mkdir a/../b", "remove a", "write a 0 1", "write a x 1 1",
		"write a 9223372036854775807 1 1", "write a 0 67108865 1",
		"truncate a 9223372036854775808", "sync now", "rename a",
		"rename ../a b", "write a 0 1 18446744073709551616",
		"write a b c d e f", "fsync @", "fsync @16", "fsync @x",
		"fsync @1/a", "create @1", "writesync @1 0 1 1", "open a b",
		"open @1 @2", "open @1", "dup @1 a", "dup a @1", "close a",
		"mapwrite a 0 1 1", "msync a", "syncrange a 0 1", "mkdir @a",
	};
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		refused(wrong[i]);
}

static void nothing_to_do(void)
{
	struct history history;
	struct ffs_error error;
	char text[] = "";

	CHECK(!history_parse(&history, text, &error) && !history.n);
	history_free(&history);
}

void test_history(void)
{
	all_operations();
	files_or_descriptors();
	wrong_lines();
	nothing_to_do();
}
