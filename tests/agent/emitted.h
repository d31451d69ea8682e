/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * emitted.h - what tests of records and of files of the kernel share: files
 * that stand for the kernel's, and records read back as text.
 */
#ifndef TESTS_EMITTED_H
#define TESTS_EMITTED_H

#include <stdlib.h>

#include "core/record.h"
#include "harness.h"

/* @text as the whole of a file. */
static inline void put_file(const char *directory, const char *name,
			    const char *text)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "w");
	if (CHECKF(file != NULL, "cannot create %s", path)) {
		fputs(text, file);
		fclose(file);
	}
}

/* A sink on a file of its own; the test ends if there is none. */
static inline FILE *emitted_open(struct record_sink *sink)
{
	FILE *file = tmpfile();

	if (!CHECK(file != NULL))
		exit(1);
	record_sink_init(sink, fileno(file));
	return file;
}

/* All that the sink was given, to be freed; closes @file. */
static inline char *emitted_text(FILE *file)
{
	long bytes = (fflush(file), fseek(file, 0, SEEK_END), ftell(file));
	char *text = calloc((size_t)bytes + 1, 1);

	if (!CHECK(text != NULL))
		exit(1);
	rewind(file);
	CHECK(fread(text, 1, (size_t)bytes, file) == (size_t)bytes);
	fclose(file);
	return text;
}

#endif
