// SPDX-License-Identifier: GPL-2.0-only
/*
 * parse.c - the lines of a history; see history.h.
 */
#include <errno.h>
#include <limits.h>
#include <linux/limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "history/history.h"
#include "text/numbers.h"

#define WORDS_MAX 5

/*
 * The words after the name: p the path, f the path or a descriptor, d a descriptor, n
 * a descriptor to be filled, o the old path, t text, a the name of an attribute, @
 * offset, b bytes to write, z size or seconds, m mode, s seed.
 */
static const struct form {
	const char *name, *words;
} forms[OP_KINDS] = {
	[OP_MKDIR] = { "mkdir", "p" },
	[OP_CREATE] = { "create", "p" },
	[OP_WRITE] = { "write", "f@bs" },
	[OP_WRITESYNC] = { "writesync", "p@bs" },
	[OP_APPEND] = { "append", "fbs" },
	[OP_TRUNCATE] = { "truncate", "fz" },
	[OP_FSYNC] = { "fsync", "f" },
	[OP_FDATASYNC] = { "fdatasync", "f" },
	[OP_MAPWRITE] = { "mapwrite", "d@bs" },
	[OP_MSYNC] = { "msync", "d" },
	[OP_SYNCRANGE] = { "syncrange", "d@b" },
	[OP_SYNC] = { "sync", "" },
	[OP_OPEN] = { "open", "np" },
	[OP_OPENSYNC] = { "opensync", "np" },
	[OP_OPENDSYNC] = { "opendsync", "np" },
	[OP_DUP] = { "dup", "dn" },
	[OP_CLOSE] = { "close", "d" },
	[OP_RENAME] = { "rename", "op" },
	[OP_LINK] = { "link", "op" },
	[OP_SYMLINK] = { "symlink", "tp" },
	[OP_UNLINK] = { "unlink", "p" },
	[OP_RMDIR] = { "rmdir", "p" },
	[OP_MKFIFO] = { "mkfifo", "p" },
	[OP_EXCHANGE] = { "exchange", "op" },
	[OP_RENAMENEW] = { "renamenew", "op" },
	[OP_WHITEOUT] = { "whiteout", "op" },
	[OP_TMPFILE] = { "tmpfile", "np" },
	[OP_LINKFD] = { "linkfd", "dp" },
	[OP_CHMOD] = { "chmod", "pm" },
	[OP_SETMTIME] = { "setmtime", "pz" },
	[OP_SETXATTR] = { "setxattr", "pabs" },
	[OP_REMOVEXATTR] = { "removexattr", "pa" },
	[OP_FILL] = { "fill", "pz" },
	[OP_TURNOVER] = { "turnover", "p" },
	[OP_REMOUNT] = { "remount", "" },
};

/* Below the root: neither absolute nor through ".."; and no descriptor. */
static bool is_path(const char *path)
{
	if (*path == '/' || *path == '@' || strlen(path) >= PATH_MAX)
		return false;
	for (;;) {
		size_t length = strcspn(path, "/");

		if (!length || (length == 2 && !memcmp(path, "..", 2)))
			return false;
		if (!path[length])
			return true;
		path += length + 1;
	}
}

static bool parse_descriptor(const char *word, int *descriptor)
{
	uint64_t number;

	if (*word != '@' ||
	    !number_parse(word + 1, HISTORY_DESCRIPTORS - 1, &number))
		return false;
	*descriptor = (int)number;
	return true;
}

/* Three octal digits or four. */
static bool parse_mode(const char *word, uint64_t *mode)
{
	size_t length = strspn(word, "01234567");

	*mode = strtoul(word, NULL, 8);
	return !word[length] && (length == 3 || length == 4);
}

static bool parse_word(struct op *op, char form, const char *word)
{
	switch (form) {
	case 'f':
		if (*word == '@')
			return parse_descriptor(word, &op->descriptor);
		op->path = word;
		return is_path(word);
	case 'd':
		return parse_descriptor(word, &op->descriptor);
	case 'n':
		return parse_descriptor(word, &op->filled);
	case 'p':
		op->path = word;
		return is_path(word);
	case 'o':
		op->other = word;
		return is_path(word);
	case 't':
		op->other = word;
		return strlen(word) < PATH_MAX;
	case 'a':
		op->attribute = word;
		return strlen(word) <= XATTR_NAME_MAX;
	case 'm':
		return parse_mode(word, &op->bytes);
	case '@':
		return number_parse(word, INT64_MAX, &op->offset);
	case 'b':
		return number_parse(word, HISTORY_WRITE_MAX, &op->bytes) &&
		       op->offset <= INT64_MAX - op->bytes;
	case 'z':
		return number_parse(word, INT64_MAX, &op->bytes);
	default:
		return number_parse(word, UINT64_MAX, &op->seed);
	}
}

static int parse_line(struct op *op, char *line, size_t index,
		      struct ffs_error *error)
{
	char *words[WORDS_MAX];
	unsigned int n = words_split(line, words, WORDS_MAX), i;
	unsigned int kind = 0;
	const char *form;

	if (!n || n > WORDS_MAX)
		return ffs_fail(error, 0,
				"line %zu: words are separated by single blanks, and %d at most",
				index, WORDS_MAX);
	while (kind < OP_KINDS && strcmp(forms[kind].name, words[0]))
		kind++;
	if (kind == OP_KINDS)
		return ffs_fail(error, 0, "line %zu: unknown operation '%.32s'",
				index, words[0]);
	form = forms[kind].words;
	if (n != strlen(form) + 1)
		return ffs_fail(error, 0, "line %zu: %s takes %zu words", index,
				words[0], strlen(form));
	*op = (struct op){ .kind = (enum op_kind)kind,
			   .descriptor = -1,
			   .filled = -1 };
	for (i = 1; i < n; i++)
		if (!parse_word(op, form[i - 1], words[i]))
			return ffs_fail(error, 0,
					"line %zu: %s does not take '%.64s' as word %u",
					index, words[0], words[i], i);
	return 0;
}

int history_parse(struct history *history, char *text, struct ffs_error *error)
{
	size_t lines = 0, length, i;

	for (i = 0; text[i]; i++)
		lines += text[i] == '\n' || !text[i + 1];
	*history = (struct history){ NULL, 0 };
	history->ops = calloc(lines ? lines : 1, sizeof(*history->ops));
	if (!history->ops)
		return ffs_fail(error, ENOMEM, "no memory for %zu operations",
				lines);
	for (; *text; text += length) {
		length = strcspn(text, "\n");
		if (text[length])
			text[length++] = '\0';
		if (parse_line(&history->ops[history->n], text, history->n,
			       error)) {
			history_free(history);
			return -1;
		}
		history->n++;
	}
	return 0;
}

void history_free(struct history *history)
{
	free(history->ops);
	*history = (struct history){ NULL, 0 };
}
