// SPDX-License-Identifier: GPL-2.0-only
/*
 * text.c - see text.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/random.h"
#include "text/text.h"

#define FIRST_BYTES 4096
#define NUMBER_DIGITS 20
#define LINE_BYTES 512

static const char digits16[] = "0123456789abcdef";

void text_free(struct text *text)
{
	free(text->data);
	memset(text, 0, sizeof(*text));
}

void text_clear(struct text *text)
{
	text->n = 0;
}

char *text_room(struct text *text, size_t bytes)
{
	size_t room = text->room ? text->room : FIRST_BYTES;
	char *data;

	if (text->failed)
		return NULL;
	if (text->room && bytes <= text->room - text->n)
		return text->data + text->n;
	while (room - text->n < bytes)
		room *= 2;
	data = realloc(text->data, room);
	if (!data) {
		text->failed = true;
		return NULL;
	}
	text->data = data;
	text->room = room;
	return data + text->n;
}

void text_add(struct text *text, const void *data, size_t bytes)
{
	char *room = text_room(text, bytes);

	if (!room)
		return;
	memcpy(room, data, bytes);
	text->n += bytes;
}

void text_string(struct text *text, const char *string)
{
	text_add(text, string, strlen(string));
}

void text_number(struct text *text, uint64_t number)
{
	char digits[NUMBER_DIGITS];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	text_add(text, digits + at, sizeof(digits) - at);
}

void text_hex(struct text *text, uint64_t number, unsigned int digits)
{
	char *room = text_room(text, digits);
	unsigned int i;

	if (!room)
		return;
	for (i = digits; i--; number >>= 4)
		room[i] = digits16[number & 15];
	text->n += digits;
}

void text_name(struct text *text, const char *name, size_t bytes)
{
	char *room = text_room(text, 3 * bytes), *at = room;
	size_t i;

	if (!room)
		return;
	for (i = 0; i < bytes; i++) {
		unsigned char byte = (unsigned char)name[i];

		if (byte > ' ' && byte < 0x7f && byte != '%') {
			*at++ = (char)byte;
			continue;
		}
		*at++ = '%';
		*at++ = digits16[byte >> 4];
		*at++ = digits16[byte & 15];
	}
	text->n += (size_t)(at - room);
}

void text_line(struct text *text, const char *format, ...)
{
	char *room = text_room(text, LINE_BYTES);
	va_list args;
	int n;

	if (!room)
		return;
	va_start(args, format);
	n = vsnprintf(room, LINE_BYTES - 1, format, args);
	va_end(args);
	if (n < 0)
		n = 0;
	if (n > LINE_BYTES - 2)
		n = LINE_BYTES - 2;
	room[n] = '\n';
	text->n += (size_t)n + 1;
}

uint64_t text_digest(const struct text *text)
{
	uint64_t digest = rng_mix(text->n), word;
	size_t i;

	for (i = 0; i + sizeof(word) <= text->n; i += sizeof(word)) {
		memcpy(&word, text->data + i, sizeof(word));
		digest = rng_mix(digest ^ word) + word;
	}
	word = 0;
	if (i < text->n)
		memcpy(&word, text->data + i, text->n - i);
	return rng_mix(digest ^ word);
}

int text_write(struct text *text, int fd, struct ffs_error *error)
{
	size_t done = 0;

	if (text->failed)
		return ffs_fail(error, ENOMEM, "no memory for the output");
	while (done < text->n) {
		ssize_t n = write(fd, text->data + done, text->n - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return ffs_fail(error, n ? errno : EIO,
					"cannot write the output");
		done += (size_t)n;
	}
	text_clear(text);
	return 0;
}
