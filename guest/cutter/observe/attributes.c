// SPDX-License-Identifier: GPL-2.0-only
/*
 * attributes.c - see attributes.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#include "observe/attributes.h"

#define OF_USERS "user."
/* The guest's clock begins later. */
#define SET_BEFORE_S 1500000000
#define NAMES_MAX 256

void attributes_init(struct attributes *attributes)
{
	crc32_init(&attributes->crc32);
	attributes->text = (struct text){ 0 };
}

void attributes_free(struct attributes *attributes)
{
	text_free(&attributes->text);
}

static int by_name(const void *one, const void *other)
{
	const char *const *a = one, *const *b = other;

	return strcmp(*a, *b);
}

static void put_error(struct text *text)
{
	text_add(text, "!", 1);
	text_number(text, (uint64_t)errno);
}

/* "NAME=SIZE:CRC32" */
static void put_attribute(struct attributes *attributes, const char *path,
			  const char *name)
{
	struct text *text = &attributes->text;
	ssize_t bytes = lgetxattr(path, name, attributes->value,
				  sizeof(attributes->value));

	if (text->n)
		text_add(text, ",", 1);
	text_name(text, name, strlen(name));
	text_add(text, "=", 1);
	if (bytes < 0) {
		put_error(text);
		return;
	}
	text_number(text, (uint64_t)bytes);
	text_add(text, ":", 1);
	text_hex(text, crc32_of(&attributes->crc32, attributes->value,
				(size_t)bytes), 8);
}

/* Into ->text, which is empty if there are none. */
static void list(struct attributes *attributes, const char *path)
{
	const char *names[NAMES_MAX];
	ssize_t bytes = llistxattr(path, attributes->names,
				   sizeof(attributes->names));
	size_t n = 0, i;
	char *name;

	text_clear(&attributes->text);
	if (bytes < 0) {
		if (errno != EOPNOTSUPP)
			put_error(&attributes->text);
		return;
	}
	for (name = attributes->names; name < attributes->names + bytes;
	     name += strlen(name) + 1)
		if (n < NAMES_MAX && !strncmp(name, OF_USERS, strlen(OF_USERS)))
			names[n++] = name;
	qsort(names, n, sizeof(*names), by_name);
	for (i = 0; i < n; i++)
		put_attribute(attributes, path, names[i]);
}

bool attributes_put(struct attributes *attributes, const struct entry *entry,
		    struct text *text)
{
	mode_t mode = entry->stat.st_mode & 07777;
	time_t mtime = entry->stat.st_mtime;
	bool is_usual = mode == (S_ISDIR(entry->stat.st_mode) ? 0755 : 0644);

	if (entry->lost || S_ISLNK(entry->stat.st_mode) ||
	    !strcmp(entry->name, "."))
		return false;
	list(attributes, entry->path);
	if (is_usual && mtime >= SET_BEFORE_S && !attributes->text.n)
		return false;
	text_string(text, "attributes ");
	text_name(text, entry->name, strlen(entry->name));
	text_line(text, " %o ", (unsigned int)mode);
	text->n--;	/* the line goes on */
	if (mtime >= SET_BEFORE_S)
		text_add(text, "-", 1);
	else
		text_number(text, (uint64_t)mtime);
	text_add(text, " ", 1);
	if (attributes->text.n)
		text_add(text, attributes->text.data, attributes->text.n);
	else
		text_add(text, "-", 1);
	text_add(text, "\n", 1);
	return true;
}
