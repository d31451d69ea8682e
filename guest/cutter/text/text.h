/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * text.h - text that grows, and is written out in one piece.
 *
 * Everything ffscrash says are lines of words; a state of the walk has some
 * dozens.  A system call costs the lab more than a line does, so that lines are
 * collected here and written when a state is done.
 *
 * Limit: without memory the text is marked as failed and stays as it is; who
 * writes it out finds out.
 */
#ifndef FFSCRASH_TEXT_H
#define FFSCRASH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

struct text {
	char *data;	/* not terminated */
	size_t n, room;
	bool failed;	/* there was no memory */
};

void text_free(struct text *text);

/** text_clear() - forget what it says, keep the memory. */
void text_clear(struct text *text);

/** text_room() - memory for @bytes more; NULL without. What is used is to be
 * added to ->n.
 */
char *text_room(struct text *text, size_t bytes);

void text_add(struct text *text, const void *data, size_t bytes);
void text_string(struct text *text, const char *string);
void text_number(struct text *text, uint64_t number);

/** text_hex() - the last @digits (16 at most) hexadecimal digits. */
void text_hex(struct text *text, uint64_t number, unsigned int digits);

/**
 * text_name() - one word for any bytes: what is no printing ASCII character,
 * blanks and "%" become "%XX".
 */
void text_name(struct text *text, const char *name, size_t bytes);

/** text_line() - words and a line end; printf() for what is not hot. */
void text_line(struct text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * text_digest() - 64 bits that stand for the text.
 *
 * Not for an adversary: of a million texts, two are taken for each other with a
 * chance of about 1 in 30 million.
 */
uint64_t text_digest(const struct text *text);

/** text_write() - write it all to @fd and clear it. */
int text_write(struct text *text, int fd, struct ffs_error *error);

#endif
