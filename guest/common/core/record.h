/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record.h - writes records: one JSON object per line.
 *
 * A record is built key by key in a small fixed buffer and leaves the process
 * when it is complete, so that what was reported is with the host even if the
 * next step brings the kernel down.  Nothing is emitted while a phase is timed.
 *
 * Strings may hold any bytes.  What is not valid UTF-8 becomes U+FFFD, since
 * JSON has no other way to carry it.
 *
 * A write error is remembered in ->failed and silences the sink: the caller
 * checks it and ends the program as an infrastructure error.
 */
#ifndef FFSAGENT_RECORD_H
#define FFSAGENT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

struct record_sink {
	int fd;			/* -1 discards every record */
	int failed;		/* errno of the first failed write, or 0 */
	bool need_comma;
	size_t used;
	char buffer[8192];
};

void record_sink_init(struct record_sink *sink, int fd);

/** record_begin() - open an object: version and type. */
void record_begin(struct record_sink *sink, const char *type);
/** record_end() - close the object and write it out. */
void record_end(struct record_sink *sink);

void record_string(struct record_sink *sink, const char *key,
		   const char *value);
void record_number(struct record_sink *sink, const char *key, uint64_t value);
void record_signed(struct record_sink *sink, const char *key, int64_t value);

/** record_true() - a property that it has; what is false is left out. */
void record_true(struct record_sink *sink, const char *key);

/** record_status() - "ok", or "error" with errno, name and message. */
void record_status(struct record_sink *sink, const struct ffs_error *error);

/* Nested values; @key is NULL inside an array. */
void record_open(struct record_sink *sink, const char *key, char bracket);
void record_close(struct record_sink *sink, char bracket);
void record_item(struct record_sink *sink, uint64_t value);

#endif
